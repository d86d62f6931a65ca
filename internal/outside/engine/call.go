package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/memfd"
)

// stopBound is how long a program may take to end after its context has ended.
const stopBound = 10 * time.Second

// call runs the engine's program and returns its standard output.
func (e Engine) call(ctx context.Context, args ...string) (string, error) {
	return e.feed(ctx, nil, args...)
}

// feed is call with standard input. A Podman command that fails leaves Podman's storage
// mounted; any command that succeeds unmounts it.
func (e Engine) feed(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out, err := e.run(ctx, in, args...)
	if err != nil && !e.kind.daemon {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
		defer cancel()
		_, _ = e.run(ctx, nil, "ps", "--quiet", "--filter", "name=^-$")
	}
	return out, err
}

func (e Engine) run(ctx context.Context, in io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.path, append(e.flags(), args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = append(os.Environ(), e.Env...), "/", in
	cmd.WaitDelay = stopBound
	if !e.kind.daemon {
		// Podman's program does the work itself: finished work is easier to undo.
		cmd.Cancel = func() error { return nil }
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for tare alone
	// Files instead of pipes: processes that Podman leaves running keep them open.
	var printed [2]*os.File
	for i, name := range []string{"output", "errors"} {
		f, err := memfd.Create(name, nil)
		if err != nil {
			return "", err
		}
		defer f.Close()
		printed[i] = f
	}
	cmd.Stdout, cmd.Stderr = printed[0], printed[1]
	run := cmd.Run
	if e.Namespaces != nil {
		run = func() error { return e.Namespaces.In(cmd.Run) }
	}
	if err := run(); err != nil {
		return "", e.failed(ctx, args[0], err, textOf(printed[1]))
	}
	return textOf(printed[0]), nil
}

// flags are the global flags, before the command.
func (e Engine) flags() []string {
	all := append([]string(nil), e.kind.flags...)
	if e.address != "" {
		all = append(all, "--host", e.address)
	}
	if e.Runtime != "" {
		all = append(all, "--runtime", e.Runtime)
	}
	return all
}

// failed is the error of a command that failed and printed a text.
func (e Engine) failed(ctx context.Context, command string, err error, text string) error {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(strings.ToLower(text), w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("no such container", "no container with name or id"):
		return errNone
	case has("no such image", "image not known", "unrecognized image id"): // the last: another name of it was removed at the same time
		return ErrNoImage
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s: %w", e.Name(), command, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return hint.New(fmt.Errorf("%s %s: %w", e.Name(), command, err), "install the program "+e.Name()+": "+e.kind.packages)
	}
	return fmt.Errorf("%s %s: %w: %s", e.Name(), command, err, text)
}

func textOf(f *os.File) string {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	return strings.TrimSpace(string(b))
}
