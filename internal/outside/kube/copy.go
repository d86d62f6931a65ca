package kube

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
)

// selfBound is how long the copy of this binary into a pod may stall.
const selfBound = 3 * time.Minute

const selfPath = "/proc/self/exe"

// CopySelf copies this binary into a pod whose image has sh, head, wc, chmod and mv. Under
// the path to there is the whole binary or nothing.
func (c *Cluster) CopySelf(ctx context.Context, namespace, pod, to string) error {
	return c.copySelf(ctx, namespace, pod, to, "", "/bin/sh", "-c")
}

// CopyIntoHelper is CopySelf for a node helper. It makes helperStarted there first.
func (c *Cluster) CopyIntoHelper(ctx context.Context, s HelperSpec, to string) error {
	return c.copySelf(ctx, NamespaceOf(s.Run), HelperName, to, ": >"+helperStarted+" && ", s.shell()...)
}

// copySelf runs the shell command first before the copy.
func (c *Cluster) copySelf(ctx context.Context, namespace, pod, to, first string, shell ...string) error {
	f, err := os.Open(selfPath)
	if err != nil {
		return fmt.Errorf("find this binary: %w", err)
	}
	defer f.Close()
	if err := static(f); err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	// By size, because not every proxy forwards the end of the input.
	script := first + fmt.Sprintf(`head -c %d >%[2]s.part && chmod 755 %[2]s.part && [ $(wc -c <%[2]s.part) -eq %[1]d ] && mv %[2]s.part %[2]s`, st.Size(), to)
	if stderr, err := c.Send(ctx, namespace, pod, f, selfBound, append(shell, script)...); err != nil {
		return fmt.Errorf("%w: %s", err, stderr)
	}
	return nil
}

// static returns an error if a binary needs shared libraries, which a node may not have.
func static(f io.ReaderAt) error {
	e, err := elf.NewFile(f)
	if err != nil {
		return fmt.Errorf("look at this binary: %w", err)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			return hint.New(errors.New("this tare needs libraries that a node may not have"), "build it with CGO_ENABLED=0: make build")
		}
	}
	return nil
}
