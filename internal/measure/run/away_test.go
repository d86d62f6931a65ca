package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// elsewhere is an environment whose processes an agent runs over a stream, as in a pod on another
// node. The agent runs on this host.
type elsewhere struct {
	name string
	last *lastStream
}

// lastStream is the process at the other end of the stream that was opened last.
type lastStream struct {
	sync.Mutex
	*exec.Cmd
	agent int // its other process
}

func (e elsewhere) Name() string                            { return e.name }
func (e elsewhere) Title() record.Said                      { return record.InProse(e.name) }
func (e elsewhere) Capabilities() environment.Capabilities  { return environment.Capabilities{} }
func (e elsewhere) Support(facts.Host) facts.Support        { return facts.Supported() }
func (e elsewhere) Changes(environment.Spec) []facts.Change { return nil }

func (e elsewhere) Open(ctx context.Context, s environment.Spec) (environment.OpenArm, error) {
	a := &elsewhereArm{as: s.Neighbour, dir: filepath.Join(s.Scratch, "tare-"+s.Run+"-"+s.Arm)}
	if err := os.Mkdir(a.dir, 0o755); err != nil {
		return nil, err
	}
	socket := filepath.Join(a.dir, "ask")
	a.agent = exec.Command("/proc/self/exe", agent.Args(socket, "")...)
	a.agent.Stderr = os.Stderr
	joined := exec.Command("/proc/self/exe", agent.JoinArgs(socket)...)
	in, err := joined.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out, err := joined.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(a.agent.Start(), joined.Start()); err != nil {
		return nil, err
	}
	a.joined = joined
	e.last.Lock()
	defer e.last.Unlock()
	e.last.Cmd, e.last.agent = joined, a.agent.Process.Pid
	a.link, err = agent.Connect(ctx, in, out, func() environment.Exit {
		return environment.Exit{Code: -1, Err: errors.New("was in a pod that is gone")}
	}, nil)
	return a, err
}

func (*elsewhereArm) Reproduction() (string, []byte) { return "", nil }

type elsewhereArm struct {
	dir           string
	as            *environment.Neighbour
	agent, joined *exec.Cmd
	link          *agent.Link
}

func (a *elsewhereArm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if a.as != nil {
		return a.link.Start(ctx, p, a.dir, &agent.Bounds{Memory: a.as.Limits.Memory, Pids: a.as.Limits.Pids})
	}
	return a.link.Start(ctx, p, a.dir, nil)
}

func (a *elsewhereArm) Place() wire.Place {
	p := wire.Place{Volume: a.dir, Remote: a.link}
	if a.as != nil {
		p.Pause = a.link.Freezer()
	}
	return p
}

func (a *elsewhereArm) Settings() ([]record.Setting, error) {
	seen, err := a.link.Look(context.Background())
	if err != nil {
		return nil, err
	}
	if a.as != nil {
		return []record.Setting{{Name: "bounds", Got: fmt.Sprint(a.as.Limits.Memory)}}, nil
	}
	return seen.Process, nil
}

func (a *elsewhereArm) Close() error {
	a.link.Close()
	_ = a.joined.Wait() // it may have been killed
	if err := a.agent.Wait(); err != nil {
		return fmt.Errorf("the agent did not end in order: %w", err)
	}
	return os.RemoveAll(a.dir)
}

// Arms on another node are rotated like others; the agent cuts their windows. An arm whose stream
// breaks loses its block and comes back with the next launch.
func TestAway(t *testing.T) {
	other := &lastStream{}
	c := catalog(plan.Rung{Environment: elsewhere{"base", &lastStream{}}}, plan.Rung{Environment: elsewhere{"other", other}, On: "base"})
	e := spinExperiment(12 * time.Second)
	e.Generations, e.Window, e.Discard = 2, 300*time.Millisecond, 10*time.Millisecond // long enough for a busy host
	cut := false
	r, out, err := executeShowing(t.Context(), t, e, c, func(now run.Event) {
		if now.Phase != "measure" || now.Generation != 0 || now.Block != 1 || cut {
			return
		}
		cut = true
		other.Lock()
		defer other.Unlock()
		if err := other.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err != nil || out.Reason != "budget" {
		t.Fatalf("run ended by %q: %v", out.Reason, err)
	}
	windows := map[string]int{}
	found, dropped, launched := false, 0, 0
	last := 0.0
	for _, l := range r.Lines {
		if p := l.Pilot; p != nil && p.Pause != "stream" {
			t.Errorf("paused by %q", p.Pause)
		}
		if w := l.Warning; w != nil && w.Arm == "other" && strings.Contains(said.English(w.Text), "a pod that is gone") {
			found = true
		}
		if l.Block == nil {
			continue
		}
		if l.Block.Generation == 0 {
			launched++
		}
		for _, w := range l.Block.Windows {
			if w.Dropped == record.DropDied {
				dropped++
			}
			if w.Dropped != "" {
				continue
			}
			windows[fmt.Sprint(w.Arm, l.Block.Generation)]++
			if w.Ops == 0 || w.Latency.Total() == 0 || w.Start <= last || w.Seconds < 0.3 || w.FirstSeconds <= 0 {
				t.Errorf("%s: %d operations in %v s from %v on, after %v", w.Arm, w.Ops, w.Seconds, w.Start, last)
			}
			last = w.Start
			if why := w.Probes["cpu.steal"].Reason(); !strings.Contains(said.English(why), "--node-helper") {
				t.Errorf("what only the node shows: %q", why)
			}
		}
	}
	if launched > 2 && (!found || dropped != 1) { // a busy host has time for less
		t.Errorf("said %v, %d windows dropped", found, dropped)
	}
	if windows["base0"] == 0 || windows["twin0"] == 0 || windows["base1"] > 0 && windows["other1"] == 0 { // a busy host has no time for the next launch
		t.Errorf("windows: %v", windows)
	}
	if s := r.Manifest.Settings["spin/other"]; len(s) == 0 {
		t.Error("nothing was read back")
	}
}
