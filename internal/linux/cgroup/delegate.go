package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/proc"
)

// enableBase enables controllers in the group below which groups are made, which is not tare's
// own. If the kernel asks for that, it moves the processes there to a leaf first. It enables
// all controllers and not only those of the plan, since another run that had them enabled may
// have ended.
func (t *Tree) enableBase(p Plan, controllers []string) (err error) {
	if p.EnableAt == "" {
		return nil
	}
	if t.lock == nil {
		if t.lock, err = lockShared(p.EnableAt); err != nil {
			return err
		}
	}
	t.enables = true
	if p.Leaf != "" && t.leaf == "" {
		note(p.EnableAt, []string{noteLeaf})
		if err := t.moveToLeaf(p); err != nil {
			return err
		}
	}
	have, err := readFields(filepath.Join(p.EnableAt, "cgroup.subtree_control"))
	if err != nil {
		return fmt.Errorf("read which controllers are enabled: %w", err)
	}
	missing := without(controllers, have)
	if slices.Contains(missing, cpusetName) && !slices.Contains(p.Enable, cpusetName) {
		if p.Pinned, err = pinnedBelow(t.proc, p.EnableAt); err != nil {
			return fmt.Errorf("find the threads that are kept to some CPUs: %w", err)
		}
	}
	note(p.EnableAt, missing)
	t.enabled = append(t.enabled, without(slices.Concat(missing, without(p.Enable, missing)), t.enabled)...)
	err = t.enable(p.EnableAt, missing)
	return errors.Join(err, pinAgain(t.proc, p.Pinned))
}

// moveToLeaf moves all processes out of the own group.
func (t *Tree) moveToLeaf(p Plan) error {
	if err := t.checkMovable(p.EnableAt); err != nil {
		return err
	}
	if err := t.mkdir(p.Leaf); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	t.leaf = p.Leaf
	return t.moveAll(p.EnableAt, p.Leaf)
}

// checkMovable returns an error if a group has other processes than this one, its ancestors and its
// children, such as the guard: tare must not move those.
func (t *Tree) checkMovable(dir string) error {
	pids, err := readPids(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	own := t.ancestors(os.Getpid())
	for _, pid := range pids {
		if !slices.Contains(own, pid) && !slices.Contains(t.ancestors(pid), os.Getpid()) {
			return &Unusable{fmt.Sprintf("the own group %s holds other processes (%d, %s), and version 2 enables no controllers beside processes", dir, pid, t.command(pid)),
				"run tare in a group of its own: systemd-run --user --scope -p Delegate=yes tare run"}
		}
	}
	return nil
}

func (t *Tree) moveAll(from, to string) error {
	pids, err := readPids(filepath.Join(from, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range pids {
		err := t.write(filepath.Join(to, "cgroup.procs"), strconv.Itoa(pid))
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("move process %d: %w", pid, err)
		}
	}
	return nil
}

// disable takes back enableBase, unless other groups of this tree or other runs need it.
func (t *Tree) disable() error {
	if len(t.using) > 0 || !t.enables {
		return nil
	}
	var err error
	if t.lock != nil {
		err, t.lock = t.lock.Close(), nil
	}
	done, derr := disable(t.kernel, t.proc, Plan{Enable: t.enabled, EnableAt: t.at[Unified], Leaf: t.leaf})
	if done {
		t.enables, t.enabled, t.leaf = false, nil, ""
	}
	return errors.Join(err, derr)
}

// disable takes back the Enable part of a plan and everything else noted at the directory. done
// is false while a group that is not tare's uses one of the controllers. The last run that uses
// the directory takes back what others still use.
func disable(k kernel, root proc.FS, p Plan) (done bool, err error) {
	if p.EnableAt == "" {
		return true, nil
	}
	lock, err := lockExclusive(p.EnableAt)
	if lock == nil || err != nil {
		if errors.Is(err, os.ErrNotExist) { // the whole group is gone
			err = nil
		}
		return true, err
	}
	defer lock.Close()
	notes := noted(p.EnableAt)
	leaf := filepath.Join(p.EnableAt, leafName)
	p.Enable = slices.Concat(p.Enable, without(notes, slices.Concat(p.Enable, []string{noteLeaf})))
	var kept []Pinned
	if slices.Contains(p.Enable, cpusetName) {
		if kept, err = pinnedBelow(root, p.EnableAt); err != nil {
			return false, fmt.Errorf("find the threads that are kept to some CPUs: %w", err)
		}
	}
	off, err := disableAll(k, p)
	unnote(p.EnableAt, off)
	if err := errors.Join(err, pinAgain(root, kept)); err != nil || len(off) < len(p.Enable) {
		return false, err
	}
	if (p.Leaf != "" || slices.Contains(notes, noteLeaf)) && exists(leaf) {
		t := Tree{kernel: k}
		if err := t.moveAll(leaf, p.EnableAt); err != nil {
			return false, err
		}
		if err := k.rmdir(leaf); err != nil {
			return true, err
		}
	}
	unnote(p.EnableAt, notes)
	return true, nil
}

// disableAll disables those controllers of a plan that no other group uses, and returns them.
func disableAll(k kernel, p Plan) (off []string, err error) {
	for _, c := range p.Enable {
		if inUse(p.EnableAt, c) {
			continue
		}
		err := k.write(filepath.Join(p.EnableAt, "cgroup.subtree_control"), "-"+c)
		switch {
		case errors.Is(err, unix.EBUSY):
			continue
		case errors.Is(err, os.ErrNotExist): // the whole group is gone
			return p.Enable, nil
		case err != nil:
			return off, fmt.Errorf("disable the %s controller: %w", c, err)
		}
		off = append(off, c)
	}
	return off, nil
}

// ancestors are a process and its ancestors.
func (t *Tree) ancestors(pid int) []int {
	var all []int
	for pid > 0 && !slices.Contains(all, pid) {
		all = append(all, pid)
		p, err := t.proc.Process(pid)
		if err != nil {
			break
		}
		pid = p.Parent
	}
	return all
}

// command is the name of a process; "?" if it cannot be read.
func (t *Tree) command(pid int) string {
	if s, err := readFile(t.proc.Pid(pid, "comm")); err == nil {
		return s
	}
	return "?"
}
