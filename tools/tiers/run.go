package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Result is the outcome of one tier.
type Result struct {
	Tier    Tier
	Seconds int
	// Err is nil if it passed.
	Err error
	// Why are the lines of a failed tier's output that show the failure.
	Why []string
}

// grace is how long a tier may take to end its processes after its limit.
const grace = 2 * time.Minute

// run runs a tier's command from root and copies what it prints to out.
func run(ctx context.Context, root string, t Tier, out io.Writer) Result {
	fmt.Fprintf(out, "\n== %s: %s\n", t.Name, t.Run)
	began := time.Now()
	log, err := os.CreateTemp("", "tier-*")
	if err != nil {
		return Result{Tier: t, Err: err}
	}
	defer os.Remove(log.Name())
	defer log.Close()
	limited, cancel := context.WithTimeout(ctx, time.Duration(t.Limit)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(limited, "sh", "-c", t.Run)
	cmd.Dir = root
	cmd.Stdout = io.MultiWriter(out, log)
	cmd.Stderr = cmd.Stdout
	// The tier has its own process group, which gets SIGTERM at the limit.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	switch {
	case errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		err = nil // a process that outlived the command holds its output open
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("not done when the time of all was over")
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted")
	case limited.Err() != nil:
		err = fmt.Errorf("not done after %d s", t.Limit)
	}
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the rest of the group
	}
	r := Result{Tier: t, Seconds: int(time.Since(began).Seconds()), Err: err}
	if err != nil {
		r.Why = why(log.Name())
	}
	return r
}

var (
	failed   = regexp.MustCompile(`^\s*--- FAIL|^panic:|WARNING: DATA RACE|^FAIL\s+\S+`)
	began    = regexp.MustCompile(`^\s*=== RUN\s+(\S+)`)
	finished = regexp.MustCompile(`^\s*--- (?:PASS|FAIL|SKIP): (\S+)`)
)

// why returns the lines that show a failure: failed tests with the lines after them, tests that did
// not end, and the last lines.
func why(log string) []string {
	data, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	const after, most, last, width = 12, 60, 15, 240
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	var told, open []string
	show := 0
	for _, line := range lines {
		if m := began.FindStringSubmatch(line); m != nil {
			open = append(open, m[1])
		}
		if m := finished.FindStringSubmatch(line); m != nil {
			open = slices.DeleteFunc(open, func(name string) bool { return name == m[1] })
		}
		if failed.MatchString(line) {
			show = after
		}
		if show > 0 && len(told) < most {
			told = append(told, line)
		}
		show--
	}
	for _, name := range open[:min(len(open), 10)] {
		told = append(told, "not ended: "+name)
	}
	told = append(told, "its last lines:")
	told = append(told, lines[max(0, len(lines)-last):]...)
	for i, line := range told {
		told[i] = line[:min(len(line), width)]
	}
	return told
}

// table prints one line for each result, the tiers that were left out, and the reasons of failures.
func table(out io.Writer, results []Result, left []Tier) {
	fmt.Fprintf(out, "\n%-22s %8s  %s\n", "step or tier", "seconds", "result")
	total := 0
	for _, r := range results {
		said := "passed"
		if r.Err != nil {
			said = "FAILED: " + r.Err.Error()
		}
		total += r.Seconds
		fmt.Fprintf(out, "%-22s %8d  %s\n", r.Tier.Name, r.Seconds, said)
	}
	for _, t := range left {
		fmt.Fprintf(out, "%-22s %8s  not run, no time: make tiers TIERS=%s\n", t.Name, "", t.Name)
	}
	fmt.Fprintf(out, "%-22s %8d\n", "all", total)
	for _, r := range results {
		if r.Err != nil {
			fmt.Fprintf(out, "\n-- %s: %v\n%s\n", r.Tier.Name, r.Err, strings.Join(r.Why, "\n"))
		}
	}
}
