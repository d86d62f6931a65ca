package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Plan lists every change that Make will make on the host. It is in the journal before Make runs,
// so that the changes can be undone after a kill.
type Plan struct {
	// Dirs are the directories of the group and those above it that may have to be made,
	// parents first. Some may exist. All are in groups whose names begin with Prefix.
	Dirs []string `json:"dirs"`
	// Enable are the controllers of version 2 to enable for the children of EnableAt, a group
	// that tare did not make. Empty: they are enabled already, perhaps by another run.
	Enable   []string `json:"enable,omitempty"`
	EnableAt string   `json:"enable_at,omitempty"`
	// Leaf is the group to which the processes of EnableAt are moved. Version 2 enables no
	// controllers in a group with processes.
	Leaf string `json:"leaf,omitempty"`
	// Pinned are threads of other programs with a CPU affinity. Before Linux 6.2 they lose it when
	// the cpuset controller is enabled or disabled, and tare sets it again.
	Pinned []Pinned `json:"pinned,omitempty"`
}

// Check returns an error unless the plan is one for a group whose path begins with name or name-.
// The plan may come from a journal file, and Undo kills processes and removes directories by it.
func (p Plan) Check(name string) error {
	own := func(e string) bool { return e == name || strings.HasPrefix(e, name+"-") }
	for _, dir := range p.Dirs {
		if !filepath.IsAbs(dir) || dir != filepath.Clean(dir) || !slices.ContainsFunc(strings.Split(dir, "/"), own) {
			return fmt.Errorf("%q is in no group %s", dir, name)
		}
	}
	if p.EnableAt == "" && (len(p.Enable) > 0 || len(p.Pinned) > 0) || p.Leaf != "" && p.Leaf != filepath.Join(p.EnableAt, leafName) {
		return fmt.Errorf("controllers %q at %q, processes in %q: that is not how tare enables any", p.Enable, p.EnableAt, p.Leaf)
	}
	if p.EnableAt != "" && !slices.ContainsFunc(p.Dirs, func(dir string) bool { return inside(dir, p.EnableAt) }) {
		return fmt.Errorf("controllers are enabled at %q, and no group of the plan is there", p.EnableAt)
	}
	for _, c := range p.Enable {
		if strings.Trim(c, "abcdefghijklmnopqrstuvwxyz_") != "" || c == "" {
			return fmt.Errorf("no controller is called %q", c)
		}
	}
	for _, t := range p.Pinned {
		if t.TID < 1 || t.Start == 0 || slices.ContainsFunc(t.CPUs, func(c int) bool { return c < 0 }) {
			return fmt.Errorf("no thread is like %+v", t)
		}
	}
	return nil
}

// Can returns nil if groups with these controllers can be made, else an *Unusable. Without
// controllers it checks for plain groups, which have none and serve to freeze and to observe.
func (t *Tree) Can(controllers ...string) error {
	if t.Layout == None {
		return &Unusable{"no control groups are mounted", "mount them: mount -t cgroup2 none /sys/fs/cgroup"}
	}
	if t.at[Unified] == "" && t.at[freezer] == "" {
		if u := t.why[Unified]; u != nil {
			return u
		}
		if u := t.why[freezer]; u != nil {
			return u
		}
		return &Unusable{"neither version 2 nor the freezer of version 1 is mounted", "mount -t cgroup2 none /sys/fs/cgroup/unified"}
	}
	for _, c := range controllers {
		if _, err := t.hierarchy(c); err != nil {
			return err
		}
	}
	return nil
}

// v2Name is a controller's name in version 2; empty for cpuacct and freezer, whose files every group
// of version 2 has without a controller.
func v2Name(controller string) string {
	switch controller {
	case "blkio":
		return "io"
	case "cpuacct", freezer:
		return ""
	}
	return controller
}

// v1Name is a controller's name in version 1.
func v1Name(controller string) string {
	if controller == "io" {
		return "blkio"
	}
	return controller
}

// Version returns the cgroup version, 1 or 2, whose hierarchy has the controller; 0: neither has it.
// controller may be its name in either version.
func (t *Tree) Version(controller string) int {
	switch {
	case t.V1[v1Name(controller)] != "":
		return 1
	case slices.Contains(t.V2Controllers, v2Name(controller)):
		return 2
	}
	return 0
}

// setDir stores the directory of a controller under its names in both versions.
func (g *Group) setDir(controller, dir string) {
	g.Dirs[controller], g.Dirs[v1Name(controller)] = dir, dir
	if name := v2Name(controller); name != "" {
		g.Dirs[name] = dir
	}
}

// AddV2 adds controllers of version 2 whose files are in dir, under their names in both versions.
// cpu of version 2 also stands for cpuacct of version 1: cpu.stat has the CPU time.
func (g *Group) AddV2(dir string, controllers []string) {
	g.Dirs[Unified] = dir
	for _, c := range controllers {
		g.Controllers = append(g.Controllers, c)
		g.setDir(c, dir)
		if c == "cpu" {
			g.setDir("cpuacct", dir)
		}
	}
}

// hierarchy returns the key in t.at of the hierarchy that has the controller.
func (t *Tree) hierarchy(controller string) (string, error) {
	v1 := v1Name(controller)
	if t.at[v1] != "" {
		return v1, nil
	}
	if t.V1[v1] != "" {
		return "", t.why[v1]
	}
	name := v2Name(controller)
	if t.at[Unified] != "" && (name == "" || slices.Contains(t.V2Controllers, name)) {
		return Unified, nil
	}
	if t.V2 != "" && t.at[Unified] == "" && t.why[Unified] != nil {
		return "", t.why[Unified]
	}
	return "", t.noController(controller)
}

// noController is the error for a controller that no hierarchy has.
func (t *Tree) noController(controller string) error {
	u := &Unusable{Reason: fmt.Sprintf("no %s controller: not mounted with version 1", v1Name(controller))}
	if base := t.at[Unified]; base != "" {
		have := strings.Join(t.V2Controllers, " ")
		if have == "" {
			have = "none"
		}
		u.Reason += fmt.Sprintf(", and %s can enable: %s", base, have)
		if base != t.V2 {
			u.Remedy = "systemd-run --user --scope -p Delegate=yes tare run, with the controller delegated to the user (Delegate=cpu cpuset io memory pids in user@.service)"
		}
	}
	return u
}

// checkPath returns an error unless a path is relative to the place where groups are made and
// begins with Prefix.
func checkPath(path string) error {
	if path != filepath.Clean(path) || !filepath.IsLocal(path) || strings.ContainsAny(path, "\n\x00") {
		return fmt.Errorf("group path %q: want a clean relative path without line breaks", path)
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.HasPrefix(first, Prefix) || first == Prefix || first == leafName {
		return fmt.Errorf("group path %q: want it to begin with %s<run>", path, Prefix)
	}
	return nil
}

// placedPath returns the path at which a group is made. In version 2 all children of a group have the
// same controllers, so with version 2 only, plain groups get a parent of their own, RUN-plain.
func (t *Tree) placedPath(path string, controllers []string) string {
	if len(controllers) > 0 || t.Layout != V2 {
		return path
	}
	first, rest, _ := strings.Cut(path, "/")
	return filepath.Join(first+"-plain", rest)
}

// hierarchies returns the keys in t.at of the hierarchies in which a group is made, and the
// controllers of version 2 to enable.
func (t *Tree) hierarchies(controllers []string) (keys, enable []string, err error) {
	if err := t.Can(controllers...); err != nil {
		return nil, nil, err
	}
	if t.at[Unified] != "" {
		keys = append(keys, Unified)
	}
	if t.at[freezer] != "" && !t.freezes2() {
		keys = append(keys, freezer)
	}
	for _, c := range controllers {
		key, err := t.hierarchy(c)
		if err != nil {
			return nil, nil, err
		}
		if name := v2Name(c); key == Unified && name != "" && !slices.Contains(enable, name) {
			enable = append(enable, name)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, enable, nil
}

// freezes2 says whether groups of version 2 have cgroup.freeze (Linux 5.2). The root group
// never has this file; there the kernel's release decides.
func (t *Tree) freezes2() bool {
	base := t.at[Unified]
	if base == "" {
		return false
	}
	if exists(filepath.Join(base, "cgroup.freeze")) {
		return true
	}
	if exists(filepath.Join(base, "cgroup.events")) { // not the root group
		return false
	}
	release, err := readFile(t.proc.Path("proc/sys/kernel/osrelease"))
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil || n != 2 {
		return false
	}
	return major > 5 || major == 5 && minor >= 2
}

// Plan returns the changes that Make(path, controllers) will make.
func (t *Tree) Plan(path string, controllers []string) (Plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan(path, controllers)
}

func (t *Tree) plan(path string, controllers []string) (Plan, error) {
	if err := checkPath(path); err != nil {
		return Plan{}, err
	}
	keys, enable, err := t.hierarchies(controllers)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	if hold := t.holdGroup(path, enable); hold != "" {
		p.Dirs = append(p.Dirs, hold)
	}
	for _, key := range keys {
		for _, dir := range pathDirs(t.at[key], t.placedPath(path, controllers)) {
			if !slices.Contains(p.Dirs, dir) { // some controllers share a mount
				p.Dirs = append(p.Dirs, dir)
			}
		}
	}
	return p, t.planEnable(&p, enable)
}

// holdSuffix ends the name of the empty group that keeps controllers enabled.
const holdSuffix = "-hold"

// holdGroup returns the path of the hold group; empty: none is needed. The hold group is an empty
// group beside a run's top group with controllers of version 2, and enables the controllers for its
// children, of which it has none. Without it systemd disables the controllers at the root, and all
// settings are lost, whenever the needs of its own units change. The kernel refuses to disable a
// controller while a child has it enabled.
func (t *Tree) holdGroup(path string, enable []string) string {
	if len(enable) == 0 || strings.Contains(path, "/") {
		return ""
	}
	return filepath.Join(t.at[Unified], path+holdSuffix)
}

// pathDirs returns the directories from base to path, parents first, without base.
func pathDirs(base, path string) []string {
	var dirs []string
	for e := range strings.SplitSeq(path, "/") {
		base = filepath.Join(base, e)
		dirs = append(dirs, base)
	}
	return dirs
}

// planEnable adds the changes in at[Unified], a group that tare did not make.
func (t *Tree) planEnable(p *Plan, enable []string) error {
	if len(enable) == 0 {
		return nil
	}
	base := t.at[Unified]
	have, err := readFields(filepath.Join(base, "cgroup.subtree_control"))
	if err != nil {
		return fmt.Errorf("read which controllers are enabled: %w", err)
	}
	for _, c := range enable {
		// A later group also lists controllers that this Tree has enabled before, because the
		// removal of the last group disables them.
		if !slices.Contains(have, c) || slices.Contains(t.enabled, c) {
			p.Enable = append(p.Enable, c)
		}
	}
	p.EnableAt = base
	if len(p.Enable) == 0 {
		return nil
	}
	if t.leaf != "" || t.occupied(base) {
		p.Leaf = filepath.Join(base, leafName)
	}
	if slices.Contains(p.Enable, cpusetName) && !slices.Contains(have, cpusetName) {
		if p.Pinned, err = pinnedBelow(t.proc, base); err != nil {
			return fmt.Errorf("find the threads that are kept to some CPUs: %w", err)
		}
	}
	return nil
}

// leafName is the name of the group to which tare moves the processes of a delegated group.
const leafName = Prefix + "self"

// occupied says whether a group has processes of its own, so that version 2 enables no controllers in
// it. The root is exempt.
func (t *Tree) occupied(dir string) bool {
	if !exists(filepath.Join(dir, "cgroup.type")) {
		return false // the root, which has no cgroup.type
	}
	pids, err := readFields(filepath.Join(dir, "cgroup.procs"))
	return err == nil && len(pids) > 0
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, os.ErrNotExist)
}
