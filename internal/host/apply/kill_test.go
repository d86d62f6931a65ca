package apply

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// Environment of the process that is killed.
const (
	killEnv  = "TARETEST_APPLY_KILL"  // before which call of an owner
	groupEnv = "TARETEST_APPLY_GROUP" // its target
	stateEnv = "TARETEST_APPLY_STATE" // its directory of journals
	undoEnv  = "TARETEST_APPLY_UNDO"  // it takes back instead
)

// mortal is a target whose process kills itself before or after a call.
type mortal struct {
	thing
	calls, last int
}

func (m *mortal) die() {
	if m.calls++; m.calls == m.last {
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
}

func (m *mortal) read(ctx context.Context, s Step) (string, error) {
	m.die()
	return m.thing.read(ctx, s)
}

func (m *mortal) write(ctx context.Context, s Step, value string) error {
	m.die() // the step is in the journal, the change is not made
	err := m.thing.write(ctx, s, value)
	m.die()
	return err
}

func (m *mortal) restore(ctx context.Context, s Step) error {
	m.die()
	err := m.thing.restore(ctx, s)
	m.die()
	return err
}

// two are settings with two steps.
func two() []record.RemedySetting {
	return append(setting(record.KeyCPUMax, "0.5"), setting(record.KeyCPUIdle, "1")...)
}

// TestKilledChild is the process that is killed.
func TestKilledChild(t *testing.T) {
	last, err := strconv.Atoi(os.Getenv(killEnv))
	if err != nil {
		t.Skip("it is a process of TestKilledAtEachStep")
	}
	target := Target{kindGroup, os.Getenv(groupEnv)}
	if os.Getenv(undoEnv) != "" {
		left, err := journal.Leftovers(os.Getenv(stateEnv), kinds())
		if err != nil || len(left) != 1 {
			t.Fatalf("%+v, %v", left, err)
		}
		it, _, err := find(t.Context(), target, kube.Access{})
		m := &mortal{it, 0, last}
		for i := len(left[0].Held) - 1; i >= 0 && err == nil; i-- {
			err = left[0].Held[i].(Step).release(t.Context(), m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	p, err := Plan(t.Context(), target, kube.Access{}, two(), nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(os.Getenv(stateEnv), "r1")
	if err != nil {
		t.Fatal(err)
	}
	p.it = &mortal{p.it, 0, last}
	if err := p.Make(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// child runs TestKilledChild and says whether it was killed.
func child(t *testing.T, path, state string, last int, env ...string) (killed bool) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestKilledChild$")
	cmd.Env = append(os.Environ(), fmt.Sprint(killEnv, "=", last), groupEnv+"="+path, stateEnv+"="+state)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed = ok && status.Signaled()
	if err != nil && !killed {
		t.Fatalf("%v: %s", err, out)
	}
	return killed
}

// A process that is killed at any step of a change, or of the way back, leaves settings that are in force or not; cleanup
// leaves them, and the way back restores all.
func TestKilledAtEachStep(t *testing.T) {
	path := userGroup(t)
	before := files(t, path)
	for _, undo := range []bool{false, true} {
		steps := 0
		for last := 1; ; last++ {
			state := t.TempDir()
			var killed bool
			if undo {
				child(t, path, state, 0)
				killed = child(t, path, state, last, undoEnv+"=1")
			} else {
				killed = child(t, path, state, last)
			}
			least := 0 // before the first step is written
			if undo || !killed {
				least = 2
			}
			afterKill(t, path, state, least)
			if after := files(t, path); after != before {
				t.Fatalf("undo %v, killed at %d: before\n%safter\n%s", undo, last, before, after)
			}
			if !killed {
				break
			}
			steps++
		}
		if steps < 6 {
			t.Errorf("undo %v: killed at %d steps", undo, steps)
		}
	}
}

// afterKill looks at the journal of a killed process, which has at least some steps, as tare doctor, cleanup and advise --undo do.
func afterKill(t *testing.T, path, state string, least int) {
	t.Helper()
	left, err := journal.Leftovers(state, kinds())
	if err != nil || len(left) != 1 || left[0].Live || len(left[0].Held) < least {
		t.Fatalf("%+v, %v", left, err)
	}
	for _, h := range left[0].Held {
		if got := stateOf(t, h.(Step)); got != InForce && got != NotSet {
			t.Errorf("%s is %s", h, got)
		}
	}
	was := files(t, path)
	if r, err := journal.Undo(state, "r1", kinds()); err != nil || len(r.Undone)+len(r.Failed) > 0 || files(t, path) != was {
		t.Errorf("cleanup: %+v, %v", r, err)
	}
	if len(left[0].Held) == 0 {
		return // cleanup has removed the journal
	}
	if r, err := journal.Release(state, "r1", kinds()); err != nil || len(r.Failed) > 0 || len(r.Undone) != len(left[0].Held) {
		t.Errorf("release: %+v, %v", r, err)
	}
	if left, err := journal.Leftovers(state, kinds()); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}
