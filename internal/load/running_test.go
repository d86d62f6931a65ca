package load_test

import (
	"bytes"
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

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/workload/workloadtest"
)

// running is a load in a process of its own, with the counters of its test.
type running struct {
	t       testing.TB
	m       *counter.Memory
	process *exec.Cmd
	out     bytes.Buffer // after the end
	temp    string       // where it puts its temporary files
	ended   chan error
}

// launch starts it with these arguments; more are descriptors from 4 on.
func (p *running) launch(args []string, more ...*os.File) {
	p.t.Helper()
	p.process = exec.Command("/proc/self/exe", args...)
	temp, err := os.MkdirTemp("", "load") // a name that is short enough for a socket in it
	if err != nil {
		p.t.Fatal(err)
	}
	p.temp, p.process.Env = temp, append(os.Environ(), "TMPDIR="+temp)
	p.process.ExtraFiles = append([]*os.File{p.m.File()}, more...)
	p.process.Stdout, p.process.Stderr = &p.out, &p.out
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.process.Wait() }()
	p.t.Cleanup(func() { p.process.Process.Kill() })
}

// wait waits for the end and returns what was said.
func (p *running) wait(code int) string {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Minute):
		p.t.Fatal("it does not end")
	}
	if got := p.process.ProcessState.ExitCode(); got != code {
		p.t.Errorf("ended with %d, want %d\n%s", got, code, p.out.String())
	}
	return p.out.String()
}

func (p *running) ready() *running {
	p.t.Helper()
	workloadtest.Eventually(p.t, "ready", func() bool {
		state, note := p.m.State()
		if state == counter.Failed {
			p.t.Fatal(note)
		}
		return state == counter.Ready
	})
	return p
}

func (p *running) goes(n uint64) {
	p.t.Helper()
	from := p.m.Ops()
	workloadtest.Eventually(p.t, "counting", func() bool { return p.m.Ops() >= from+n })
}

// family are the process and what it started, by the name of their programs.
func (p *running) family() map[string]int {
	out := map[string]int{}
	parents := map[int]bool{p.process.Process.Pid: true}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	slices.SortFunc(files, func(a, b string) int { return pidOf(a) - pidOf(b) })
	for _, f := range files {
		var parent int
		stat, _ := os.ReadFile(f)
		_, after, _ := strings.Cut(string(stat), ") ")
		fmt.Sscanf(after, "%c %d", new(rune), &parent)
		exe, _ := os.Readlink(filepath.Join(filepath.Dir(f), "exe"))
		if pid := pidOf(f); parents[parent] || parents[pid] {
			parents[pid] = true
			out[filepath.Base(exe)] = pid
		}
	}
	return out
}

func pidOf(stat string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	return n
}

// kill ends one of the family.
func (p *running) kill(program string) {
	p.t.Helper()
	pid := p.family()[program]
	if pid <= 1 {
		p.t.Fatalf("no %s runs", program)
	}
	unix.Kill(pid, unix.SIGKILL)
}

func (p *running) signal(s unix.Signal) {
	for _, pid := range p.family() {
		unix.Kill(pid, s)
	}
}
