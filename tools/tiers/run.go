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
	// Why has the lines of a failed tier's output that show why it failed.
	Why []string
}

// grace is how long a tier may take to end after SIGTERM, which it gets at its limit.
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
		err = nil // the command passed; a process that outlived it holds its output open
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("not done when the time for the whole CI run was over")
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
	failedLine   = regexp.MustCompile(`^\s*--- FAIL|^panic:|WARNING: DATA RACE|^FAIL\s+\S+`)
	beganLine    = regexp.MustCompile(`^\s*=== RUN\s+(\S+)`)
	finishedLine = regexp.MustCompile(`^\s*--- (?:PASS|FAIL|SKIP): (\S+)`)
)

// why returns the lines of a log that show a failure: the lines of failed tests with some lines after
// each, the names of tests that did not end, and the log's last lines.
func why(log string) []string {
	data, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	const after, most, last, width = 12, 60, 15, 240
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	var shown, running []string
	show := 0
	for _, line := range lines {
		if m := beganLine.FindStringSubmatch(line); m != nil {
			running = append(running, m[1])
		}
		if m := finishedLine.FindStringSubmatch(line); m != nil {
			running = slices.DeleteFunc(running, func(name string) bool { return name == m[1] })
		}
		if failedLine.MatchString(line) {
			show = after
		}
		if show > 0 && len(shown) < most {
			shown = append(shown, line)
		}
		show--
	}
	for _, name := range running[:min(len(running), 10)] {
		shown = append(shown, "not ended: "+name)
	}
	shown = append(shown, "its last lines:")
	shown = append(shown, lines[max(0, len(lines)-last):]...)
	for i, line := range shown {
		shown[i] = line[:min(len(line), width)]
	}
	return shown
}

// table prints a line for each result and each tier that was left out, and then the reasons of
// failures.
func table(out io.Writer, results []Result, left []Tier) {
	fmt.Fprintf(out, "\n%-22s %8s  %s\n", "step or tier", "seconds", "result")
	total := 0
	for _, r := range results {
		result := "passed"
		if r.Err != nil {
			result = "FAILED: " + r.Err.Error()
		}
		total += r.Seconds
		fmt.Fprintf(out, "%-22s %8d  %s\n", r.Tier.Name, r.Seconds, result)
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
