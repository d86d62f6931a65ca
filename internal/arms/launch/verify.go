package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// splitJoin divides the ways to join a group. tasks are files of version 1 to which the child's thread
// writes itself: that needs no global lock, where moving a process waits for one (16 ms for each
// hierarchy). parent has the directories of version 2, which accepts whole processes only; the
// parent moves the child there.
func splitJoin(g cgroup.Group) (tasks []string, parent cgroup.Group) {
	if g.Tree == nil {
		return nil, g
	}
	parent = g
	parent.Dirs = map[string]string{}
	for key, dir := range g.Dirs {
		file := filepath.Join(dir, "tasks")
		if _, err := os.Stat(file); err != nil {
			parent.Dirs[key] = dir
		} else if !slices.Contains(tasks, file) {
			tasks = append(tasks, file)
		}
	}
	slices.Sort(tasks)
	return tasks, parent
}

// Membership is the group in which a process has to be, in each hierarchy of the group.
type Membership struct {
	Path string
	// Controllers are the hierarchies of version 1; V2 adds version 2.
	Controllers []string
	V2          bool
	// Below accepts groups below that one too.
	Below bool
}

func membershipOf(g cgroup.Group) Membership {
	m := Membership{Path: g.Path}
	for key, dir := range g.Dirs {
		if dir == g.Dirs[cgroup.Unified] {
			m.V2 = true
		} else {
			m.Controllers = append(m.Controllers, key)
		}
	}
	slices.Sort(m.Controllers)
	return m
}

// check reads back in which groups a process is: its number, or "thread-self".
func (m Membership) check(pid string) error {
	paths, err := proc.FS("/").Cgroups(pid)
	if err != nil {
		return fmt.Errorf("read back the control groups: %w", err)
	}
	return m.compare(paths)
}

// compare compares with the groups of a process by controller, as proc.FS.Cgroups has them.
func (m Membership) compare(paths map[string]string) error {
	for _, c := range m.Controllers {
		if path, ok := paths[c]; ok && !m.holds(path) {
			return fmt.Errorf("the child is not in group %s of %s but in %s", m.Path, c, path)
		}
	}
	if path, ok := paths[""]; m.V2 && ok && !m.holds(path) {
		return fmt.Errorf("the child is not in group %s of version 2 but in %s", m.Path, path)
	}
	return nil
}

func (m Membership) holds(path string) bool {
	return strings.HasSuffix(path, "/"+m.Path) || m.Below && strings.Contains(path, "/"+m.Path+"/")
}
