package workloadtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire/counter"
)

// Running is a load that a test of a driver starts, with its counters.
type Running struct {
	T        testing.TB
	Counters *counter.Memory
	Process  *exec.Cmd
	Out      bytes.Buffer // after the end
	Temp     string       // directory of its temporary files
	ended    chan error
}

// launch starts the load with these arguments; more become descriptors from 4 on.
func (p *Running) Launch(args []string, more ...*os.File) {
	p.T.Helper()
	p.Process = exec.Command("/proc/self/exe", args...)
	temp, err := os.MkdirTemp("", "load") // short enough for the path of a socket
	if err != nil {
		p.T.Fatal(err)
	}
	p.Temp, p.Process.Env = temp, append(os.Environ(), "TMPDIR="+temp)
	p.Process.ExtraFiles = append([]*os.File{p.Counters.File()}, more...)
	p.Process.Stdout, p.Process.Stderr = &p.Out, &p.Out
	if err := p.Process.Start(); err != nil {
		p.T.Fatal(err)
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.Process.Wait() }()
	p.T.Cleanup(func() { p.Process.Process.Kill() })
}

// Wait waits for the end, checks the exit code and returns the output.
func (p *Running) Wait(code int) string {
	p.T.Helper()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Minute):
		p.T.Fatal("it does not end")
	}
	if got := p.Process.ProcessState.ExitCode(); got != code {
		p.T.Errorf("ended with %d, want %d\n%s", got, code, p.Out.String())
	}
	return p.Out.String()
}

// Ready waits until the load is ready.
func (p *Running) Ready() *Running {
	p.T.Helper()
	Eventually(p.T, "ready", func() bool {
		state, note := p.Counters.State()
		if state == counter.Failed {
			p.T.Fatal(note)
		}
		return state == counter.Ready
	})
	return p
}

// Goes waits for n more operations.
func (p *Running) Goes(n uint64) {
	p.T.Helper()
	from := p.Counters.Ops()
	Eventually(p.T, "counting", func() bool { return p.Counters.Ops() >= from+n })
}

// Family are the pids of the process and its descendants, by the names of their programs.
func (p *Running) Family() map[string]int {
	out := map[string]int{}
	parents := map[int]bool{p.Process.Process.Pid: true}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	slices.SortFunc(files, func(a, b string) int { return PidOf(a) - PidOf(b) })
	for _, f := range files {
		var parent int
		stat, _ := os.ReadFile(f)
		_, after, _ := strings.Cut(string(stat), ") ")
		fmt.Sscanf(after, "%c %d", new(rune), &parent)
		exe, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
		if pid := PidOf(f); parents[parent] || parents[pid] {
			parents[pid] = true
			out[filepath.Base(exe)] = pid
		}
	}
	return out
}

// PidOf is the pid in the path /proc/PID/stat.
func PidOf(stat string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	return n
}

// Kill kills the process of the family that runs a program.
func (p *Running) Kill(program string) {
	p.T.Helper()
	pid := p.Family()[program]
	if pid <= 1 {
		p.T.Fatalf("no %s runs", program)
	}
	unix.Kill(pid, unix.SIGKILL)
}

// Signal sends a signal to the whole family.
func (p *Running) Signal(s unix.Signal) {
	for _, pid := range p.Family() {
		unix.Kill(pid, s)
	}
}

// Asked requests a window and waits for the answer.
func (b *Running) Asked(length, discard time.Duration) (a counter.Answer) {
	b.T.Helper()
	r := b.Counters.Ask(length, discard)
	Eventually(b.T, "answered", func() (ok bool) {
		if state, note := b.Counters.State(); state == counter.Failed {
			b.T.Fatal(note)
		}
		a, ok = b.Counters.Answered(r, 0)
		return ok
	})
	return a
}

// LoadTask is the task of a load of this kind.
func LoadTask(t testing.TB, kind string, params any) workload.Task {
	t.Helper()
	b, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	return workload.Task{Args: []string{load.Command, kind, string(b)}}
}

// AwaitReady waits until a load is ready and has counted operations.
func AwaitReady(t *testing.T, p *Process, m *counter.Memory) {
	t.Helper()
	Eventually(t, "ready", func() bool {
		state, note := m.State()
		if state == counter.Failed || p.Ended() {
			t.Fatal(note, p.Said())
		}
		return state == counter.Ready && m.Ops() > 10
	})
}
