// Command tiers runs the steps and tiers of .ci/tiers. A step runs in every CI run. A tier is a set of
// tests that takes too long for that.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: tiers list            each step and tier, with its usual time
       tiers run [TIER...]   runs the named tiers, or all, and prints a table of the results
       tiers ci              runs what .ci/run runs: all steps, then as many tiers as fit into
                             45 minutes, in an order drawn by the commit`

// Times of a CI run in seconds. The first supposes that steps and tiers take their usual time.
const (
	ciSeconds   = 45 * 60
	mostSeconds = 85 * 60 // the limit even if something hangs: CI kills a run after 90 minutes
	reserve     = 30      // for the count at the end of .ci/run
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := tiers(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tiers:", err)
		os.Exit(1)
	}
}

func tiers(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	s, err := open()
	if err != nil {
		return err
	}
	switch args[0] {
	case "list":
		s.list()
		return nil
	case "run":
		return s.run(ctx, args[1:])
	case "ci":
		return s.ci(ctx)
	}
	return errors.New(usage)
}

// state has the tiers of the repository at root and the results so far.
type state struct {
	root    string
	began   time.Time
	file    File
	results []Result
}

func open() (*state, error) {
	root, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	s := &state{root: root, began: time.Now()}
	s.file, err = readFile(root)
	return s, err
}

// git returns what git prints in the working directory.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (s *state) list() {
	for _, t := range s.file.Tiers {
		when := ""
		if t.Always {
			when = "always"
		}
		fmt.Printf("%-22s %-7s %5d s  %s\n", t.Name, when, t.Takes, t.Run)
	}
}

func (s *state) run(ctx context.Context, names []string) error {
	chosen, err := s.file.pick(names)
	if err != nil {
		return err
	}
	s.do(ctx, chosen)
	return s.end(nil)
}

// ci runs the steps that always run, then as many of the tiers as the time allows.
func (s *state) ci(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(mostSeconds*time.Second))
	defer cancel()
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	var always []Tier
	for _, t := range s.file.Tiers {
		if t.Always {
			always = append(always, t)
		}
	}
	left := s.do(ctx, always)
	c := choose(s.file.Tiers, commit, ciSeconds-reserve-int(time.Since(s.began).Seconds()))
	left = append(left, s.do(ctx, c.Run)...)
	return s.end(append(left, c.Left...))
}

// do runs tiers and returns those that had not begun when the time was over.
func (s *state) do(ctx context.Context, tiers []Tier) (left []Tier) {
	for _, t := range tiers {
		if ctx.Err() != nil {
			left = append(left, t)
			continue
		}
		s.results = append(s.results, run(ctx, s.root, t, os.Stdout))
	}
	return left
}

// end prints the table, and fails if anything failed.
func (s *state) end(left []Tier) error {
	flaky(os.Stdout)
	table(os.Stdout, s.results, left)
	failed := 0
	for _, r := range s.results {
		if r.Err != nil {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(s.results))
	}
	return nil
}

// flaky prints the tests that failed and passed when run again, in this CI run or an earlier one on
// this machine (the file $TARETEST_FLAKY).
func flaky(out *os.File) {
	path := os.Getenv("TARETEST_FLAKY")
	if path == "" {
		return
	}
	data, err := os.ReadFile(filepath.Clean(path))
	if err == nil && len(data) > 0 {
		fmt.Fprintf(out, "\n-- tests that failed and passed when run again, each a fault to find (%s):\n%s", path, data)
	}
}
