package identity

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// TakeMapped takes the files of which a process executes code: its program and its libraries, but for paths that
// contain without. A process whose root is not this process's root is left alone, because its paths mean other
// files. A file that has been replaced since it was mapped is an error with ErrReplaced.
func (f *Files) TakeMapped(pid int, without string) error {
	dir := "/proc/" + strconv.Itoa(pid)
	own, err := os.Stat("/proc/self/root/")
	if err != nil {
		return fmt.Errorf("find the root: %w", err)
	}
	root, err := os.Stat(dir + "/root/")
	if err != nil || !os.SameFile(own, root) {
		return nil // it has ended, or is another user's
	}
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(maps)) {
		m, ok := executable(strings.TrimSuffix(line, "\n"))
		if !ok || seen[m.path] || strings.Contains(m.path, without) {
			continue
		}
		seen[m.path] = true
		if err := f.takeMapping(dir, m); err != nil {
			return err
		}
	}
	return nil
}

// mapping is a mapping of a file whose code may be executed.
type mapping struct {
	at, path string // the range of addresses, which is its name in map_files
	deleted  bool   // the file has no name any more
}

// executable reads a line of /proc/PID/maps; false: the line is no such mapping.
func executable(line string) (m mapping, ok bool) {
	f := strings.SplitN(line, " ", 6)
	if len(f) < 6 || len(f[1]) < 3 || f[1][2] != 'x' {
		return m, false
	}
	m.at = f[0]
	m.path, m.deleted = strings.CutSuffix(strings.TrimLeft(f[5], " "), " (deleted)")
	return m, strings.HasPrefix(m.path, "/")
}

// takeMapping takes the file of a mapping. Root compares it with the file that is mapped.
func (f *Files) takeMapping(dir string, m mapping) error {
	now, err := os.Stat(m.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && m.deleted:
		return nil // code that a program made for itself
	case err != nil:
		return replaced(m.path, err.Error())
	case m.deleted:
		return replaced(m.path, "a process executes a file of that name that has been removed")
	case !now.Mode().IsRegular():
		return nil
	}
	if mapped, err := os.Stat(dir + "/map_files/" + m.at); err == nil && !os.SameFile(mapped, now) {
		return replaced(m.path, "a process executes another file of that name")
	}
	return f.Take(m.path)
}
