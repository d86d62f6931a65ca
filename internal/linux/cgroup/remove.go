package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	errGone = unix.ENODEV
	// A killed process ends within milliseconds unless it waits for a disk. After killBound it
	// is reported and no longer waited for.
	killBound = 10 * time.Second
	killPause = 2 * time.Millisecond
)

// Kill kills every process in the group and below it, frozen or not, and returns when none is
// left. It refuses a group with this process.
func (g Group) Kill() error {
	if err := kill(g.Tree, g.dirs()); err != nil {
		if running := g.running(); len(running) > 0 { // in D state: a disk or a server that does not answer
			err = fmt.Errorf("%w: %v", err, running)
		}
		return fmt.Errorf("kill the processes of group %s: %w", g.Path, err)
	}
	return nil
}

// kill sends the signal again and again, because a process may fork between the listing and the
// signal.
func kill(k kernel, dirs []string) error {
	deadline := time.Now().Add(killBound)
	for {
		pids, err := pidsOf(dirs)
		if err != nil || len(pids) == 0 {
			return err
		}
		if slices.Contains(pids, os.Getpid()) {
			return errors.New("this very process is in it")
		}
		for _, dir := range dirs {
			// cgroup.kill (Linux 5.14) also reaches processes that are just forked.
			if exists(filepath.Join(dir, "cgroup.kill")) {
				_ = k.write(filepath.Join(dir, "cgroup.kill"), "1")
			}
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		thawAll(k, dirs)
		if time.Now().After(deadline) {
			return fmt.Errorf("%d left after %v, %v for example", len(pids), killBound, pids[0])
		}
		time.Sleep(killPause)
	}
}

func pidsOf(dirs []string) ([]int, error) {
	var all []int
	for _, dir := range dirs {
		pids, err := pidsBelow(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, pids...)
	}
	return all, nil
}

// thawAll thaws frozen processes, which get the pending signal only then. In version 2 a frozen
// process dies anyway; in version 1 it does not.
func thawAll(k kernel, dirs []string) {
	for _, dir := range dirs {
		_ = walk(dir, func(dir string) error {
			if s, err := readFile(filepath.Join(dir, "freezer.state")); err == nil && s != "THAWED" {
				_ = k.write(filepath.Join(dir, "freezer.state"), "THAWED")
			}
			return nil
		})
	}
}

// Remove kills all processes in the group and removes it with all below it, and the groups
// above that are empty then. A group that is gone is no error.
func (g Group) Remove() error {
	if g.Tree == nil || len(g.Dirs) == 0 {
		return nil
	}
	t := g.Tree
	t.mu.Lock()
	defer t.mu.Unlock()
	dirs := g.dirs()
	if g.hold != "" {
		dirs = append(dirs, g.hold)
	}
	err := removeDirs(t.kernel, dirs)
	if err == nil {
		delete(t.using, g.Path)
		err = t.disable()
	}
	if err != nil {
		return fmt.Errorf("remove group %s: %w", g.Path, err)
	}
	return nil
}

// Undo takes back a plan of Make, from any process: it kills the processes, removes the
// directories and disables the controllers, unless others use them.
func Undo(p Plan) error {
	for _, dir := range p.Dirs {
		if err := checkGroup(dir); err != nil {
			return err
		}
	}
	err := removeDirs(realKernel{}, p.Dirs)
	_, errDisable := disable(realKernel{}, "/", p)
	// tare may have been killed right after it enabled the cpuset controller.
	free, errFind := loosened("/", p.EnableAt, p.Pinned)
	return errors.Join(err, errDisable, errFind, pinAgain("/", free))
}

// checkGroup returns an error for a directory that is no control group. A plan comes from a
// file, and Undo kills the processes in its directories.
func checkGroup(dir string) error {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV):
		return nil // gone
	case err != nil:
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	case fs.Type != unix.CGROUP_SUPER_MAGIC && fs.Type != unix.CGROUP2_SUPER_MAGIC:
		return fmt.Errorf("%s is no control group", dir)
	}
	return nil
}

// removeDirs kills and removes the deepest of the directories and all below them; those above
// are removed if they are empty.
func removeDirs(k kernel, dirs []string) error {
	var leaves []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(dirs, func(d string) bool { return inside(d, dir) }) {
			leaves = append(leaves, dir)
		}
	}
	for _, dir := range leaves {
		if !tareOwn(dir) {
			return fmt.Errorf("%s is in no group of tare", dir)
		}
	}
	if err := kill(k, leaves); err != nil {
		return err
	}
	var errs []error
	for _, dir := range leaves {
		if err := removeTree(k, dir); err != nil {
			errs = append(errs, err)
			continue
		}
		for dir = filepath.Dir(dir); tareOwn(dir) && k.rmdir(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return errors.Join(errs...)
}

// tareOwn says whether a directory is a group of tare or below one.
func tareOwn(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(e string) bool {
		return strings.HasPrefix(e, Prefix) && e != leafName
	})
}

// removeTree removes a directory and those below it, children first.
func removeTree(k kernel, dir string) error {
	var all []string
	if err := walk(dir, func(d string) error {
		if !exists(d) {
			return os.ErrNotExist
		}
		all = append(all, d)
		return nil
	}); err != nil {
		return err
	}
	for _, d := range slices.Backward(all) {
		if err := rmdirRetry(k, d); err != nil {
			return err
		}
	}
	return nil
}

// rmdirRetry retries while the group is busy, which it is for a moment after its processes have
// ended.
func rmdirRetry(k kernel, dir string) error {
	deadline := time.Now().Add(killBound)
	for {
		err := k.rmdir(dir)
		switch {
		case err == nil || errors.Is(err, os.ErrNotExist):
			return nil
		case !errors.Is(err, unix.EBUSY) || time.Now().After(deadline):
			pids, _ := pidsBelow(dir)
			return &os.PathError{Op: "remove", Path: dir + " (processes " + join(pids) + ")", Err: err}
		}
		time.Sleep(killPause)
	}
}

func join(pids []int) string {
	if len(pids) == 0 {
		return "none"
	}
	s := make([]string, len(pids))
	for i, p := range pids {
		s[i] = strconv.Itoa(p)
	}
	return strings.Join(s, " ")
}
