package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
)

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{&usageError{errors.New("x"), ""}, 2},
		{fmt.Errorf("plan: %w", experiment.Problems{{}}), 2},
		{hint.New(fmt.Errorf("open: %w", facts.ErrUnsupported), "y"), 5},
		{&signalError{syscall.SIGINT, run.ErrInterrupted}, 130},
		{&signalError{syscall.SIGTERM, run.ErrInterrupted}, 143},
		{errors.Join(&signalError{syscall.SIGHUP, run.ErrInterrupted}, errors.New("report")), 129},
		{&forcedError{signalError{syscall.SIGINT, run.ErrInterrupted}}, 130},
		{signalled(errors.Join(run.ErrInterrupted, facts.ErrUnsupported), syscall.SIGINT, 1), 130},
		{signalled(nil, syscall.SIGINT, 1), 0},
		{signalled(run.ErrInterrupted, 0, 0), 1},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit %d, want %d", c.err, got, c.want)
		}
	}
}

func TestFailPrintsTheHint(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &console{stderr: f, getenv: func(string) string { return "" }}
	if code := c.fail(hint.New(errors.New("no disk"), "--scratch DIR")); code != 1 {
		t.Errorf("exit %d", code)
	}
	got, _ := os.ReadFile(f.Name())
	if want := []byte("tare: no disk\nhint: --scratch DIR\n"); !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// An error that quotes a file does not have the file's escape sequences.
func TestFailIsHarmless(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &console{stderr: f, getenv: func(string) string { return "" }}
	c.fail(hint.New(errors.New("it begins with: \x1b[31mhello\x1b[0m \x1b]0;x\a\u202eworld"), "see \x1b[2Jx"))
	got, _ := os.ReadFile(f.Name())
	if want := "tare: it begins with: [31mhello[0m ]0;xworld\nhint: see [2Jx\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResultDir(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 5, 9, 0, time.UTC)
	if dir, err := resultDir("", at); err != nil || dir != "tare-result-2026-11-21-070509" {
		t.Errorf("%q, %v", dir, err)
	}
	full := t.TempDir()
	if dir, err := resultDir(newDir(full), at); err != nil || dir != full {
		t.Errorf("an empty directory is refused: %v", err)
	}
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := resultDir(newDir(full), at); exitCode(err) != 2 {
		t.Errorf("a full directory: %v", err)
	}
	if _, err := resultDir(newDir(filepath.Join(full, "x")), at); exitCode(err) != 2 {
		t.Errorf("a file: %v", err)
	}
}

// The command that repeats a run has all its settings and the seed.
func TestCommand(t *testing.T) {
	f := experimentFlags{Experiment: "quick", Budget: "1m", Seed: "7", Arms: []string{"host", "cgroup"}, Workload: []string{"rpc"}, Set: []string{"rpc.size=1"}}
	want := "[tare run quick --budget=1m --arms=host,cgroup --set=rpc.size=1 --workload=rpc --seed=9]"
	if got := fmt.Sprint(f.command(9)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
