package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// waits is a process that ends only when it is killed.
const waits = "__waits"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == waits {
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	if code, ok := hidden.Run(agent.Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// here is a machine that is this host.
type here struct{}

func (here) Name() string           { return "this host" }
func (here) Lost() environment.Exit { return environment.Exit{Code: -1, Err: errors.New("lost")} }
func (here) Quiet(time.Time)        {}
func (here) Heard()                 {}

func (here) Run(ctx context.Context, in io.Reader, out io.Writer, args []string) (string, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	err := cmd.Run()
	return said.String(), err
}

func (h here) Send(ctx context.Context, from io.Reader, _ time.Duration, args []string) (string, error) {
	return h.Run(ctx, from, nil, args)
}

// A guest has the data of each launch, one process at a time, and ends with its stream.
func TestGuest(t *testing.T) {
	top := t.TempDir()
	data := filepath.Join(top, "set")
	write(t, filepath.Join(data, "rows"), "as loaded")
	for name, kept := range map[string]string{"sent again": "", "copied": filepath.Join(top, "copy")} {
		t.Run(name, func(t *testing.T) {
			g := &Guest{Machine: here{}, Socket: filepath.Join(t.TempDir(), "ask"), Dir: filepath.Join(t.TempDir(), "data"), Lasting: true, Data: data, Copy: kept}
			first := exec.Command("/proc/self/exe", g.AgentArgs()...)
			first.Stderr = os.Stderr
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var undo []func() error
			if err := errors.Join(g.Fill(ctx), g.Join(ctx, func(back func() error) { undo = append(undo, back) })); err != nil {
				t.Fatal(err)
			}
			row := filepath.Join(g.Dir, "rows")
			write(t, row, "changed by a launch")
			p, err := g.Start(ctx, environment.Process{Args: []string{waits}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Start(ctx, environment.Process{Args: []string{waits}}); !errors.Is(err, environment.ErrBusy) {
				t.Errorf("a second process: %v", err)
			}
			if !g.Emptied() || !environment.Ended(p) || !g.Connected() {
				t.Errorf("emptied: the process has ended: %v, connected: %v", environment.Ended(p), g.Connected())
			}
			if err := g.Refill(ctx); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(row); string(b) != "as loaded" {
				t.Errorf("after Refill: %q, %v", b, err)
			}
			for _, back := range slices.Backward(undo) {
				if err := back(); err != nil {
					t.Error(err)
				}
			}
			if err := first.Wait(); err != nil {
				t.Errorf("the agent: %v", err)
			}
			if _, err := os.Stat(g.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the end left the data: %v", err)
			}
			select {
			case <-g.Link.Over():
			case <-ctx.Done():
				t.Error("the stream goes on")
			}
		})
	}
}

// The errors name the machine and what its process printed.
func TestUnfilled(t *testing.T) {
	g := &Guest{Machine: here{}, Dir: "/proc/none", Data: t.TempDir()}
	if err := g.Fill(t.Context()); err == nil || !bytes.Contains([]byte(err.Error()), []byte("into this host: exit status 1: ")) {
		t.Errorf("%v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
