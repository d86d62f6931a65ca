package cgroup

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/proc"
)

// PidsLimit is a limit of processes and threads and their present number.
type PidsLimit struct {
	Of        string // directory of a group, or name of a sysctl
	Most, Now int64
}

// PidsLimits are the limits of processes and threads that hold for all groups of the tree: the
// kernel's, and those of the groups above them.
func (t *Tree) PidsLimits() []PidsLimit {
	all := KernelPids(t.proc)
	for _, dir := range t.around("pids") {
		most, err := number(filepath.Join(dir, "pids.max")) // "max" is no limit
		now, nerr := number(filepath.Join(dir, "pids.current"))
		if err == nil && nerr == nil {
			all = append(all, PidsLimit{dir, most, now})
		}
	}
	return all
}

// KernelPids are the limits of the kernel below root, "/" outside tests.
func KernelPids(root proc.FS) (all []PidsLimit) {
	now := tasks(root)
	for _, name := range []string{"pid_max", "threads-max"} {
		most, err := number(root.Path("proc/sys/kernel", name))
		// The number of tasks is that of all namespaces. Since Linux 6.14 a pid namespace may
		// have a pid_max of its own.
		if err == nil && now >= 0 && now <= most {
			all = append(all, PidsLimit{"kernel." + name, most, now})
		}
	}
	return all
}

// around are the directories in which groups with a controller are made, and those above.
func (t *Tree) around(controller string) (dirs []string) {
	dir, top := t.at[controller], t.V1[controller]
	if top == "" {
		dir, top = t.at[Unified], t.V2
	}
	if dir == "" {
		return nil
	}
	for ; dir == top || inside(dir, top); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// tasks is the number of all processes and threads; -1: not known.
func tasks(f proc.FS) int64 {
	b, err := f.Text("proc/loadavg") // 0.20 0.18 0.12 1/80 11206
	if err != nil {
		return -1
	}
	fields := strings.Fields(string(b))
	if len(fields) < 4 {
		return -1
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func number(file string) (int64, error) {
	s, err := readFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(s, 10, 64)
}
