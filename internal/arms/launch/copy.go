package launch

import (
	"context"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/clonetree"
)

// Copy is a directory tree that a child copies instead of executing a load. The child is in the arm's
// group by then.
type Copy struct{ From, To string }

// copyTree copies the tree, if there is one to copy, and ends the child.
func copyTree(c *Copy) error {
	if c == nil {
		return nil
	}
	err := clonetree.Copy(c.To, c.From)
	if err == nil {
		os.Exit(0)
	}
	return err
}

// FillVolume makes the data directory of the arm, with a copy of the data set if there is one. A
// child in the arm's group copies: the page cache of the copy is charged to the arm's group, and
// every arm begins with the same pages in memory.
func (g *Sandbox) FillVolume(ctx context.Context, dir string) error {
	return g.FillFor(ctx, g.Group, dir)
}

// FillFor is FillVolume with a child in another group.
func (g *Sandbox) FillFor(ctx context.Context, group cgroup.Group, dir string) error {
	if g.Spec.Data == "" {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		return nil
	}
	return g.copyInto(ctx, group, g.Spec.Data, dir)
}

// copyInto copies a data set to the new directory dir, by a child in the group.
func (g *Sandbox) copyInto(ctx context.Context, group cgroup.Group, data, dir string) error {
	c := g.Inside(environment.Process{})
	c.Group, c.Request.Copy = group, &Copy{From: data, To: dir}
	p, err := g.Start(ctx, c) // returns when the child has ended or failed
	if err != nil {
		return fmt.Errorf("copy the data set: %w", err)
	}
	<-p.Done()
	if e := p.Exit(); e.Code != 0 {
		return fmt.Errorf("copy the data set: exit code %d %s", e.Code, e.Signal)
	}
	return nil
}
