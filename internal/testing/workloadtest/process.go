package workloadtest

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// patience is the time-out of every wait. It is long because the machine may be busy with other
// tests: no test fails for being slow.
const patience = 5 * time.Minute

// Main is the TestMain of a package that starts loads. tare starts loads and servers by executing its
// own binary; in a test that is the test binary, so Main handles these hidden commands.
func Main(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case load.Command:
			os.Exit(bodies.Main(os.Args[2:]))
		case serve.Command:
			os.Exit(serve.Main(os.Args[2:]))
		case serve.PrepareCommand:
			os.Exit(serve.PrepareMain(os.Args[2:]))
		}
	}
	os.Exit(runIn(m))
}

// runIn runs the tests with a temporary directory that it removes at the end, together with the files
// that several tests share.
func runIn(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tare-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")) // tests with the same parameters share a data set
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// atOnce is the least number of parallel tests: they mostly wait for servers.
const atOnce = 4

// Process is the process of a workload.Task.
type Process struct {
	cmd    *exec.Cmd
	done   chan struct{}
	mu     sync.Mutex
	stderr bytes.Buffer
}

// Write makes a Process the writer that collects its standard error.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

// Said is the text that the process has written to standard error.
func (p *Process) Said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// Start starts a task, with counters unless m is nil. The process is killed when the test ends.
func Start(t testing.TB, task workload.Task, m *counter.Memory) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command("/proc/self/exe", task.Args...), done: make(chan struct{})}
	p.cmd.Stderr = p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if m != nil {
		p.cmd.ExtraFiles = []*os.File{m.File()}
	}
	if err := child.Start(p.cmd, func(error) { close(p.done) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// Pid is the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatalf("send %v: %v (%s)", s, err, p.Said())
	}
}

// Exit waits for the end and returns the exit code, -1 after a signal.
func (p *Process) Exit(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%v does not end", p.cmd.Args[1:])
	}
	return p.cmd.ProcessState.ExitCode()
}

// Ended is true if the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// SignalAll sends a signal to the process and all its descendants.
func (p *Process) SignalAll(t testing.TB, s syscall.Signal) {
	t.Helper()
	p.Signal(t, s)
	all := family(p.cmd.Process.Pid)
	for _, pid := range all[1:] {
		if err := signalChild(pid, all, s); err != nil {
			t.Fatalf("send %v: %v", s, err)
		}
	}
}

// signalChild signals a process if it is still a child of one of the parents: its pid may have been
// reused.
func signalChild(pid int, parents []int, s syscall.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil // it has ended
	}
	_, after, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(after)
	ours := false
	for _, p := range parents {
		ours = ours || fields[1] == strconv.Itoa(p)
	}
	if !ours {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, s, nil, 0); err != nil && err != unix.ESRCH {
		return err
	}
	return nil
}

// stopAll stops the processes and their descendants (SIGSTOP) and returns when every thread of them is
// stopped.
func stopAll(t testing.TB, ps []*Process) {
	t.Helper()
	for _, p := range ps {
		p.SignalAll(t, unix.SIGSTOP)
	}
	for _, p := range ps {
		for _, pid := range family(p.cmd.Process.Pid) {
			Eventually(t, "stopped", func() bool { return stopped(t, pid) })
		}
	}
}

// family is a process and its descendants, parents first.
func family(pid int) []int {
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", out[i]))
		for _, file := range tasks {
			b, _ := os.ReadFile(file) // it may have ended
			for _, f := range strings.Fields(string(b)) {
				if child, err := strconv.Atoi(f); err == nil {
					out = append(out, child)
				}
			}
		}
	}
	return out
}

func stopped(t testing.TB, pid int) bool {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		b, err := os.ReadFile(dir + "/" + th.Name() + "/stat")
		if err != nil {
			return false
		}
		// "pid (name) state ...": the name may hold anything but a newline.
		_, after, _ := strings.Cut(string(b), ") ")
		if !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return true
}

// Eventually waits until holds returns true.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s after %v", what, patience)
		}
	}
}

// launchedLoad is a started load: its processes and counters.
type launchedLoad struct {
	Counters *counter.Memory
	Place    wire.Place
	// Processes are the server, if there is one, and the load.
	Processes []*Process
	// Windowed and Together are the fields of workload.Stages.
	Windowed *workload.Windowed
	Together int
}

// Load is the process that counts operations.
func (a *launchedLoad) Load() *Process { return a.Processes[len(a.Processes)-1] }

// Counters makes counters that are closed when the test ends.
func Counters(t testing.TB, threads int) *counter.Memory {
	t.Helper()
	m, err := counter.Create(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// launch prepares the data set in a new directory, then starts the server and the load. It returns when
// the load is ready.
func launch(t testing.TB, s workload.Stages) *launchedLoad {
	t.Helper()
	port := testneed.Address(t)
	at := wire.Place{Volume: t.TempDir(), Listen: port, Dial: port}
	if s.Prepare != nil {
		p := Start(t, s.Prepare(at.Volume), nil)
		if code := p.Exit(t); code != 0 {
			t.Fatalf("preparing ended with %d: %s", code, p.Said())
		}
		at.Volume = copied(t, at.Volume)
	}
	return relaunch(t, s, at)
}

// copied returns a directory with the prepared data set that is the test's own: dir itself if the data
// set is in it, or else a copy below dir.
func copied(t testing.TB, dir string) string {
	t.Helper()
	p, err := dataset.Resolve(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Dir == dir {
		return dir
	}
	own := filepath.Join(dir, "data")
	CopyTree(t, own, p.Dir)
	return own
}

// CopyTree copies a data set for one test, without the syncs of clonetree.
func CopyTree(t testing.TB, to, from string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", from, err, out)
	}
}

// relaunch starts the server and the load in a place where the data is already prepared.
func relaunch(t testing.TB, s workload.Stages, at wire.Place) *launchedLoad {
	t.Helper()
	a := &launchedLoad{Counters: Counters(t, s.Threads), Place: at, Windowed: s.Windowed, Together: s.Together}
	if s.Server != nil {
		server := Start(t, s.Server(at), nil)
		a.Processes = append(a.Processes, server)
		Eventually(t, "answering", func() bool {
			if server.Ended() {
				t.Fatalf("the server ended: %s", server.Said())
			}
			c, err := net.Dial("tcp", at.Dial)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
	}
	a.Processes = append(a.Processes, Start(t, s.Load(at), a.Counters))
	Eventually(t, "ready", func() bool {
		state, note := a.Counters.State()
		if state == counter.Failed || a.Load().Ended() {
			t.Fatalf("the load failed: %s %s", note, a.Load().Said())
		}
		return state == counter.Ready
	})
	return a
}

// Goes waits until the load has counted n more operations. If the load measures only on request
// (Windowed), Goes asks for one window instead.
func (a *launchedLoad) Goes(t testing.TB, n uint64) {
	t.Helper()
	from := a.Counters.Ops()
	if a.Windowed != nil {
		a.Window(t)
		return
	}
	Eventually(t, "counting", func() bool {
		if a.Load().Ended() {
			t.Fatalf("the load ended: %s", a.Load().Said())
		}
		return a.Counters.Ops() >= from+n
	})
}
