package gvisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/oom"
	"github.com/tarelab/tare/internal/testing/launchtest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) { os.Exit(launchtest.Main(m, Container{})) }

func TestSandbox(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, runtime)
	launchtest.Arm(t, Container{}, false)
}

// The sandbox is the first victim of the host's out-of-memory killer: oom_score_adj of the load has effect
// only within the sandbox.
func TestGoesFirst(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, runtime)
	a := launchtest.Open(t, Container{}, nil)
	launchtest.Start(t, a, environment.Process{Args: []string{launchtest.Look}})
	pids, err := a.(*arm).Group.Pids()
	if err != nil || len(pids) < 2 {
		t.Fatalf("processes %v: %v", pids, err)
	}
	for _, pid := range pids {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		score, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if n, _ := strconv.Atoi(strings.TrimSpace(string(score))); err != nil || n < oom.Load {
			t.Errorf("%s has oom_score_adj %q (%v), want %d at least", name, score, err, oom.Load)
		}
	}
}

// deaf is a sandbox that does not notice the end of one of its processes.
type deaf struct{ done chan struct{} }

func (d deaf) Pid() int               { return 2 }
func (d deaf) Done() <-chan struct{}  { return d.done }
func (d deaf) Exit() environment.Exit { return environment.Exit{Code: failed + 9} }
func (d deaf) Kill() error            { close(d.done); return nil }

// The kernel may kill a process of a sandbox that the sandbox does not wait for.
func TestDeafToOOM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "memory.oom_control"), []byte("oom_kill 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &running{Running: deaf{make(chan struct{})}, ooms: 1, group: cgroup.Group{Dirs: map[string]string{"memory": dir}}}
	r.follow()
	select {
	case <-r.Done():
		t.Errorf("killed though nobody lacked memory: %+v", r.Exit())
	case <-time.After(3 * graceOfOOM):
	}
	if err := os.WriteFile(filepath.Join(dir, "memory.oom_control"), []byte("oom_kill 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	if got := r.Exit(); got != (environment.Exit{Code: -1, Signal: "SIGKILL", OOM: true}) {
		t.Errorf("%+v", got)
	}
}

func TestKilled(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, runtime)
	launchtest.Killed(t, Container{})
}

// An error of runsc has its message and is no exit code of the load.
func TestRefused(t *testing.T) {
	testneed.Root(t)
	testneed.Tool(t, runtime)
	a := launchtest.Open(t, Container{}, nil)
	a.(*arm).self += ".missing"
	p, err := a.Start(t.Context(), environment.Process{Args: []string{launchtest.Look}})
	if err == nil {
		<-p.Done()
		err = p.Exit().Err
	}
	if err == nil || len(err.Error()) < len("runsc: x") {
		t.Errorf("%v, want what runsc says", err)
	}
	t.Log(err)
}

func TestNotWithout(t *testing.T) {
	testneed.Tool(t, runtime)
	host := facts.Host{Root: true, Groups: &cgroup.Tree{}, Features: map[string]facts.Support{
		facts.FeatureOverlay: facts.Supported(),
	}}
	if got := (Container{}).Support(host); got != facts.Supported() {
		t.Errorf("%+v, want yes", got)
	}
	host.Groups, host.NoGroups = nil, facts.Unsupported(record.InProse("no groups"), record.InProse("make some"))
	if got := (Container{}).Support(host); said.English(got.Reason) != "no groups" {
		t.Errorf("%+v, want no, for there are no groups", got)
	}
	host.Root = false
	if got := (Container{}).Support(host); got.Answer != facts.No || got.Remedy.IsZero() {
		t.Errorf("%+v, want no with a remedy", got)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []environment.Container{{}, {Network: environment.NetworkHost}, {Capabilities: environment.NoCapabilities}} {
		if err := refuses(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []environment.Container{{Seccomp: environment.Unconfined}, {AppArmor: "mine"}, {Image: "x"}} {
		if err := refuses(c); !errors.Is(err, facts.ErrUnsupported) || hint.Of(err) == "" {
			t.Errorf("%+v: %v, want ErrUnsupported with a remedy", c, err)
		}
	}
}

func TestOrdinaryUser(t *testing.T) {
	launchtest.AsOrdinary(t, func(t *testing.T) {
		if _, err := (Container{}).Open(t.Context(), environment.Spec{}); !errors.Is(err, facts.ErrUnsupported) {
			t.Errorf("%v, want ErrUnsupported", err)
		}
	})
}
