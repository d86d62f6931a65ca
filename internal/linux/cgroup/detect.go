package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

// v1Names are the controllers of version 1. Other options of a mount (xattr, noprefix,
// name=systemd) are no controllers.
var v1Names = []string{
	"blkio", "cpu", "cpuacct", "cpuset", "devices", freezer, "hugetlb", "memory",
	"misc", "net_cls", "net_prio", "perf_event", "pids", "rdma",
}

// Detect finds the mounted hierarchies below root, "/" outside tests, and where this process
// can make groups: at the mount points, or below its own group where it cannot write to the
// mount point. That no group can be made is no error of Detect; see Can.
func Detect(root string) (*Tree, error) { return detect(root, realKernel{}) }

func detect(root string, k kernel) (*Tree, error) {
	t := &Tree{
		V1: map[string]string{}, at: map[string]string{}, why: map[string]*Unusable{}, using: map[string]bool{},
		proc: proc.FS(root), kernel: k,
	}
	mounts, err := mountsIn(t.proc)
	if err != nil {
		return nil, fmt.Errorf("find the control groups: %w", err)
	}
	own, err := t.proc.Cgroups("self")
	if err != nil {
		return nil, fmt.Errorf("find the own control group: %w", err)
	}
	for _, m := range mounts {
		t.addMount(m, own)
	}
	t.Layout = t.layout()
	if base := t.at[Unified]; base != "" {
		t.V2Controllers, err = readFields(filepath.Join(base, "cgroup.controllers"))
		if err != nil {
			return nil, fmt.Errorf("read the controllers of version 2: %w", err)
		}
	}
	return t, nil
}

func (t *Tree) layout() Layout {
	switch {
	case t.V2 == "" && len(t.V1) == 0:
		return None
	case t.V2 == "":
		return V1
	case len(t.V1) == 0:
		return V2
	}
	return Hybrid
}

// addMount adds one mount. Each of its controllers counts unless another mount with it can be
// written to.
func (t *Tree) addMount(m proc.Mount, own map[string]string) {
	point := t.proc.Path(m.Point)
	if m.Type == "cgroup2" {
		if t.at[Unified] == "" {
			t.V2 = point
			t.place(Unified, m, point, own[""])
		}
		return
	}
	for _, c := range v1Names {
		if has(m, c) && t.at[c] == "" {
			t.V1[c] = point
			t.place(c, m, point, own[c])
		}
	}
}

// place finds the directory below which groups of a hierarchy are made: the mount point, else
// the own group.
func (t *Tree) place(name string, m proc.Mount, point, own string) {
	err := t.writable(point)
	if err == nil {
		t.at[name] = point
		return
	}
	dir := filepath.Join(point, below(own, m.Root))
	if dir != point && t.writable(dir) == nil {
		t.at[name] = dir
		return
	}
	t.why[name] = unusable(name, point, dir, err)
}

// ownGroup is the remedy for an ordinary user.
const ownGroup = "run as root, or, where systemd runs, in a group of your own: systemd-run --user --scope -p Delegate=yes tare run"

func unusable(name, point, own string, err error) *Unusable {
	what := "control groups of version 2"
	if name != Unified {
		what = name + " control groups"
	}
	switch {
	case errors.Is(err, unix.EROFS):
		return &Unusable{fmt.Sprintf("%s are mounted read-only at %s", what, point),
			"run tare on the host itself, or in a container with the control groups mounted writable (docker run --privileged --cgroupns=host)"}
	case errors.Is(err, unix.ENOENT):
		return &Unusable{fmt.Sprintf("%s are mounted at %s, which cannot be reached: something is mounted over it", what, point),
			"run tare where nothing hides /sys/fs/cgroup: on the host itself, or in a container with --cgroupns=host"}
	case name == Unified && own == point:
		return &Unusable{fmt.Sprintf("this user cannot write %s", point), ownGroup}
	case name == Unified:
		return &Unusable{fmt.Sprintf("this user can write neither %s nor its own group %s", point, own), ownGroup}
	}
	return &Unusable{fmt.Sprintf("this user cannot make %s in %s", what, point), "run as root"}
}

// below is the path of a group relative to a mount that shows the hierarchy from root on;
// empty, which is the mount itself, for a group that the mount does not show.
func below(own, root string) string {
	if root == "/" {
		return own
	}
	if rest, ok := strings.CutPrefix(own, root); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return ""
}

// mountsIn are the mounts of both versions.
func mountsIn(root proc.FS) ([]proc.Mount, error) {
	all, err := root.Mounts()
	return slices.DeleteFunc(all, func(m proc.Mount) bool { return m.Type != "cgroup" && m.Type != "cgroup2" }), err
}

// has says whether a mount of version 1 has a controller.
func has(m proc.Mount, controller string) bool {
	return slices.Contains(strings.Split(m.Super, ","), controller)
}
