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

// stopBound is how much longer a program may take when nobody waits any longer.
const stopBound = 10 * time.Second

// call runs the engine's program and returns what it printed.
func (e Engine) call(ctx context.Context, args ...string) (string, error) {
	return e.feed(ctx, nil, args...)
}

// feed is call with an input. Podman that fails leaves its storage mounted, and Podman
// that succeeds takes that mount away.
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
		// The program does the work: half of that is worse than all.
		cmd.Cancel = func() error { return nil }
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for tare alone
	// Files and no pipes: what Podman leaves running keeps them open.
	var said [2]*os.File
	for i, name := range []string{"output", "errors"} {
		f, err := memfd.Create(name, nil)
		if err != nil {
			return "", err
		}
		defer f.Close()
		said[i] = f
	}
	cmd.Stdout, cmd.Stderr = said[0], said[1]
	if err := cmd.Run(); err != nil {
		return "", e.failed(ctx, args[0], err, textOf(said[1]))
	}
	return textOf(said[0]), nil
}

// flags stand before every command.
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

// failed says why a command has failed that printed a text.
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
		return ErrNone
	case has("no such image", "image not known"):
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
