package enter

import (
	"errors"
	"io"
	"os"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// CopySelf writes this binary to a new file on the host, where arms can bind it into containers, and closes it.
func CopySelf(self *os.File, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, self)
	return errors.Join(err, f.Close(), self.Close())
}

// LeaveGroups moves this process out of the container's control groups, whose limits would apply to all that is
// measured: to the top of every hierarchy, and in that of version 2 or of the freezer into a group of its own
// without controllers. In a group of version 1's cpu controller tare's own thread could not have real-time
// priority. undo removes the group, which this process has to leave before. The tree is returned with an error
// too, unless none was found.
func LeaveGroups(j *journal.Journal, undo *journal.UndoStack) (tree *cgroup.Tree, group cgroup.Group, err error) {
	if tree, err = cgroup.Detect("/"); err != nil {
		return nil, group, err
	}
	name := cgroup.Prefix + j.Run()
	plan, err := tree.Plan(name, nil)
	if err == nil {
		err = undo.Record(j, steps.Group{Plan: plan}, func() error { return group.Remove() })
	}
	if err == nil {
		group, err = tree.Make(name, nil)
	}
	if err == nil {
		err = tree.Leave(os.Getpid())
	}
	if err == nil {
		err = group.Add(os.Getpid())
	}
	return tree, group, err
}
