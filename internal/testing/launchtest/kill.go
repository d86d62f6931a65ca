package launchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// held is the report of a process that holds an open arm.
type held struct{ Inside, Outside int }

// hold opens an arm below dir, starts a process in it and one beside it, prints their pids, and waits
// until the test kills it.
func hold(e environment.Environment, dir, run string) error {
	j, err := journal.Open(dir, run)
	if err != nil {
		return err
	}
	a, err := e.Open(context.Background(), environment.Spec{Run: run, Arm: "held", Scratch: dir, Port: 4000, Journal: j})
	if err != nil {
		return err
	}
	var pids [2]int
	for i, outside := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		p, err := a.Start(context.Background(), environment.Process{Args: []string{Look}, Files: []*os.File{w}, Outside: outside})
		if err != nil {
			return err
		}
		w.Close()
		if err := json.NewDecoder(r).Decode(&View{}); err != nil {
			return err
		}
		pids[i] = p.Pid()
	}
	if pause := a.Place().Pause; pause != nil {
		if err := pause.Freeze(time.Second); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(held{pids[0], pids[1]}); err != nil {
		return err
	}
	select {}
}

// Killed sends SIGKILL to a process that holds a frozen arm of the environment. It checks that all
// other processes end and that the journal takes back the rest. kinds are the kinds of steps that
// the environment writes, in addition to those of all arms.
func Killed(t *testing.T, e environment.Environment, kinds ...journal.Kind) {
	dir, run := t.TempDir(), fmt.Sprintf("k%x", time.Now().UnixNano())
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", holdCommand, e.Name(), dir, run)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var h held
	err = json.NewDecoder(out).Decode(&h)
	if kill := cmd.Process.Kill(); err != nil || kill != nil {
		t.Fatal(err, kill)
	}
	_ = cmd.Wait()
	for _, pid := range []int{h.Inside, h.Outside} {
		awaitGone(t, pid)
	}
	report, err := journal.Undo(dir, run, steps.Kinds(kinds...))
	if err != nil || len(report.Failed) > 0 {
		t.Errorf("undo: %+v, %v", report, err)
	}
	if left := groups(run); len(left) > 0 {
		t.Errorf("groups left: %v", left)
		cgroup.Undo(cgroup.Plan{Dirs: left})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tare-*")); len(left) > 0 {
		t.Errorf("directories left: %v", left)
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), run) {
		t.Errorf("mounts left:\n%s", b)
	}
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(b) == 0 { // a zombie has none
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("process %d lives on: %q", pid, b)
			return
		}
	}
}
