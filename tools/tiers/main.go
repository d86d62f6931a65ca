// Command tiers runs the steps and tiers of .ci/tiers. A step runs in every CI run. A tier is a set of
// tests that takes too long for that: it is due when a file on which it depends has changed since it
// passed last.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: tiers list            each tier, and whether it passed for HEAD
       tiers run [TIER...]   runs the named tiers, or all; "tiers run due" runs those that
                             have not passed for HEAD. Writes passed tiers to .ci/passed
       tiers ci              runs what .ci/run runs: all steps, then as many tiers as fit
                             into 45 minutes`

// Times of a CI run in seconds. The first two suppose that steps and tiers take their usual time.
const (
	ciSeconds   = 45 * 60
	soonSeconds = 20 * 60 // if few tiers are due; see choose
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
		return s.list()
	case "run":
		return s.run(ctx, args[1:])
	case "ci":
		return s.ci(ctx)
	}
	return errors.New(usage)
}

// state has the tiers, their hashes for HEAD and the hashes with which they passed last.
type state struct {
	root   string
	began  time.Time
	file   File
	hashes map[string]string
	passed map[string]string
	// clean is true if the working tree does not differ from HEAD.
	clean   bool
	results []Result
}

func open() (*state, error) {
	top, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	s := &state{root: strings.TrimSpace(top), began: time.Now()}
	if s.file, err = readFile(s.root); err != nil {
		return nil, err
	}
	if s.hashes, err = s.file.hashes(s.root); err != nil {
		return nil, err
	}
	if s.passed, err = readPassed(s.root); err != nil {
		return nil, err
	}
	s.clean, err = clean(s.root)
	return s, err
}

func (s *state) list() error {
	for _, t := range s.file.Tiers {
		status := "due"
		switch {
		case t.Always:
			status = "always"
		case s.passed[t.Name] == s.hashes[t.Name]:
			status = "passed"
		}
		fmt.Printf("%-22s %-7s %5d s  %s\n", t.Name, status, t.Takes, t.Run)
	}
	return nil
}

func (s *state) run(ctx context.Context, names []string) error {
	due := len(names) == 1 && names[0] == "due"
	if due {
		names = nil
	}
	chosen, err := s.file.pick(names)
	if err != nil {
		return err
	}
	if !s.clean {
		fmt.Println("the working tree differs from HEAD: passed tiers are not written to " + passedFile)
	}
	for _, t := range chosen {
		if ctx.Err() == nil && !(due && s.passed[t.Name] == s.hashes[t.Name]) {
			s.do(ctx, t)
		}
	}
	return s.end(nil)
}

// ci runs the steps that always run, then as many of the tiers as the time allows.
func (s *state) ci(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, s.began.Add(mostSeconds*time.Second))
	defer cancel()
	for _, t := range s.file.Tiers {
		if t.Always && ctx.Err() == nil {
			s.do(ctx, t)
		}
	}
	commit, err := git(s.root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	used := reserve + int(time.Since(s.began).Seconds())
	c := choose(s.file.Tiers, s.hashes, s.passed, strings.TrimSpace(commit), ciSeconds-used, soonSeconds-used)
	for _, t := range c.Run {
		if ctx.Err() != nil {
			c.Left = append(c.Left, t)
			continue
		}
		s.do(ctx, t)
	}
	return s.end(c.Left)
}

// do runs a tier. If it passes and no file changed meanwhile, do writes it to .ci/passed.
func (s *state) do(ctx context.Context, t Tier) {
	r := run(ctx, s.root, t, os.Stdout)
	s.results = append(s.results, r)
	if r.Err != nil || t.Always || !s.clean {
		return
	}
	now, err := s.file.hashes(s.root)
	if still, failed := clean(s.root); err != nil || failed != nil || !still || now[t.Name] != s.hashes[t.Name] {
		fmt.Printf("%s passed; files changed meanwhile, so it is not written to %s\n", t.Name, passedFile)
		return
	}
	s.passed[t.Name] = s.hashes[t.Name]
	if err := s.file.writePassed(s.root, s.passed); err != nil {
		fmt.Println(err)
	}
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
