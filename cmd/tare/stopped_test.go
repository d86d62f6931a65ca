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

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// stoppedWindow is the window of runs that are stopped: tare is within one for most of the time.
const stoppedWindow = 300 * time.Millisecond

const stoppedExperiment = `title: a run that is stopped
budget: 30s
window: 300ms
neighbours:
  hogs: {kind: spin, params: {threads: 2}}
arms:
  host: {environment: host}
  cgroup: {environment: cgroup}
  runc: {environment: runc}
  beside: {environment: cgroup, neighbour: hogs}
workloads:
  oltp: {kind: oltp, params: {mode: read_only}}
`

// stoppedRun is a run that is stopped in the middle and goes on.
type stoppedRun struct {
	t     *testing.T
	state string
	group cgroup.Group // that tare is in
	cmd   *exec.Cmd
	said  strings.Builder
}

func newStopped(t *testing.T) *stoppedRun {
	t.Helper()
	tree, err := cgroup.Detect("/")
	must(t, err)
	s := &stoppedRun{t: t, state: t.TempDir()}
	must(t, os.Mkdir(s.scratch(), 0o755))
	s.group, err = tree.Make(fmt.Sprint("tare-service", os.Getpid()), nil)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(s.group.Kill(), s.group.Remove())) })
	return s
}

func (s *stoppedRun) dir() string { return filepath.Join(s.state, "result") }

func (s *stoppedRun) scratch() string { return filepath.Join(s.state, "scratch") }

func (s *stoppedRun) tool(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.state, "XDG_CACHE_HOME="+s.state, hostlock.DirEnv+"="+s.state)
	return cmd
}

// start starts the run and waits until it measures.
func (s *stoppedRun) start() {
	s.t.Helper()
	file := filepath.Join(s.state, "experiment.yaml")
	must(s.t, os.WriteFile(file, []byte(stoppedExperiment), 0o600))
	s.cmd = s.tool("run", file, "--force", "--no-progress", "--scratch", s.scratch(), "-o", s.dir())
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	must(s.t, errors.Join(s.cmd.Start(), s.group.Add(s.cmd.Process.Pid)))
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(read(filepath.Join(s.dir(), record.RecordFile)), `"block"`); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			_ = s.cmd.Process.Kill()
			s.t.Fatalf("it measures nothing:\n%s", s.said.String())
		}
	}
}

func (s *stoppedRun) signal(sig syscall.Signal) { must(s.t, s.cmd.Process.Signal(sig)) }

// used returns the CPU time of the control groups of the run, in ns.
func (s *stoppedRun) used() (ns int64, processes int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		if !strings.Contains(read(dir+"/cgroup"), "/tare-"+runID(s.dir())) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if n, err := sched.ProcessCPUOf(pid); err == nil {
			ns, processes = ns+n, processes+1
		}
	}
	return ns, processes
}

// halt is a way to stop tare, and to let it go on.
type halt struct{ stop, resume func(*stoppedRun) }

var bySignal = halt{
	func(s *stoppedRun) { s.signal(syscall.SIGSTOP) },
	func(s *stoppedRun) { s.signal(syscall.SIGCONT) },
}

// inWindow stops tare while an arm runs.
func (s *stoppedRun) inWindow(stop, resume func(*stoppedRun)) {
	for {
		stop(s)
		before, _ := s.used()
		time.Sleep(300 * time.Millisecond)
		if after, _ := s.used(); after > before {
			return
		}
		resume(s) // it was between two windows
		time.Sleep(97 * time.Millisecond)
	}
}

// silent waits until the guard has found out that tare is silent, and fails if the arms run then.
func (s *stoppedRun) silent() {
	s.t.Helper()
	time.Sleep(launch.Grace + stoppedWindow + 3*time.Second)
	before, processes := s.used()
	time.Sleep(4 * time.Second)
	after, still := s.used()
	if after != before || processes != still || processes == 0 {
		s.t.Errorf("%d processes of the arms used %v while tare was stopped, and %d are left", processes, time.Duration(after-before), still)
	}
}

// end waits for the end of the run and counts in its record the dropped windows by their reasons,
// and the warnings.
func (s *stoppedRun) end(before hostLook) (dropped map[string]int, warned int) {
	s.t.Helper()
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%v\n%s", err, s.said.String())
	}
	readable(s.t, s.tool, s.dir(), nil)
	r, err := record.Read(s.dir())
	must(s.t, err)
	dropped = map[string]int{}
	kept := 0
	for _, l := range r.Lines {
		if l.Warning != nil && strings.HasPrefix(said.English(l.Warning.Text), launch.ErrSilent.Error()) {
			warned++
		}
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			switch {
			case w.Dropped != "":
				dropped[w.Dropped]++
			case w.Seconds > 2*stoppedWindow.Seconds():
				s.t.Errorf("a window of %g s is kept", w.Seconds)
			default:
				kept++
			}
		}
	}
	if last := r.Lines[len(r.Lines)-1]; last.End == nil || kept == 0 {
		s.t.Errorf("%d windows are kept; the last line is %+v", kept, last)
	}
	for _, left := range before.left(s.t, time.Minute, []string{s.scratch()}, s.state, runID(s.dir())) {
		s.t.Error(left)
	}
	s.t.Logf("%d windows kept, dropped: %v", kept, dropped)
	return dropped, warned
}

// TestStopped: tare is stopped in the middle of a run. Soon its arms do not run either, and they
// stay so until tare is back. tare then ends the run as if nothing had happened, without the window
// that was open.
func TestStopped(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "runc")
	silent := 0
	for name, how := range map[string]halt{
		"by a signal": bySignal,
		"with its control group": {
			func(s *stoppedRun) { s.freeze((*cgroup.Freezer).Ask) },
			func(s *stoppedRun) { s.freeze((*cgroup.Freezer).Thaw) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStopped(t)
			before := lookAtHost(t, s.scratch())
			s.start()
			s.inWindow(how.stop, how.resume)
			s.silent()
			how.resume(s)
			dropped, warned := s.end(before)
			if silent += dropped[record.DropSilent]; dropped[record.DropSilent] > 1 || warned != 1 {
				t.Errorf("dropped: %v, %d warnings", dropped, warned)
			}
		})
	}
	if silent == 0 { // one alone may have been a window that is never recorded, as of a pilot
		t.Error("no window was dropped")
	}
}

func (s *stoppedRun) freeze(how func(*cgroup.Freezer) error) {
	s.t.Helper()
	f, err := s.group.Freezer()
	must(s.t, err)
	must(s.t, errors.Join(how(f), f.Close()))
}

// TestStoppedForAMoment: no window counts that lasted much longer than planned.
func TestStoppedForAMoment(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "runc")
	s := newStopped(t)
	before := lookAtHost(t, s.scratch())
	s.start()
	for range 6 {
		s.signal(syscall.SIGSTOP)
		time.Sleep(1500 * time.Millisecond)
		s.signal(syscall.SIGCONT)
		time.Sleep(437 * time.Millisecond)
	}
	if dropped, warned := s.end(before); dropped[record.DropLong] == 0 || warned != 0 {
		t.Errorf("dropped: %v, %d warnings", dropped, warned)
	}
}

// TestStoppedAndKilled: tare is stopped and then killed; what the guard froze is taken back like
// the rest.
func TestStoppedAndKilled(t *testing.T) {
	testneed.Long(t, "kill")
	testneed.Root(t)
	testneed.Tool(t, "runc")
	s := newStopped(t)
	before := lookAtHost(t, s.scratch())
	s.start()
	s.inWindow(bySignal.stop, bySignal.resume)
	s.silent()
	must(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	readable(t, s.tool, s.dir(), nil)
	for _, left := range before.left(t, time.Minute, []string{s.scratch()}, s.state, runID(s.dir())) {
		t.Error(left)
	}
}
