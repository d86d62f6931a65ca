package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// adviceOf writes an advice with a proved remedy of these settings, and returns its directory.
func adviceOf(t *testing.T, home string, settings ...record.RemedySetting) string {
	t.Helper()
	first := 0
	dir := filepath.Join(home, fmt.Sprintf("advice-%d", len(settings)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	faster := record.RemedyResult{Launches: 3, Answer: record.Says{Word: record.SaysFaster}}
	err := record.WriteJSON(dir, record.AdviceFile, &record.Advice{Schema: record.AdviceSchema, Experiment: "made", Losses: []record.AdviceLoss{{
		Workload: "db", Metric: "throughput", Arm: "beside", Baseline: "alone", Standing: record.StandingProved, Remedy: &first, Proof: &faster,
		Candidates: []record.Candidate{{Remedies: []string{"made"}, Does: []string{"a remedy"}, Apply: settings, Result: &faster}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// tareSays runs tare and returns what it prints, with its exit code.
func tareSays(t *testing.T, home string, args ...string) (string, int) {
	t.Helper()
	cmd := commandLine(t, home, home, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// wantSaid checks exit code and texts.
func wantSaid(t *testing.T, home string, code int, texts []string, args ...string) {
	t.Helper()
	out, got := tareSays(t, home, args...)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("tare %s: no %q in\n%s", strings.Join(args, " "), text, out)
		}
	}
	if got != code {
		t.Errorf("tare %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
}

// quotaGroup is a control group of the user's. quota reads its file.
func quotaGroup(t *testing.T) (path string, quota func() string) {
	t.Helper()
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	point, file := tree.V1["cpu"], "cpu.cfs_quota_us"
	if point == "" {
		point, file = tree.V2, "cpu.max"
	}
	path = fmt.Sprintf("/users-%d", os.Getpid())
	if err := os.Mkdir(point+path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(point + path); err != nil {
			t.Error(err)
		}
	})
	quota = func() string {
		b, err := os.ReadFile(filepath.Join(point+path, file))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	if _, err := os.Stat(filepath.Join(point+path, file)); err != nil {
		testneed.Feature(t, "cpu controller", err)
	}
	return path, quota
}

// A proved remedy is applied to a control group, listed, left by cleanup, and taken back. What cannot be applied is
// refused, and nothing changes.
func TestApply(t *testing.T) {
	path, quota := quotaGroup(t)
	was, home, at := quota(), t.TempDir(), "cgroup:"+path
	slower := record.RemedySetting{On: record.OnNeighbour, Key: record.KeyCPUMax, Value: "0.5"}
	one := adviceOf(t, home, slower)
	both := adviceOf(t, home, slower, record.RemedySetting{On: record.OnLoad, Key: record.KeyCPUWeight, Value: "200"})
	net := adviceOf(t, home, slower, slower, record.RemedySetting{On: record.OnLoad, Key: record.KeyNetwork, Value: "host"})
	for _, c := range []struct {
		says []string
		args []string
		code int
	}{
		{[]string{"no terminal", "hint: --yes", "50000"}, []string{one, "--apply", at}, 2},
		{[]string{"cpu.max, cpu.weight of load and neighbour", "hint: --apply load=TARGET --apply neighbour=TARGET"},
			[]string{both, "--apply", at, "--yes"}, 2},
		{[]string{"also sets cpu.weight of the load", "hint: --apply load=TARGET"}, []string{both, "--apply", "neighbour=" + at, "--yes"}, 2},
		{[]string{"no setting for the load"}, []string{one, "--apply", "load=" + at, "--yes"}, 2},
		{[]string{"network of " + at, "when the container or pod starts", "hint: tare advise DIR -v"},
			[]string{net, "--apply", "load=" + at, "--apply", "neighbour=" + at, "--yes"}, 1},
		{[]string{"two targets of the neighbour"}, []string{one, "--apply", at, "--apply", at, "--yes"}, 2},
		{[]string{"no control group /users-none", "hint: name a path"}, []string{one, "--apply", "cgroup:/users-none", "--yes"}, 1},
		{[]string{"target \"vm:x\"", "hint: unit:NAME"}, []string{one, "--apply", "vm:x", "--yes"}, 2},
		{[]string{"--undo-after soon", "hint: --undo-after 2h"}, []string{one, "--apply", at, "--yes", "--undo-after", "soon"}, 2},
		{[]string{"needs the directory of an advice"}, []string{"colocation", "--apply", at, "--yes"}, 2},
		{[]string{"is no advice"}, []string{home, "--apply", at, "--yes"}, 2},
		{[]string{"without --apply"}, []string{one, "--yes"}, 2},
		{[]string{"without --undo"}, []string{"--forget"}, 2},
		{[]string{"--budget does nothing with --apply and --undo"}, []string{one, "--apply", at, "--yes", "--budget", "3m"}, 2},
		{[]string{"nothing is applied to " + at}, []string{"--undo", at}, 2},
		{[]string{"nothing is applied\n"}, []string{"--undo"}, 0},
	} {
		wantSaid(t, home, c.code, c.says, append([]string{"advise"}, c.args...)...)
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		wantSaid(t, home, 1, []string{"systemd does not run", "hint: leave the deadline out"},
			"advise", one, "--apply", at, "--yes", "--undo-after", "2h")
	}
	if quota() != was {
		t.Fatalf("refused, and the quota is %s", quota())
	}
	wantSaid(t, home, 0, []string{"applied as a", "the neighbour", "CPU used"}, "advise", one, "--apply", at, "--yes")
	applied := quota()
	wantSaid(t, home, 1, []string{"tare has set", "hint: tare advise --undo a"}, "advise", one, "--apply", at, "--yes")
	wantSaid(t, home, 0, []string{"stays: cpu", "nothing to clean up"}, "cleanup")
	wantSaid(t, home, 0, []string{`"applied": [`, `"state": "in force"`}, "doctor", "--format", "json")
	if quota() != applied || applied == was {
		t.Errorf("quota %s, then %s", was, applied)
	}
	wantSaid(t, home, 0, []string{"taken back"}, "advise", "--undo", at)
	if quota() != was {
		t.Errorf("quota %s, after the way back %s", was, quota())
	}
}

// An advice that another user could have written is not applied by root.
func TestApplyForeignAdvice(t *testing.T) {
	path, quota := quotaGroup(t)
	home, was := t.TempDir(), quota()
	dir := adviceOf(t, home, record.RemedySetting{On: record.OnLoad, Key: record.KeyCPUMax, Value: "0.5"})
	if err := os.Chown(filepath.Join(dir, record.AdviceFile), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	wantSaid(t, home, 1, []string{"is of user 65534", "hint: copy it"}, "advise", dir, "--apply", "cgroup:"+path, "--yes")
	if quota() != was {
		t.Errorf("quota %s, was %s", quota(), was)
	}
}

// A person confirms on a terminal. tare that is killed afterwards leaves the setting, until --undo.
func TestApplyConfirmed(t *testing.T) {
	path, quota := quotaGroup(t)
	home, was := t.TempDir(), quota()
	dir := adviceOf(t, home, record.RemedySetting{On: record.OnLoad, Key: record.KeyCPUMax, Value: "0.5"})
	for _, answer := range []string{"n\n", "y\n"} {
		master, slave, err := pty()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		cmd := commandLine(t, home, home, "advise", dir, "--apply", "cgroup:"+path)
		cmd.Env = append(cmd.Env, "TERM=xterm")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		if _, err := master.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		if answer == "y\n" {
			for end := time.Now().Add(time.Minute); quota() == was && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		err = cmd.Wait()
		if set := quota() != was; set != (answer == "y\n") || err == nil {
			t.Errorf("answer %q: quota %s, was %s; %v", answer, quota(), was, err)
		}
	}
	wantSaid(t, home, 0, []string{"stays: "}, "cleanup")
	if n, err := strconv.Atoi(strings.Fields(quota())[0]); err != nil || n <= 0 {
		t.Errorf("after cleanup: %s, %v", quota(), err)
	}
	wantSaid(t, home, 0, []string{"taken back"}, "advise", "--undo")
	if quota() != was {
		t.Errorf("quota %s, was %s", quota(), was)
	}
}
