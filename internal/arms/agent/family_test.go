package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
)

// noisy starts a load that starts a shell and waits for it.
func (p *pod) noisy(t *testing.T, within *Bounds, script string) *Process {
	t.Helper()
	memory, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	said, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { said.Close() })
	started, err := p.Start(t.Context(), environment.Process{
		Args: []string{load.Command, load.KindProgram, fmt.Sprintf(`{"args":["/bin/sh","-c",%q]}`, script)}, Files: []*os.File{memory.File(), said},
	}, t.TempDir(), within)
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// TestFamily checks that all descendants of the agent stop and go on, and that a process beyond its bounds
// is ended.
func TestFamily(t *testing.T) {
	p := newPod(t)
	tick := filepath.Join(t.TempDir(), "tick")
	started := p.noisy(t, nil, "sh -c 'while :; do echo x >>"+tick+"; sleep 0.01; done' & wait")
	size := func() int64 {
		st, err := os.Stat(tick)
		if err != nil {
			return 0
		}
		return st.Size()
	}
	goesOn := func() {
		t.Helper()
		for was := size(); size() == was; time.Sleep(time.Millisecond) {
			if environment.Ended(started) {
				t.Fatalf("%+v", started.Exit())
			}
		}
	}
	goesOn()
	f := p.Freezer()
	for range 3 {
		if err := f.Freeze(time.Minute); err != nil {
			t.Fatal(err)
		}
		was := size()
		time.Sleep(50 * time.Millisecond)
		if now := size(); now != was {
			t.Errorf("goes on while stopped: %d bytes, %d before", now, was)
		}
		if err := f.Thaw(); err != nil {
			t.Fatal(err)
		}
		goesOn()
	}
	if err := started.Kill(); err != nil {
		t.Error(err)
	}
	<-started.Done()
	if err := f.Freeze(time.Minute); err != nil {
		t.Errorf("nothing is there to stop: %v", err)
	}
	for why, c := range map[string]struct {
		Bounds
		script string
	}{
		"processes": {Bounds{Pids: 5}, "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; wait"},
		"memory":    {Bounds{Memory: 48 << 20}, "{ head -c 96M /dev/zero; sleep 100; } | tail -c 96M"},
	} {
		started := p.noisy(t, &c.Bounds, c.script)
		<-started.Done()
		if e := started.Exit(); e.Err == nil || !strings.Contains(e.Err.Error(), why) {
			t.Errorf("%s: %+v", why, e)
		}
	}
	if _, err := p.Watch(context.Background(), wire.WindowSpec{}); err == nil || errors.Is(err, ErrBroken) {
		t.Errorf("nothing runs there: %v", err)
	}
}

// A process that starts programs all the time is stopped at any moment: between vfork and exec a thread
// cannot stop, because it waits for a child that is stopped.
func TestStopsBetweenForkAndExec(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"shell":   "while :; do /bin/true; done",
		"threads": "exec " + self + " " + startsPrograms,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t)
			started := p.noisy(t, nil, script)
			f := p.Freezer()
			for i := range 60 {
				if err := f.Freeze(10 * time.Second); err != nil {
					t.Fatalf("freeze %d: %v", i, err)
				}
				if err := f.Thaw(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(i%7) * time.Millisecond)
			}
			if environment.Ended(started) {
				t.Errorf("it ended: %+v", started.Exit())
			}
			if err := started.Kill(); err != nil {
				t.Error(err)
			}
			<-started.Done()
		})
	}
}

// A start that fails leaves no descriptor open.
func TestAFailedStartLeavesNothingOpen(t *testing.T) {
	a := &agent{forkExec: syscall.ForkExec}
	opened := func() int {
		t.Helper()
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := opened()
	for n := range 5 {
		if _, err := a.start(request{Number: n + 1, Start: &start{Dir: "/no/such/directory", Threads: 1}}, nil); err == nil {
			t.Fatal("a process started in a directory that is not there")
		}
	}
	if after := opened(); after > before {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}
