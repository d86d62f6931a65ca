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

// An engine that is told in which control group to make a container makes it in the
// arm's own. Where systemd makes the groups (Docker's systemd driver), and where none
// are made (rootless), the container's first process is taken from where it is, before
// it becomes the load: every process of the load is then in the arm's groups.

// systemd is Docker's driver that has systemd make the groups.
const systemd = "systemd"

// elsewhere says that the engine's group is not in the arm's.
func (a *arm) elsewhere() bool { return a.user != "" || a.fact("cgroup-driver") == systemd }

// fact is what the engine says of itself under a name.
func (a *arm) fact(name string) string {
	for _, f := range a.facts {
		if f.Name == a.kind.Name()+"."+name {
			return f.Value
		}
	}
	return ""
}

// adopt has the process in the arm's groups.
func (a *arm) adopt(pid int) error {
	if !a.elsewhere() {
		return a.Adopt(pid)
	}
	groups, err := proc.FS("/").Cgroups(strconv.Itoa(pid))
	if err != nil {
		return fmt.Errorf("find the container's control group: %w", err)
	}
	a.found = groupOf(groups)
	return a.Take(pid)
}

// groupOf is where an engine has a process: in the hierarchy that limits memory, or in
// version 2 where there is no other.
func groupOf(groups map[string]string) string { return cmp.Or(groups["memory"], groups[""]) }

// unitOf is the unit of systemd's that a group belongs to, as systemd.slice(5) and
// systemd.scope(5) name them; empty: none.
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

// foundSettings say where the engine had the process.
func (a *arm) foundSettings() []record.Setting {
	if a.found == "" {
		return nil
	}
	all := []record.Setting{{Name: a.kind.Name() + ".cgroup", Got: a.found}}
	if unit := unitOf(a.found); unit != "" {
		all = append(all, record.Setting{Name: a.kind.Name() + ".unit", Got: unit})
	}
	return all
}
