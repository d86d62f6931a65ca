package environment

import (
	"fmt"
	"slices"
	"strings"
)

// What a security module of the kernel holds a container to: a profile of AppArmor, a
// label of SELinux.

// Profile is the AppArmor profile to ask for; empty: what there is without asking.
func (c Container) Profile() string { return asked(c.AppArmor) }

// Label is the SELinux label to ask for; its zero value: what there is without asking.
func (c Container) Label() Label {
	l, _ := ParseLabel(asked(c.SELinux)) // the plan has refused what is none
	return l
}

func asked(word string) string {
	if word == Default {
		return ""
	}
	return word
}

// Confinable says whether the kernel of a host has the security modules that are asked
// for, and the profile, as far as anybody could tell.
func (c Container) Confinable(h Host) Support {
	if s := h.Has(FeatureAppArmor); c.Profile() != "" && s.Answer != Yes {
		return s
	}
	if p := c.Profile(); p != "" && p != Unconfined && h.Profiles != nil && !slices.Contains(h.Profiles, p) {
		return Unsupported(fmt.Sprintf("AppArmor has no profile %q loaded", p), "load it: apparmor_parser -r FILE; aa-status lists those that are")
	}
	if s := h.Has(FeatureSELinux); c.Label() != (Label{}) && s.Answer != Yes {
		return s
	}
	return Supported()
}

// SecurityOptions are what was chosen as --security-opt of Docker and Podman takes it.
func (c Container) SecurityOptions() (all []string) {
	if c.Seccomp == Unconfined {
		all = append(all, "seccomp="+Unconfined)
	}
	if p := c.Profile(); p != "" {
		all = append(all, "apparmor="+p)
	}
	for _, o := range c.Label().Options() {
		all = append(all, "label="+o)
	}
	return all
}

// Label is a label of SELinux, or what is chosen of one: the host's policy says what an
// empty field is.
type Label struct{ User, Role, Type, Level string }

// ParseLabel reads a type ("spc_t") or a label ("system_u:system_r:spc_t:s0"); the
// level is not there with policies that have none.
func ParseLabel(text string) (Label, error) {
	f := strings.SplitN(text, ":", 4)
	bad := strings.ContainsAny(text, " \t\n/=")
	for _, part := range f {
		bad = bad || part == "" && text != ""
	}
	switch {
	case bad || len(f) == 2:
		return Label{}, fmt.Errorf("selinux %q: want a type such as spc_t, or a label such as system_u:system_r:spc_t:s0", text)
	case len(f) == 1:
		return Label{Type: f[0]}, nil
	case len(f) == 3:
		f = append(f, "")
	}
	return Label{User: f[0], Role: f[1], Type: f[2], Level: f[3]}, nil
}

// Options are the label as Docker, Podman and their libraries take it: "type:spc_t".
func (l Label) Options() (all []string) {
	for _, o := range []struct{ name, value string }{{"user", l.User}, {"role", l.Role}, {"type", l.Type}, {"level", l.Level}} {
		if o.value != "" {
			all = append(all, o.name+":"+o.value)
		}
	}
	return all
}

// Is says whether the label of a process has what was chosen.
func (l Label) Is(got Label) bool {
	either := func(wanted, got string) bool { return wanted == "" || wanted == got }
	return either(l.User, got.User) && either(l.Role, got.Role) && either(l.Type, got.Type) && either(l.Level, got.Level)
}

func (l Label) String() string {
	if l.User == "" {
		return l.Type
	}
	return strings.TrimSuffix(strings.Join([]string{l.User, l.Role, l.Type, l.Level}, ":"), ":")
}
