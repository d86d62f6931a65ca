package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Make makes the group path ("tare-RUN-ARM.parent/ARM") with the controllers, in every hierarchy with one
// of them and in that of the freezer. Without controllers it is a plain group. After an error
// nothing of it is left. A group that exists already is an error. The caller removes it.
func (t *Tree) Make(path string, controllers []string) (Group, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.plan(path, controllers)
	if err != nil {
		return Group{}, err
	}
	path = t.placedPath(path, controllers)
	g := Group{Tree: t, Path: path, Controllers: slices.Clone(controllers), Dirs: map[string]string{}}
	made, err := t.makeDirs(p, controllers)
	if err == nil {
		err = t.fill(&g, controllers)
	}
	if err != nil {
		for _, dir := range slices.Backward(made) {
			t.rmdir(dir)
		}
		return Group{}, errors.Join(fmt.Errorf("make group %s: %w", path, err), t.disable())
	}
	if _, enable, _ := t.hierarchies(controllers); len(enable) > 0 {
		t.using[g.Path] = true
		g.hold = t.holdGroup(path, enable)
	}
	return g, nil
}

// makeDirs makes the missing directories of the plan and returns those that it made, also after
// an error.
func (t *Tree) makeDirs(p Plan, controllers []string) (made []string, err error) {
	_, enable, err := t.hierarchies(controllers)
	if err != nil {
		return nil, err
	}
	if err := t.enableBase(p, enable); err != nil {
		return nil, err
	}
	for _, dir := range p.Dirs {
		last := t.isLast(p, dir)
		err := t.mkdir(dir)
		switch {
		case err == nil:
			made = append(made, dir)
		case errors.Is(err, os.ErrExist) && !last:
		case errors.Is(err, os.ErrExist):
			return made, fmt.Errorf("%w: left by an earlier run? tare cleanup removes it", err)
		default:
			return made, err
		}
		if err := t.prepare(dir, last, enable); err != nil {
			return made, err
		}
	}
	return made, nil
}

// isLast says whether a directory of the plan is the group itself: not one above it, and not
// the one that holds its controllers.
func (t *Tree) isLast(p Plan, dir string) bool {
	if held, ok := strings.CutSuffix(dir, holdSuffix); ok && slices.Contains(p.Dirs, held) {
		return false
	}
	return !slices.ContainsFunc(p.Dirs, func(d string) bool { return filepath.Dir(d) == dir })
}

// prepare sets up a new directory for tasks and children.
func (t *Tree) prepare(dir string, last bool, enable []string) error {
	if base := t.at["cpuset"]; base != "" && inside(dir, base) {
		if err := t.inheritCPUs(dir); err != nil {
			return err
		}
	}
	if base := t.at[Unified]; base != "" && inside(dir, base) && !last {
		return t.enable(dir, enable)
	}
	return nil
}

func inside(dir, base string) bool { return strings.HasPrefix(dir, base+"/") }

// inheritCPUs copies the CPUs and memory nodes of a cpuset of version 1 from its parent. A new
// group has none and takes no task.
func (t *Tree) inheritCPUs(dir string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if have, err := readFile(filepath.Join(dir, file)); err != nil || have != "" {
			if err != nil {
				return err
			}
			continue
		}
		value, err := readFile(filepath.Join(filepath.Dir(dir), file))
		if err != nil {
			return err
		}
		if err := t.set(filepath.Join(dir, file), value); err != nil {
			return err
		}
	}
	return nil
}

// enable enables controllers of version 2 for the children of dir.
func (t *Tree) enable(dir string, controllers []string) error {
	if len(controllers) == 0 {
		return nil
	}
	file := filepath.Join(dir, "cgroup.subtree_control")
	for _, c := range controllers {
		if err := t.write(file, "+"+c); err != nil {
			return fmt.Errorf("enable the %s controller: %w", c, err)
		}
	}
	have, err := readFields(file)
	if err != nil {
		return fmt.Errorf("read back which controllers are enabled: %w", err)
	}
	for _, c := range controllers {
		if !slices.Contains(have, c) {
			return fmt.Errorf("enable the %s controller: wrote +%s to %s, which reads %q", c, c, file, strings.Join(have, " "))
		}
	}
	return nil
}

// fill finds the directories of a new group.
func (t *Tree) fill(g *Group, controllers []string) error {
	keys, _, err := t.hierarchies(controllers)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key == Unified || key == freezer {
			g.Dirs[key] = filepath.Join(t.at[key], g.Path)
		}
	}
	for _, c := range controllers {
		key, err := t.hierarchy(c)
		if err != nil {
			return err
		}
		g.setDir(c, filepath.Join(t.at[key], g.Path))
	}
	return nil
}

// Find lists the directories of groups whose names begin with prefix, in all hierarchies,
// sorted: possible leftovers of killed runs.
func (t *Tree) Find(prefix string) ([]string, error) {
	var found []string
	var errs []error
	for _, base := range t.at {
		entries, err := os.ReadDir(base)
		if err != nil {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
				found = append(found, filepath.Join(base, e.Name()))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), errors.Join(errs...)
}
