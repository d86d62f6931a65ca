package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fixture is a machine with another layout than this one: a tree of files, and the behaviour of
// the kernel that the package relies on.
type fixture struct {
	t    testing.TB
	root string
	// denied are directories in which this user cannot write, with the error.
	denied map[string]error
	// deaf are base names of control files on which a write has no effect.
	deaf []string
}

// newFixture builds a tree from mountinfo and the own groups.
func newFixture(t testing.TB, mountinfo, own string) *fixture {
	f := &fixture{t: t, root: t.TempDir(), denied: map[string]error{}}
	put(t, f.root, "proc/self/mountinfo", mountinfo)
	put(t, f.root, "proc/self/cgroup", own)
	put(t, f.root, "proc/sys/kernel/osrelease", "6.1.0\n")
	put(t, f.root, "proc/meminfo", "MemTotal:        1000000 kB\nMemFree: 10 kB\n")
	return f
}

func (f *fixture) path(p string) string { return filepath.Join(f.root, p) }

func (f *fixture) read(p string) string {
	f.t.Helper()
	s, err := readFile(f.path(p))
	if err != nil {
		f.t.Error(err)
	}
	return s
}

func (f *fixture) detect() *Tree {
	f.t.Helper()
	tree, err := detect(f.root, f)
	if err != nil {
		f.t.Fatal(err)
	}
	return tree
}

// listing is every directory below p, relative to it, so that what is left
// shows.
func (f *fixture) listing(p string) []string {
	var all []string
	_ = walk(f.path(p), func(d string) error {
		rel, _ := filepath.Rel(f.path(p), d)
		all = append(all, rel)
		return nil
	})
	return all
}

// unifiedRoot makes the root group of version 2.
func (f *fixture) unifiedRoot(p, controllers, enabled string) {
	put(f.t, f.path(p), "cgroup.controllers", controllers+"\n")
	put(f.t, f.path(p), "cgroup.subtree_control", enabled+"\n")
	put(f.t, f.path(p), "cgroup.procs", "1\n2\n")
}

// unifiedGroup makes a group of version 2 that is not the root.
func (f *fixture) unifiedGroup(p, controllers string, pids ...int) {
	f.fill2(f.path(p), controllers)
	put(f.t, f.path(p), "cgroup.procs", join2(pids))
}

func join2(pids []int) string {
	var b strings.Builder
	for _, p := range pids {
		fmt.Fprintln(&b, p)
	}
	return b.String()
}

// fill2 makes the files of a group of version 2.
func (f *fixture) fill2(dir, controllers string) {
	files := map[string]string{
		"cgroup.type": "domain", "cgroup.controllers": controllers, "cgroup.subtree_control": "",
		"cgroup.procs": "", "cgroup.events": "populated 0\nfrozen 0", "cgroup.freeze": "0", "cgroup.kill": "",
		"cpu.stat": "usage_usec 0",
	}
	for c := range strings.FieldsSeq(controllers) {
		switch c {
		case "memory":
			files["memory.max"], files["memory.events"] = "max", "low 0\noom 1\noom_kill 3\n"
		case "pids":
			files["pids.max"] = "max"
		case "cpu":
			files["cpu.max"] = "max 100000"
		case "cpuset":
			files["cpuset.cpus"], files["cpuset.mems"] = "", ""
		}
	}
	for name, content := range files {
		put(f.t, dir, name, content)
	}
}

// fill1 makes the files of a group of version 1 for the controllers of its
// mount.
func (f *fixture) fill1(dir string) {
	put(f.t, dir, "cgroup.procs", "")
	switch base := filepath.Base(strings.SplitN(strings.TrimPrefix(dir, f.path("sys/fs/cgroup")+"/"), "/", 2)[0]); base {
	case "cpu,cpuacct":
		put(f.t, dir, "cpu.cfs_period_us", "100000")
		put(f.t, dir, "cpu.cfs_quota_us", "-1")
	case "cpuset":
		put(f.t, dir, "cpuset.cpus", "")
		put(f.t, dir, "cpuset.mems", "")
	case "memory":
		put(f.t, dir, "memory.limit_in_bytes", "9223372036854771712")
	case "pids":
		put(f.t, dir, "pids.max", "max")
	case freezer:
		put(f.t, dir, "freezer.state", "THAWED")
	}
}

func (f *fixture) mkdir(dir string) error {
	if err := f.writable(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if !exists(filepath.Join(parent, "cgroup.controllers")) {
		f.fill1(dir)
		return nil
	}
	enabled, _ := readFile(filepath.Join(parent, "cgroup.subtree_control"))
	f.fill2(dir, enabled)
	return nil
}

// rmdir refuses a group that has processes or groups below.
func (f *fixture) rmdir(dir string) error {
	if !exists(dir) {
		return unix.ENOENT
	}
	if pids, _ := readPids(filepath.Join(dir, "cgroup.procs")); len(pids) > 0 {
		return unix.EBUSY
	}
	entries, _ := os.ReadDir(dir)
	if slices.ContainsFunc(entries, os.DirEntry.IsDir) {
		return unix.EBUSY
	}
	return os.RemoveAll(dir)
}

func (f *fixture) write(file, value string) error {
	if slices.Contains(f.deaf, filepath.Base(file)) {
		return nil
	}
	switch filepath.Base(file) {
	case "cgroup.subtree_control":
		return f.control(file, value)
	case "cgroup.procs":
		return f.move(file, value)
	case "memory.max", "memory.limit_in_bytes":
		if value == "4097" {
			value = "4096" // whole pages
		}
	}
	if !exists(file) {
		return &os.PathError{Op: "open", Path: file, Err: unix.ENOENT}
	}
	return os.WriteFile(file, []byte(value+"\n"), 0o644)
}

// control enables and disables a controller as the kernel does: only controllers that the group
// has, never in a group with processes (except the root), and not off while a child has it
// enabled.
func (f *fixture) control(file, value string) error {
	dir := filepath.Dir(file)
	have, _ := readFields(file)
	c := value[1:]
	if value[0] == '-' {
		children, _ := filepath.Glob(filepath.Join(dir, "*", "cgroup.subtree_control"))
		for _, child := range children {
			if on, _ := readFields(child); slices.Contains(on, c) {
				return unix.EBUSY
			}
		}
		have = slices.DeleteFunc(have, func(h string) bool { return h == c })
		files, _ := filepath.Glob(filepath.Join(dir, "*", c+".*"))
		for _, file := range files { // with what was set
			os.Remove(file)
		}
		return os.WriteFile(file, []byte(strings.Join(have, " ")+"\n"), 0o644)
	}
	can, _ := readFields(filepath.Join(dir, "cgroup.controllers"))
	pids, _ := readPids(filepath.Join(dir, "cgroup.procs"))
	switch {
	case !slices.Contains(can, c):
		return unix.ENOENT
	case len(pids) > 0 && exists(filepath.Join(dir, "cgroup.type")):
		return unix.EBUSY
	}
	return os.WriteFile(file, []byte(strings.Join(append(have, c), " ")+"\n"), 0o644)
}

// move takes a process out of every group of the same hierarchy.
func (f *fixture) move(file, pid string) error {
	files, _ := filepath.Glob(f.path("sys/fs/cgroup"))
	_ = walk(files[0], func(dir string) error {
		procs := filepath.Join(dir, "cgroup.procs")
		pids, _ := readFields(procs)
		pids = slices.DeleteFunc(pids, func(p string) bool { return p == pid })
		return os.WriteFile(procs, []byte(strings.Join(pids, "\n")), 0o644)
	})
	have, _ := readFile(file)
	return os.WriteFile(file, []byte(strings.TrimSpace(have+"\n"+pid)+"\n"), 0o644)
}

func (f *fixture) writable(dir string) error {
	for d, err := range f.denied {
		if dir == f.path(d) {
			return err
		}
	}
	return nil
}
