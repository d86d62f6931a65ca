package proc

import (
	"strconv"
	"strings"
)

// Mount is one line of mountinfo.
type Mount struct {
	Major, Minor uint64
	Root         string // of the mount within its file system
	Point        string // as this process sees it
	Options      string // of the mount
	Type         string // of the file system
	Source       string
	Super        string // options of the file system
}

// Mounts are the mounts in this process's namespace.
func (f FS) Mounts() ([]Mount, error) { return f.MountsOf("self") }

// MountsOf are the mounts in a process's namespace, in the order in which they were made.
func (f FS) MountsOf(pid string) ([]Mount, error) {
	b, err := f.Text("proc/" + pid + "/mountinfo")
	if err != nil {
		return nil, err
	}
	return ParseMountInfo(b)
}

// ParseMountInfo parses the text of a mountinfo file.
func ParseMountInfo(text []byte) ([]Mount, error) {
	var all []Mount
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		m, ok := mountLine(string(line))
		if !whole || !ok {
			return nil, malformed("mountinfo")
		}
		all, text = append(all, m), rest
	}
	return all, nil
}

// mountLine parses "36 35 98:0 /root /point opts tag:1 tag:2 - type source super"; the number
// of tags varies.
func mountLine(line string) (m Mount, ok bool) {
	head, tail, found := strings.Cut(line, " - ")
	a, b := strings.Fields(head), strings.Split(tail, " ")
	if !found || len(a) < 6 || len(b) < 3 {
		return m, false
	}
	major, minor, found := strings.Cut(a[2], ":")
	var badMajor, badMinor error
	m.Major, badMajor = strconv.ParseUint(major, 10, 32)
	m.Minor, badMinor = strconv.ParseUint(minor, 10, 32)
	if !found || badMajor != nil || badMinor != nil {
		return Mount{}, false
	}
	m.Root, m.Point, m.Options = unescape(a[3]), unescape(a[4]), a[5]
	m.Type, m.Source, m.Super = b[0], unescape(b[1]), b[2]
	return m, true
}

// unescape replaces the kernel's octal escapes in paths, such as \040 for a blank.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// MountOf is the mount with a path; nil: none matches. The path is absolute and has no symbolic
// links.
func MountOf(all []Mount, path string) *Mount {
	var best *Mount
	for i := range all {
		p := all[i].Point
		under := p == "/" || path == p || strings.HasPrefix(path, p+"/")
		if under && (best == nil || len(p) >= len(best.Point)) {
			best = &all[i] // a later mount on the same point hides the earlier
		}
	}
	return best
}

// Cgroups are the groups of a process by controller of version 1 ("cpu", or "name=systemd"); ""
// has the group of version 2.
func (f FS) Cgroups(pid string) (map[string]string, error) {
	b, err := f.Text("proc/" + pid + "/cgroup")
	if err != nil {
		return nil, err
	}
	return ParseCgroups(b)
}

// ParseCgroups parses the text of /proc/PID/cgroup.
func ParseCgroups(text []byte) (map[string]string, error) {
	m := map[string]string{}
	for len(text) > 0 {
		line, rest, whole := cutLine(text)
		f := strings.SplitN(string(line), ":", 3)
		if !whole || len(f) != 3 || f[2] == "" {
			return nil, malformed("cgroup file of a process")
		}
		for _, c := range strings.Split(f[1], ",") {
			m[c] = f[2]
		}
		text = rest
	}
	return m, nil
}

// Swap is one line of /proc/swaps, in bytes.
type Swap struct {
	Name       string
	Size, Used uint64
}

// Swaps are the swap areas in use.
func (f FS) Swaps() ([]Swap, error) {
	b, err := f.Text("proc/swaps")
	if err != nil {
		return nil, err
	}
	return parseSwaps(b)
}

func parseSwaps(text []byte) ([]Swap, error) {
	var all []Swap
	for n := 0; len(text) > 0; n++ {
		line, rest, whole := cutLine(text)
		text = rest
		f := strings.Fields(string(line))
		if !whole || len(f) < 5 {
			return nil, malformed("swaps")
		}
		if n == 0 {
			continue // heading
		}
		size, ok1 := Uint([]byte(f[2]))
		used, ok2 := Uint([]byte(f[3]))
		if !ok1 || !ok2 || size > 1<<53 || used > 1<<53 {
			return nil, malformed("swaps")
		}
		all = append(all, Swap{unescape(f[0]), size * 1024, used * 1024})
	}
	return all, nil
}
