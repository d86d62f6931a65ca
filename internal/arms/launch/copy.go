package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/clonetree"
)

// copyTree is the hidden command that copies a directory tree. The process is in the arm's
// group by then, like a load. It writes its error to descriptor 3.
func copyTree(from, to string) int {
	if err := clonetree.Copy(to, from); err != nil {
		fmt.Fprint(os.NewFile(FirstFile, "answer"), err)
		return failed
	}
	return 0
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
	answer, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	c := g.Inside(environment.Process{Args: []string{copyCommand, data, dir}, Files: []*os.File{w}})
	c.Group = group
	p, err := g.Start(ctx, c)
	w.Close()
	if err != nil {
		return fmt.Errorf("copy the data set: %w", err)
	}
	failure, _ := io.ReadAll(answer)
	select {
	case <-p.Done():
	case <-ctx.Done():
		return fmt.Errorf("copy the data set: %w", ctx.Err()) // Close ends the child
	}
	if e := p.Exit(); e.Code != 0 {
		return fmt.Errorf("copy the data set: %s", strings.TrimSpace(fmt.Sprintf("%s (exit code %d %s)", failure, e.Code, e.Signal)))
	}
	return nil
}
