package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// members lists the processes or threads of a target while they start and end.
type members interface {
	// changed says whether a new list may differ from the last.
	changed() bool
	// list appends the present ids, in any order.
	list(dst []int) []int
	close() error
}

// Members lists the threads of a target while they start and end.
type Members struct{ of members }

// Threads opens the list of all threads in the control groups of a target.
func Threads(t Target) (Members, error) {
	m, err := groupMembers(t, "cgroup.threads", "tasks")
	return Members{m}, err
}

// List appends the ids of the present threads, in any order.
func (m Members) List(dst []int) []int { return m.of.list(dst) }

// Close closes the files of the groups.
func (m Members) Close() error { return m.of.close() }

// processes lists the processes of a target.
func processes(t Target) (members, error) {
	if t.Pids != nil {
		return &fixed{ids: t.Pids}, nil
	}
	return groupMembers(t, "cgroup.procs", "cgroup.procs")
}

// threads lists the threads of a target.
func threads(t Target) (members, error) {
	if t.Pids == nil {
		return groupMembers(t, "cgroup.threads", "tasks")
	}
	m := &taskDirs{}
	for _, pid := range t.Pids {
		fd, err := unix.Open(proc.FS(t.Root).Pid(pid, "task"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == nil {
			m.dirs = append(m.dirs, taskDir{fd: fd})
		}
	}
	if len(m.dirs) == 0 {
		return nil, fmt.Errorf("no process of this arm is left in %s", filepath.Join(t.Root, "proc"))
	}
	return m, nil
}

// fixed is a list that never changes.
type fixed struct {
	ids    []int
	listed bool
}

func (f *fixed) changed() bool        { return !f.listed }
func (f *fixed) list(dst []int) []int { f.listed = true; return append(dst, f.ids...) }
func (f *fixed) close() error         { return nil }

// taskDirs lists the threads of processes from /proc/PID/task.
type taskDirs struct {
	dirs []taskDir
	buf  [2048]byte
}

type taskDir struct {
	fd    int
	links uint64 // link count of the directory when it was last listed
}

// changed compares the link counts of the directories, which are the kernel's counts of
// threads. When one thread ended and another started, the count is the same; follow then
// notices the end.
func (m *taskDirs) changed() bool {
	changed := false
	for i := range m.dirs {
		var st unix.Stat_t
		if err := unix.Fstat(m.dirs[i].fd, &st); err != nil {
			return true
		}
		if links := uint64(st.Nlink); links != m.dirs[i].links {
			m.dirs[i].links, changed = links, true
		}
	}
	return changed
}

func (m *taskDirs) list(dst []int) []int {
	for _, d := range m.dirs {
		if _, err := unix.Seek(d.fd, 0, unix.SEEK_SET); err != nil {
			continue
		}
		for {
			n, err := unix.Getdents(d.fd, m.buf[:])
			if err != nil || n <= 0 {
				break
			}
			dst = numericNames(m.buf[:n], dst)
		}
	}
	return dst
}

// numericNames appends the names that are numbers. entries is what getdents64(2) returns, for
// each entry: inode (8 bytes), offset (8), length of the entry (2), type (1), name ending in 0.
func numericNames(entries []byte, dst []int) []int {
	const header = 19
	for len(entries) > header {
		size := int(binary.NativeEndian.Uint16(entries[16:]))
		if size <= header || size > len(entries) {
			return dst
		}
		name := entries[header:size]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		if id, ok := proc.Uint(name); ok {
			dst = append(dst, int(id))
		}
		entries = entries[size:]
	}
	return dst
}

func (m *taskDirs) close() error {
	var errs []error
	for _, d := range m.dirs {
		errs = append(errs, unix.Close(d.fd))
	}
	m.dirs = nil
	return errors.Join(errs...)
}

// groupFiles lists the members of groups, and of the groups below them that existed at the
// opening.
type groupFiles struct {
	files []*proc.File
	buf   []byte
}

// groupMembers opens the files with the members of the target's groups. It prefers cgroup version 2,
// because the kernel caches a list of version 1 for a second.
func groupMembers(t Target, v2, v1 string) (*groupFiles, error) {
	m := &groupFiles{}
	for _, g := range []cgroup.Group{t.Group, t.Outside} {
		if dir := g.Dirs[cgroup.Unified]; dir != "" && m.openBelow(dir, v2) {
			continue
		}
		for _, controller := range slices.Sorted(maps.Keys(g.Dirs)) {
			if m.openBelow(g.Dirs[controller], v1) {
				break
			}
		}
	}
	if len(m.files) == 0 {
		return nil, errors.New("the processes of this arm are unknown: no control group lists them")
	}
	return m, nil
}

// openBelow opens file in dir and in every group below. It returns false if it opened none.
func (m *groupFiles) openBelow(dir, file string) bool {
	before := len(m.files)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if f, err := proc.Open(filepath.Join(path, file)); err == nil {
			m.files = append(m.files, f)
		}
		return nil
	})
	return len(m.files) > before
}

func (m *groupFiles) changed() bool { return true }

// list skips 0, which stands for a process of another pid namespace.
func (m *groupFiles) list(dst []int) []int {
	for _, f := range m.files {
		text, err := f.ReadTo(&m.buf)
		if err != nil {
			continue
		}
		for start, i := 0, 0; i < len(text); i++ {
			if text[i] != '\n' {
				continue
			}
			if id, ok := proc.Uint(text[start:i]); ok && id > 0 {
				dst = append(dst, int(id))
			}
			start = i + 1
		}
	}
	return dst
}

func (m *groupFiles) close() error {
	var errs []error
	for _, f := range m.files {
		errs = append(errs, f.Close())
	}
	m.files = nil
	return errors.Join(errs...)
}
