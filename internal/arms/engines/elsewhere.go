package engines

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// An engine usually makes a container in the arm's control group. Docker with its systemd driver
// makes it in a group of systemd's, and rootless Podman makes no group. tare then moves the
// container's first process into the arm's groups before it becomes the load, so that all
// processes of the load are in these groups.

// systemd is the name of Docker's cgroup driver by which systemd makes the groups.
const systemd = "systemd"

// outsideArmGroup says that the engine makes the container outside of the arm's group.
func (a *arm) outsideArmGroup() bool { return a.user != "" || a.fact("cgroup-driver") == systemd }

// fact is a fact that the engine reports of itself.
func (a *arm) fact(name string) string {
	for _, f := range a.facts {
		if f.Name == a.kind.Name()+"."+name {
			return f.Value
		}
	}
	return ""
}

// adopt makes sure that the process is in the arm's groups.
func (a *arm) adopt(pid int) error {
	if !a.outsideArmGroup() {
		return a.Adopt(pid)
	}
	groups, err := proc.FS("/").Cgroups(strconv.Itoa(pid))
	if err != nil {
		return fmt.Errorf("find the container's control group: %w", err)
	}
	a.engineGroup = groupOf(groups)
	return a.MoveInto(pid)
}

// groupOf is the group in which an engine put a process: that of the memory hierarchy, or of
// version 2. groups are as proc.FS.Cgroups has them.
func groupOf(groups map[string]string) string { return cmp.Or(groups["memory"], groups[""]) }

// unitOf is the systemd unit of a group, by the names of systemd.slice(5) and systemd.scope(5);
// empty: none.
func unitOf(group string) string {
	parts := strings.Split(strings.Trim(group, "/"), "/")
	for _, p := range slices.Backward(parts) {
		for _, kind := range []string{".scope", ".service", ".slice"} {
			if strings.HasSuffix(p, kind) && len(p) > len(kind) {
				return p
			}
		}
	}
	return ""
}

// foundSettings say in which group the engine put the process.
func (a *arm) foundSettings() []record.Setting {
	if a.engineGroup == "" {
		return nil
	}
	all := []record.Setting{{Name: a.kind.Name() + ".cgroup", Got: a.engineGroup}}
	if unit := unitOf(a.engineGroup); unit != "" {
		all = append(all, record.Setting{Name: a.kind.Name() + ".unit", Got: unit})
	}
	return all
}
