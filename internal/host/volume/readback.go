package volume

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/storage"
)

// shown says how a kind of file system shows the options that it was mounted with. An option that is in
// no field must be in mountinfo as it was asked for.
type shown struct {
	// words replaces an option by the options that mountinfo has for it; name=* takes any value.
	words map[string]string
	// absent has options that mountinfo leaves out where they have this value. A flag that is left
	// out has the flag here that mountinfo would have instead.
	absent map[string]string
	// unseen has options that the kernel never shows, each with the reason why that is harmless.
	unseen map[string]string
	// alike says whether two different values of an option are one setting; nil: never.
	alike func(name, want, got string) bool
}

// ofMount are options that the kernel or mount(8) handles for every file system.
func ofMount() shown {
	const fstab = "only mount(8) and fstab use it"
	return shown{
		absent: map[string]string{
			"async": "sync", "atime": "noatime", "diratime": "nodiratime", "exec": "noexec", "nolazytime": "lazytime", "nodirsync": "dirsync", "strictatime": "relatime",
		},
		unseen: map[string]string{
			"defaults": fstab, "auto": fstab, "noauto": fstab, "nofail": fstab, "_netdev": fstab, "nouser": fstab, "fg": fstab,
		},
	}
}

// words splits mount options at their commas.
func words(options string) []string {
	return slices.DeleteFunc(strings.Split(options, ","), func(o string) bool { return o == "" })
}

// canonical returns the options that mountinfo has for one that was asked for.
func (s shown) canonical(asked string) []string {
	name, value, _ := strings.Cut(asked, "=")
	for _, key := range []string{asked, name + "=*"} {
		if other, ok := s.words[key]; ok {
			return words(strings.ReplaceAll(other, "*", value))
		}
	}
	return []string{asked}
}

// why is the reason why the kernel never shows an option; empty: it does.
func (s shown) why(asked string) string {
	name, _, _ := strings.Cut(asked, "=")
	if why := s.unseen[name]; why != "" {
		return why
	}
	return ofMount().unseen[name]
}

// left is the value that an option has where mountinfo leaves it out.
func (s shown) left(name string) (string, bool) {
	if v, ok := s.absent[name]; ok {
		return v, true
	}
	v, ok := ofMount().absent[name]
	return v, ok
}

// same says whether two values of an option are one setting.
func (s shown) same(name, want, got string) bool {
	return want == got || bytesOf(want) >= 0 && bytesOf(want) == bytesOf(got) || s.alike != nil && s.alike(name, want, got)
}

// bytesOf returns the number in a value such as 64m; -1: it is not a number.
func bytesOf(value string) int64 {
	shift := 0
	digits := strings.ToLower(value)
	for i, suffix := range []string{"k", "m", "g"} {
		if before, ok := strings.CutSuffix(digits, suffix); ok {
			digits, shift = before, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n << shift
}

// has says whether a mount has an option in its canonical form.
func (s shown) has(f storage.Facts, option string) bool {
	name, want, valued := strings.Cut(option, "=")
	left, leftOut := s.left(name)
	if valued {
		got := f.Option(name)
		if got == "" {
			got = left
		}
		return got != "" && s.same(name, want, got)
	}
	return f.Has(option) || leftOut && !f.Has(left) && f.Option(left) == ""
}

// refused is the first option asked for that a mount does not have, or of which it does not show that
// it has it; empty: it has all.
func (s shown) refused(f storage.Facts, asked string) string {
	for _, o := range words(asked) {
		if s.why(o) != "" {
			continue
		}
		for _, c := range s.canonical(o) {
			if !s.has(f, c) {
				return o
			}
		}
	}
	return ""
}

// notShown are the options asked for that the kernel never shows, each with the reason.
func (s shown) notShown(asked string) []string {
	var all []string
	for _, o := range words(asked) {
		if why := s.why(o); why != "" {
			all = append(all, o+": "+why)
		}
	}
	return all
}

// check returns an error if a mount does not have all options that were asked for.
func (s shown) check(f storage.Facts, asked, remedy string) error {
	o := s.refused(f, asked)
	if o == "" {
		return nil
	}
	name, _, _ := strings.Cut(o, "=")
	return hint.New(fmt.Errorf("asked for %s, and the kernel mounted it with %s", o, strings.Join(f.Options, ",")),
		fmt.Sprintf("%s, or leave %s out", remedy, name))
}

// NotShown are the options of the volume that no read-back proves, each with the reason.
func (v Volume) NotShown() []string {
	switch v.Kind() {
	case NFS:
		return ofNFS().notShown(v.options)
	case CephFS:
		return ofCeph().notShown(v.options)
	case Loop:
		return ofDisk(v.system).notShown(v.options)
	case RBD:
		return ofMapping().notShown(v.options)
	}
	return nil
}
