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

// copyWord makes Main copy a directory tree and end, once it is where it was
// put like any load.
const copyWord = "copy"

// copyTree is the child's side: what went wrong goes to descriptor 3.
func copyTree(from, to string) int {
	if err := clonetree.Copy(to, from); err != nil {
		fmt.Fprint(os.NewFile(FirstFile, "answer"), err)
		return failed
	}
	return 0
}

// FillVolume makes the data directory of the arm, with a copy of the data set
// where there is one. A child in the arm's group does the copying: the pages of
// the copy are charged to the group that is going to use them, and are in
// memory in every arm alike.
func (g *Sandbox) FillVolume(ctx context.Context, dir string) error {
	return g.FillFor(ctx, g.Group, dir)
}

// FillFor is FillVolume on behalf of another group than the arm's.
func (g *Sandbox) FillFor(ctx context.Context, group cgroup.Group, dir string) error {
	if g.Spec.Data == "" {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		return nil
	}
	return g.copyInto(ctx, group, g.Spec.Data, dir)
}

// copyInto makes dir a copy of a data set; a child in the group does it.
func (g *Sandbox) copyInto(ctx context.Context, group cgroup.Group, data, dir string) error {
	answer, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answer.Close()
	c := g.Inside(environment.Process{Args: []string{InitCommand, copyWord, data, dir}, Files: []*os.File{w}})
	c.Group = group
	p, err := g.Start(ctx, c)
	w.Close()
	if err != nil {
		return fmt.Errorf("copy the data set: %w", err)
	}
	said, _ := io.ReadAll(answer)
	select {
	case <-p.Done():
	case <-ctx.Done():
		return fmt.Errorf("copy the data set: %w", ctx.Err()) // Close ends the child
	}
	if e := p.Exit(); e.Code != 0 {
		return fmt.Errorf("copy the data set: %s", strings.TrimSpace(fmt.Sprintf("%s (exit code %d %s)", said, e.Code, e.Signal)))
	}
	return nil
}
