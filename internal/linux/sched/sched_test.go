package sched

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// attrs is the scheduling of the calling thread.
func attrs(t testing.TB) unix.SchedAttr {
	t.Helper()
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return *a
}

func TestProtectAndUndo(t *testing.T) {
	testneed.Root(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := attrs(t)
	how, undo, err := Protect()
	if how != fifo || err != nil {
		t.Errorf("as root: %q, %v", how, err)
	}
	a := attrs(t)
	if a.Policy != unix.SCHED_FIFO || a.Priority != fifoPriority || a.Flags&unix.SCHED_FLAG_RESET_ON_FORK == 0 {
		t.Errorf("protected: %+v", a)
	}
	if slack, _ := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); slack > 1 {
		t.Errorf("timer slack is %d ns", slack)
	}
	undo()
	if after := attrs(t); after != before {
		t.Errorf("after undo %+v, before %+v", after, before)
	}
}

func TestChildrenDoNotInheritTheTurn(t *testing.T) {
	testneed.Root(t)
	chrt := testneed.Tool(t, "chrt")
	_, undo, err := Protect()
	defer undo()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", chrt+" -p $$").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "SCHED_OTHER") {
		t.Errorf("scheduling of a child: %s, %v", out, err)
	}
}

// TestOrdinaryUser drops the capability of the thread and calls Protect: the thread goes on
// unprotected, with the reason.
func TestOrdinaryUser(t *testing.T) {
	testneed.Root(t)
	if os.Getenv("TARETEST_SCHED_CHILD") == "" {
		uid, _ := testneed.Ordinary(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestOrdinaryUser$", "-test.v")
		cmd.Env = append(os.Environ(), "TARETEST_SCHED_CHILD=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as user %d: %v\n%s", uid, err, out)
		}
		return
	}
	runtime.LockOSThread()
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
		t.Fatal(errno) // changes only this thread, which ends with the test
	}
	before := attrs(t)
	how, undo, err := Protect()
	if how != unprotected || err == nil {
		t.Errorf("as an ordinary user: %q, %v", how, err)
	}
	undo()
	if after := attrs(t); after != before {
		t.Errorf("after undo %+v, before %+v", after, before)
	}
}

// TestFallsBackToNice runs in a control group of version 1 without real-time
// time, where the kernel refuses SCHED_FIFO to root.
func TestFallsBackToNice(t *testing.T) {
	testneed.Root(t)
	if os.Getenv("TARETEST_SCHED_CHILD") != "" {
		before := attrs(t)
		how, undo, err := Protect()
		if how != nice || err == nil || !strings.Contains(err.Error(), "cpu.rt_runtime_us") || attrs(t).Nice != leastNice {
			t.Errorf("without real-time time: %q, %v, %+v", how, err, attrs(t))
		}
		undo()
		if a := attrs(t); a.Nice != before.Nice || a.Flags != before.Flags {
			t.Errorf("after undo: %+v, before: %+v", a, before)
		}
		return
	}
	group := fmt.Sprintf("/sys/fs/cgroup/cpu/tare-sched-%d", os.Getpid())
	testneed.Feature(t, "cpu control group of version 1", os.Mkdir(group, 0o755))
	defer os.Remove(group)
	_, err := os.Stat(group + "/cpu.rt_runtime_us")
	testneed.Feature(t, "real-time group scheduling", err)
	cmd := exec.Command("sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$1" -test.run='^TestFallsBackToNice$'`, group, os.Args[0])
	cmd.Env = append(os.Environ(), "TARETEST_SCHED_CHILD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSleepUntil(t *testing.T) {
	begin := Monotonic()
	SleepUntil(begin - int64(time.Hour))
	until := Monotonic() + int64(3*time.Millisecond)
	SleepUntil(until)
	if now := Monotonic(); now < until {
		t.Errorf("woke %d ns too early", until-now)
	}
}

// The words are read at each moment and not before it, while garbage is collected and signals
// interrupt the sleep.
func TestMarkedSleep(t *testing.T) {
	for range 200 {
		// On a busy host the writer may not run between two marks; such a try proves nothing.
		if marksWhileWriting(t) {
			return
		}
	}
	t.Error("the words were never written all the time")
}

// marksWhileWriting makes marks while words are written all the time; always is false if they
// were not written between two marks.
func marksWhileWriting(t *testing.T) (always bool) {
	longest := int64(0) // longest pause of the writer, ns
	begin := Monotonic()
	moments := []int64{begin - 1, begin + 5e6, begin + 20e6, begin + 60e6}
	counted := [2]atomic.Uint64{} // ns since begin, written all the time
	words := []*uint64{(*uint64)(unsafe.Pointer(&counted[0])), (*uint64)(unsafe.Pointer(&counted[1]))}
	over := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for last := begin; ; {
			select {
			case <-over:
				longest = max(longest, Monotonic()-last)
				return
			default:
				now := Monotonic()
				counted[0].Store(uint64(now - begin))
				counted[1].Add(1)
				longest, last = max(longest, now-last), now
			}
		}
	})
	others.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				runtime.GC()
				_ = unix.Kill(os.Getpid(), unix.SIGURG)
			}
		}
	})
	marks := make([]Mark, len(moments))
	if !(&MarkedSleep{First: moments[0], After: []int64{5e6, 20e6, 60e6}, Words: words, Marks: marks}).Sleep() {
		t.Error("too late, and it was never to be")
	}
	for i := range moments[1:] {
		moments[1+i] += marks[0].At - begin
	}
	close(over)
	others.Wait()
	always = true
	for i, m := range marks {
		if m.At < moments[i] || i > 0 && m.At < marks[i-1].At {
			t.Errorf("mark %d at %d, asked for %d", i, m.At-begin, moments[i]-begin)
		}
		written := i == 0 || longest < m.At-marks[i-1].At
		always = always && written
		if i > 0 && m.Sum <= marks[i-1].Sum && written {
			t.Errorf("mark %d: the words add up to %d, and to %d before", i, m.Sum, marks[i-1].Sum)
		}
	}
	if at := counted[0].Load(); marks[3].Sum > at+counted[1].Load() {
		t.Errorf("%d was read, and never written", marks[3].Sum)
	}
	return always
}

func TestClocks(t *testing.T) {
	thread, process := ThreadCPU(), ProcessCPU()
	other, err := ProcessCPUOf(os.Getpid())
	if err != nil || thread <= 0 || process < thread || other < process {
		t.Errorf("thread %d, process %d, the same by pid %d, %v", thread, process, other, err)
	}
	if _, err := ProcessCPUOf(1); err != nil {
		t.Errorf("the CPU clock of process 1: %v", err)
	}
	if _, err := ProcessCPUOf(1 << 22); err == nil {
		t.Error("a CPU clock of no process")
	}
}

// BenchmarkLateness shows how late the thread wakes while every CPU spins.
func BenchmarkLateness(b *testing.B) {
	for _, protect := range []bool{false, true} {
		name := "unprotected"
		if protect {
			name = "protected"
		}
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if protect {
				_, undo, err := Protect()
				if err != nil {
					b.Skip(err)
				}
				defer undo()
			}
			stop := saturate()
			defer stop()
			var late []int64
			for b.Loop() {
				until := Monotonic() + int64(time.Millisecond)
				SleepUntil(until)
				late = append(late, Monotonic()-until)
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2])*1e-3, "p50-µs")
			b.ReportMetric(float64(late[len(late)*99/100])*1e-3, "p99-µs")
			b.ReportMetric(float64(late[len(late)-1])*1e-3, "max-µs")
		})
	}
}

// saturate spins processes, two for each CPU, until stop is called.
func saturate() (stop func()) {
	var all []*exec.Cmd
	for range 2 * runtime.NumCPU() {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if c.Start() == nil {
			all = append(all, c)
		}
	}
	return func() {
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
}

// Files and clocks are read at the first and at the last moment, whole and as they are then. A
// reading that fails has the number of the error.
func TestEdgeReadings(t *testing.T) {
	for range 20 { // on a busy host the writer may be late
		if edgeReadings(t) {
			return
		}
	}
	t.Error("nobody ever wrote in time")
}

// edgeReadings returns false if the file was not written in time.
func edgeReadings(t *testing.T) (inTime bool) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(text string) {
		if _, err := file.WriteAt([]byte(text), 0); err != nil {
			t.Error(err)
		}
	}
	write("before")
	begin := Monotonic()
	type span struct{ from, to int64 }
	var wrote [2]span
	var other sync.WaitGroup
	other.Go(func() {
		for i, text := range []string{"opened", "closed"} {
			time.Sleep(time.Duration(begin + int64(20+60*i)*1e6 - Monotonic()))
			wrote[i].from = Monotonic()
			write(text)
			wrote[i].to = Monotonic()
		}
	})
	readings := func() []Reading {
		return []Reading{{FD: int(file.Fd()), Text: make([]byte, 64)}, {FD: -1, Text: make([]byte, 1)}, {FD: int(file.Fd()), Text: make([]byte, 3)},
			{FD: ClockOf(os.Getpid())}, {FD: ClockOf(1<<22 + 1)}}
	}
	var marks [2]Mark
	s := MarkedSleep{First: begin + 50e6, After: []int64{60e6}, Edges: EdgeReadings{Opening: readings(), Closing: readings()}, Marks: marks[:]}
	s.Sleep()
	ended := Monotonic()
	other.Wait()
	if wrote[0].to > begin+50e6 || wrote[1].from < marks[0].At || wrote[1].to > marks[1].At || ended > wrote[1].from+90e6 {
		return false
	}
	for i, r := range s.Edges {
		want := []string{"opened", "closed"}[i]
		if got := string(r[0].Text[:max(0, r[0].Got)]); got != want {
			t.Errorf("read %q (%d), want %q", got, r[0].Got, want)
		}
		if got := r[1].Got; got != -int64(unix.EBADF) {
			t.Errorf("no file: %d", got)
		}
		if got := string(r[2].Text[:max(0, r[2].Got)]); got != want[:3] {
			t.Errorf("read %q into three bytes", got)
		}
		if r[4].Got >= 0 {
			t.Errorf("the clock of no process is at %d", r[4].Got)
		}
	}
	if a, b, c, d := s.Edges[Opening][3].Got, marks[0].CPU, marks[1].CPU, s.Edges[Closing][3].Got; a <= 0 || a > b || b > c || c > d {
		t.Errorf("CPU time of %d, %d, %d, %d ns", a, b, c, d)
	}
	return true
}

func TestMarkedSleepNeedsNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { SleepUntil(0) }); n > 0 {
		t.Errorf("a sleep takes %g pieces of memory", n)
	}
	marks := make([]Mark, 2)
	s := MarkedSleep{After: []int64{1}, Edges: EdgeReadings{Opening: {{FD: unix.CLOCK_MONOTONIC}}}, Marks: marks}
	if n := testing.AllocsPerRun(10, func() { s.Sleep() }); n > 0 {
		t.Errorf("a marked sleep takes %g pieces of memory", n)
	}
}

// A sleep whose first mark is too late ends with that mark.
func TestMarkedSleepTooLate(t *testing.T) {
	moment := Monotonic() - 1e6
	marks := []Mark{{}, {At: -1}}
	s := MarkedSleep{First: moment, Latest: moment + 1, After: []int64{1e9}, Edges: EdgeReadings{Closing: {{FD: unix.CLOCK_MONOTONIC}}}, Marks: marks}
	if s.Sleep() || marks[0].At < moment || marks[1].At != -1 || s.Edges[Closing][0].Got != 0 {
		t.Errorf("%+v, %+v", marks, s.Edges)
	}
	s.Latest, s.After = Monotonic()+1e12, []int64{1e6}
	if !s.Sleep() || marks[1].At < marks[0].At+1e6 || s.Edges[Closing][0].Got < marks[1].At {
		t.Errorf("%+v, %+v", marks, s.Edges)
	}
}
