package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Expect is what ReadBack compares with the kernel's state of a process.
type Expect struct {
	Own          []string // namespaces that it does not share with the host: "pid", "mnt", ...
	Either       []string // namespaces that it may share with the host or not
	Overlay      bool     // its root file system is an overlay
	Capabilities []string // capabilities that it keeps; nil: they are not compared
	Seccomp      bool     // it has a seccomp filter
	// Chosen is what the experiment chose: seccomp filter and AppArmor profile are compared.
	Chosen environment.Container
	// Root is the uid on this host of the container's root; 0: the uid of tare.
	Root int
}

// Confined adds the seccomp filter and the capabilities of a container with Docker's defaults,
// changed by what the experiment chose. capabilities are those that the engine keeps.
func (e Expect) Confined(c environment.Container, capabilities []string) Expect {
	e.Chosen, e.Capabilities, e.Seccomp = c, capabilities, c.Seccomp != environment.Unconfined
	if c.Capabilities == environment.NoCapabilities {
		e.Capabilities = []string{}
	}
	return e
}

var namespaces = []string{"mnt", "pid", "uts", "ipc", "cgroup", "net", "user"}

const (
	own   = "own"
	hosts = "host's"
)

// ReadBack reads the state of a process from the kernel and compares. A setting that is not in
// force is an error; all settings are returned with it.
func ReadBack(pid int, e Expect) ([]record.Setting, error) {
	status, err := statusOf(pid)
	if err != nil {
		return nil, err
	}
	var errs []error
	var all []record.Setting
	for _, read := range []func() ([]record.Setting, error){
		func() ([]record.Setting, error) { return namespaceSettings(pid, e.Own, e.Either) },
		func() ([]record.Setting, error) { return rootSetting(pid, e.Overlay) },
		func() ([]record.Setting, error) {
			return capabilitySettings(status, e.Capabilities, cmp.Or(e.Root, os.Geteuid()))
		},
		func() ([]record.Setting, error) { return seccompSettings(status, e) },
		func() ([]record.Setting, error) {
			return profileSetting(fmt.Sprintf("/proc/%d/attr", pid), e.Chosen.Profile())
		},
	} {
		s, err := read()
		all, errs = append(all, s...), append(errs, err)
	}
	return append(all, scheduling(status)...), errors.Join(errs...)
}

// Wanted compares one setting with what was wanted; both are texts for people.
func Wanted(name, wanted, got string) (record.Setting, error) {
	s := record.Setting{Name: name, Wanted: wanted, Got: got}
	if wanted != got {
		return s, fmt.Errorf("%s: wanted %s, the kernel says %s", name, wanted, got)
	}
	return s, nil
}

func namespaceSettings(pid int, owned, either []string) ([]record.Setting, error) {
	var all []record.Setting
	var errs []error
	for _, ns := range namespaces {
		mine, err := os.Readlink("/proc/thread-self/ns/" + ns)
		if err != nil {
			continue // this kernel has none
		}
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, ns))
		if errors.Is(err, fs.ErrPermission) && !slices.Contains(owned, ns) {
			// tare is root without CAP_SYS_PTRACE, and the process is another user's.
			all = append(all, record.Setting{Name: "namespace." + ns, Got: "unknown"})
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read back the %s namespace: %w", ns, err))
			continue
		}
		wanted, got := hosts, hosts
		if slices.Contains(owned, ns) {
			wanted = own
		}
		if its != mine {
			got = own
		}
		if slices.Contains(either, ns) {
			wanted = got
		}
		s, err := Wanted("namespace."+ns, wanted, got)
		all, errs = append(all, s), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// rootSetting reads the type of the process's root file system.
func rootSetting(pid int, overlay bool) ([]record.Setting, error) {
	all, err := proc.FS("/").MountsOf(strconv.Itoa(pid))
	if err != nil {
		return nil, fmt.Errorf("read back the root file system: %w", err)
	}
	root := proc.Mount{}
	if m := proc.MountOf(all, "/"); m != nil {
		root = *m
	}
	s := record.Setting{Name: "root.type", Got: root.Type}
	if !overlay {
		return []record.Setting{s}, nil
	}
	s, err = Wanted("root.type", "overlay", root.Type)
	return []record.Setting{s, {Name: "root.options", Got: root.Super}}, err
}

func capabilitySettings(status map[string]string, kept []string, root int) ([]record.Setting, error) {
	if kept == nil {
		return []record.Setting{{Name: "capabilities.effective", Got: status["CapEff"]}}, nil
	}
	set, err := namespace.Capabilities(kept)
	if err != nil {
		return nil, err
	}
	// A host whose own bounding set lacks one of Docker's capabilities cannot give it.
	own, err := statusOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	if mine, err := strconv.ParseUint(own["CapBnd"], 16, 64); err == nil {
		set &= namespace.CapSet(mine)
	}
	held := set
	if becameAnother(status["Uid"], root) {
		held = 0
	}
	var all []record.Setting
	var errs []error
	for _, c := range []struct{ name, key, wanted string }{
		{"capabilities.effective", "CapEff", held.String()},
		{"capabilities.permitted", "CapPrm", held.String()},
		{"capabilities.bounding", "CapBnd", set.String()},
		{"capabilities.inheritable", "CapInh", namespace.CapSet(0).String()},
		{"capabilities.ambient", "CapAmb", namespace.CapSet(0).String()},
	} {
		s, err := Wanted(c.name, c.wanted, status[c.key])
		all, errs = append(all, s), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// becameAnother says whether a process is no longer the user as which it was started, as a
// server that refuses to be root: the kernel then takes its capabilities but not its bounding set
// (capabilities(7)). ids are the four user ids of /proc/PID/status, root is the arm's root.
func becameAnother(ids string, root int) bool {
	list := strings.Fields(ids)
	return len(list) == 4 && !slices.Contains(list, strconv.Itoa(root))
}

// seccompSettings are the filter and mitigations that a filter may switch on: before Linux 5.16 a
// filter disables speculative store bypass, which can cost more than the filter.
func seccompSettings(status map[string]string, e Expect) ([]record.Setting, error) {
	got, ok := map[string]string{"0": "none", "1": "strict", "2": "filter"}[status["Seccomp"]]
	if !ok {
		got = "unknown"
	}
	s := record.Setting{Name: "seccomp", Got: got}
	var err error
	switch {
	case e.Seccomp:
		s, err = Wanted("seccomp", "filter", got)
	case e.Chosen.Seccomp == environment.Unconfined:
		s, err = Wanted("seccomp", "none", got)
	}
	all := []record.Setting{s}
	for _, key := range []string{"Seccomp_filters", "NoNewPrivs", "Speculation_Store_Bypass", "SpeculationIndirectBranch"} {
		if v, ok := status[key]; ok {
			all = append(all, record.Setting{Name: settingName[key], Got: v})
		}
	}
	return all, err
}

// profileSetting reads the AppArmor profile from a process's attr directory: "docker-default
// (enforce)". Kernels before 5.8 have one file for all security modules, SELinux too. It returns
// nothing on a kernel without one, and an error if a profile is wanted there.
func profileSetting(attr, wanted string) ([]record.Setting, error) {
	name := "apparmor"
	b, err := os.ReadFile(filepath.Join(attr, "apparmor", "current"))
	if err != nil {
		b, err = os.ReadFile(filepath.Join(attr, "current"))
		if wanted == "" {
			name = "security.label"
		}
	}
	switch text := strings.TrimRight(string(b), "\x00\n"); {
	case err != nil && wanted != "":
		return nil, fmt.Errorf("read back the AppArmor profile: %w", err)
	case err != nil, text == "":
		return nil, nil
	case wanted == "":
		return []record.Setting{{Name: name, Got: text}}, nil
	default:
		profile, _, _ := strings.Cut(text, " (")
		s, err := Wanted(name, wanted, profile)
		return []record.Setting{s}, err
	}
}

var settingName = map[string]string{
	"Seccomp_filters": "seccomp.filters", "NoNewPrivs": "no_new_privs",
	"Speculation_Store_Bypass": "speculation.store_bypass", "SpeculationIndirectBranch": "speculation.indirect_branch",
}

// scheduling are settings that are the same in all arms and belong to no layer.
func scheduling(status map[string]string) []record.Setting {
	return []record.Setting{{Name: "cpus.allowed", Got: status["Cpus_allowed_list"]}}
}

// statusOf reads /proc/PID/status.
func statusOf(pid int) (proc.Status, error) {
	status, err := proc.FS("/").Status(pid)
	if err != nil {
		return nil, fmt.Errorf("read back the state of process %d: %w", pid, err)
	}
	return status, nil
}
