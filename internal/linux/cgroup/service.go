package cgroup

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/proc"
)

// slice is the group in which systemd has the services of the host.
const slice = "system.slice"

// ServiceControllers are the controllers that the control groups of this host's services have and
// that a group made here can have. Where systemd does not run, these are cpu, io, memory and
// pids. On version 1 cpuacct comes with cpu, as systemd joins them.
func (t *Tree) ServiceControllers() []string {
	var all []string
	for _, c := range []string{"cpu", cpusetName, "io", "memory", "pids"} {
		if t.servicesHave(c) && t.Can(c) == nil {
			all = append(all, v1Name(c))
		}
	}
	if slices.Contains(all, "cpu") && t.Version("cpu") == 1 && t.Can("cpuacct") == nil {
		all = append(all, "cpuacct")
	}
	return all
}

// servicesHave says whether the services of this host have a controller.
func (t *Tree) servicesHave(controller string) bool {
	if !exists(t.proc.Path("run/systemd/system")) { // sd_booted(3)
		return controller != cpusetName
	}
	if point := t.V1[v1Name(controller)]; point != "" {
		services, _ := filepath.Glob(filepath.Join(point, slice, "*.service"))
		return len(services) > 0
	}
	if t.V2 == "" {
		return false
	}
	have, _ := readFields(filepath.Join(t.V2, slice, "cgroup.subtree_control"))
	return slices.Contains(have, controller)
}

// CanEnable returns nil if controllers of version 2 can be enabled where groups are made, as far
// as processes there matter; else an *Unusable.
func (t *Tree) CanEnable() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	base := t.at[Unified]
	if base == "" || t.leaf != "" || !t.occupied(base) {
		return nil
	}
	return t.checkMovable(base)
}

// CPUGroup is the control group by which a process competes for CPUs: that of the cpu controller
// of version 1, or the nearest group of version 2 that has the controller. "/" is the root
// group. Empty: this kernel has no cpu controller, or its hierarchy is not mounted here.
func CPUGroup(root proc.FS, pid string) (string, error) {
	groups, err := root.Cgroups(pid)
	if err != nil {
		return "", err
	}
	if group, ok := groups["cpu"]; ok {
		return group, nil
	}
	mounts, err := mountsIn(root)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(mounts, func(m proc.Mount) bool { return m.Type == "cgroup2" })
	group, ok := groups[""]
	if i < 0 || !ok || strings.HasPrefix(group, "/..") { // outside of this cgroup namespace
		return "", nil
	}
	point := root.Path(mounts[i].Point)
	if have, err := readFields(filepath.Join(point, "cgroup.controllers")); err != nil || !slices.Contains(have, "cpu") {
		return "", nil
	}
	for ; group != "/"; group = filepath.Dir(group) {
		if exists(filepath.Join(point, below(group, mounts[i].Root), "cpu.weight")) {
			break
		}
	}
	return group, nil
}
