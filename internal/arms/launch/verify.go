package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// split divides the joining of a group: version 1 takes a thread that moves
// itself without a global lock, which the move of a process waits for (16 ms
// for each hierarchy); version 2 takes whole processes only, moved by the
// parent.
func split(g cgroup.Group) (tasks []string, parent cgroup.Group) {
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

// Membership is being in a group, in every hierarchy that it has.
type Membership struct {
	Path string
	// Controllers are those of version 1; V2 says that it is in version 2 too.
	Controllers []string
	V2          bool
	// Below says that a group below that one will do.
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

// check reads back where a thread or process is, from its file in /proc.
func (m Membership) check(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read back the control groups: %w", err)
	}
	for _, c := range m.Controllers {
		if path, ok := groupOf(string(b), c); ok && !m.holds(path) {
			return fmt.Errorf("the child is not in group %s of %s but in %s", m.Path, c, path)
		}
	}
	if path, ok := groupOf(string(b), ""); m.V2 && ok && !m.holds(path) {
		return fmt.Errorf("the child is not in group %s of version 2 but in %s", m.Path, path)
	}
	return nil
}

func (m Membership) holds(path string) bool {
	return strings.HasSuffix(path, "/"+m.Path) || m.Below && strings.Contains(path, "/"+m.Path+"/")
}

// groupOf finds the path for a controller in the text of /proc/PID/cgroup;
// that of version 2 is on the line without controllers.
func groupOf(text, controller string) (string, bool) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) && (controller != "" || f[0] == "0") {
			return f[2], true
		}
	}
	return "", false
}
