package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/linux/namespace"
	"github.com/tarelab/tare/internal/linux/oom"
	"github.com/tarelab/tare/record"
)

// The user that a neighbour runs as: nobody and nogroup.
const (
	nobodyUID = 65534
	nobodyGID = 65534
)

// Nobody is what a child becomes that must not be able to do any harm.
type Nobody struct {
	UID, GID int // 0: they stay as they are, for an ordinary user
	// CPU is the CPU time in seconds after which the kernel ends the process.
	CPU uint64
}

// neighbourControllers are those of the neighbour's group. Where the arm has a
// cpu group of its own the neighbour has one too: a container beside a
// container, else a process beside a process.
func neighbourControllers(groups Groups, n environment.Neighbour) []string {
	all := []string{"memory", "pids"}
	if slices.Contains(groups.Controllers, "cpu") {
		all = append(all, "cpu")
	}
	if groups.Tree.Can("cpuacct") == nil {
		all = append(all, "cpuacct")
	}
	if groups.Tree.Can("blkio") == nil { // to be counted
		all = append(all, "blkio")
	}
	for _, c := range n.Controllers {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

func (g *Sandbox) makeNeighbour(groups Groups) (err error) {
	n := *g.Spec.Neighbour
	if n.Limits.Memory == 0 || n.Limits.Pids == 0 || n.Time <= 0 {
		return errors.New("a neighbour needs limits of memory, processes and time")
	}
	if g.Neighbour, err = g.makeGroup(groups.Tree, neighbourPath(g.Spec), neighbourControllers(groups, n)); err != nil {
		return fmt.Errorf("make the neighbour's group: %w", err)
	}
	if _, err := g.Neighbour.Apply(n.Limits); err != nil {
		return fmt.Errorf("limit the neighbour: %w", err)
	}
	return nil
}

// fillNeighbour makes the neighbour's directory, its own and nobody else's,
// with a copy of its data set where it has one.
func (g *Sandbox) fillNeighbour(ctx context.Context) error {
	dir := g.neighbourDir()
	err := g.Record(journal.Directory(dir), func() error { return journal.RemoveDirectory(dir) })
	if err != nil {
		return err
	}
	if data := g.Spec.Neighbour.Data; data != "" {
		err = g.copyInto(ctx, g.Neighbour, data, dir)
	} else {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.Chmod(dir, 0o700) // not what the data set had
	}
	if err == nil && os.Geteuid() == 0 {
		err = clonetree.GiveAll(dir, nobodyUID, nobodyGID)
	}
	if err != nil {
		return fmt.Errorf("make the neighbour's directory: %w", err)
	}
	return nil
}

// neighbourDir is beside the arm's directory, which nobody can enter.
func (g *Sandbox) neighbourDir() string { return g.Dir + ".neighbour" }

// neighbourSettings reads back what keeps the host safe from the neighbour.
// What isolation mechanisms set is read back by them.
func (g *Sandbox) neighbourSettings() ([]record.Setting, error) {
	s := []record.Setting{{Name: "neighbour.cgroup", Got: g.Neighbour.Path}}
	safety := g.Neighbour
	safety.Controllers = []string{"memory", "pids"}
	limits, err := safety.Check(g.Spec.Neighbour.Limits)
	for _, l := range limits {
		l.Name = "neighbour." + l.Name
		s = append(s, l)
	}
	return s, err
}

// startNeighbour starts a process of the neighbour: on the host, in its group
// and directory, as the user nobody.
func (g *Sandbox) startNeighbour(ctx context.Context, p environment.Process) (environment.Running, error) {
	if g.Spec.Neighbour == nil {
		return nil, errors.New("start a neighbour: the arm has none")
	}
	if !exists(g.neighbourDir()) {
		if err := g.fillNeighbour(ctx); err != nil {
			return nil, err
		}
	}
	c := Inside(p)
	c.Group, c.Request.Dir = g.Neighbour, g.neighbourDir()
	c.Request.Nobody = &Nobody{CPU: uint64(g.Spec.Neighbour.Time / time.Second)}
	if os.Geteuid() == 0 {
		c.Request.Nobody.UID, c.Request.Nobody.GID = nobodyUID, nobodyGID
	}
	running, err := g.Start(ctx, c)
	if errors.Is(err, unix.EACCES) && os.Geteuid() == 0 {
		return nil, fmt.Errorf("start the neighbour: %w (this binary must be executable for everybody: chmod o+rx)", err)
	}
	return running, err
}

// nobody makes the child an ordinary user. Its exec follows: what it has open
// it keeps.
func nobody(n *Nobody) error {
	if n == nil {
		return nil
	}
	// Nothing else is to go first when memory runs out.
	if err := oom.Offer(oom.Neighbour); err != nil {
		return err
	}
	if n.CPU > 0 {
		limit := unix.Rlimit{Cur: n.CPU, Max: n.CPU}
		if err := unix.Setrlimit(unix.RLIMIT_CPU, &limit); err != nil {
			return fmt.Errorf("limit the neighbour's CPU time: %w", err)
		}
	}
	if n.UID != 0 {
		if err := namespace.Become(n.UID, n.GID); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("rule new privileges out: %w", err)
	}
	return nil
}
