package sysbench

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/record"
)

// hooked runs a script under the hook with a real sysbench and no database.
type hooked struct {
	t      *testing.T
	m      *counter.Memory
	hook   Hook
	before string // Lua text in front of the hook
	after  string // and behind it
}

func newHooked(t *testing.T, threads int, script string) *hooked {
	t.Helper()
	m, err := counter.Create(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	path := filepath.Join(t.TempDir(), "a script's \"name\" \\ ü.lua")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return &hooked{t: t, m: m, hook: Hook{Script: path, Counters: 3, Layout: m.Layout(), Schedule: 5, Origin: m.Now()}}
}

func memory(t *testing.T, content []byte) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	return f
}

func (h *hooked) start(args ...string) (*exec.Cmd, *bytes.Buffer) {
	h.t.Helper()
	text := append([]byte(h.before), h.hook.Text()...)
	cmd := exec.Command(testneed.Tool(h.t, Program), append(append([]string{"/proc/self/fd/4"}, args...), "run")...)
	cmd.ExtraFiles = []*os.File{h.m.File(), memory(h.t, append(text, h.after...)), memory(h.t, make([]byte, ScheduleBytes))}
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	return cmd, out
}

func (h *hooked) run(args ...string) string {
	h.t.Helper()
	cmd, out := h.start(args...)
	if err := cmd.Wait(); err != nil {
		h.t.Fatalf("%v:\n%s", err, out)
	}
	return out.String()
}

func (h *hooked) read() (counter.Snapshot, record.Histogram) {
	var s, zero counter.Snapshot
	h.m.Read(&s)
	return s, s.Since(&zero)
}

// Both languages put every latency into the same bucket.
func TestBucketsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []int64{-5, 0, 1, 511, 512, 1023, 1024, 1025, 2047, 2048, 1<<39 - 1, 1 << 39, 1 << 50}
	for i := range 39 {
		values = append(values, 1<<i-1, 1<<i, 1<<i+1)
	}
	for range 3000 {
		values = append(values, rng.Int64N(1<<rng.IntN(40)+1))
	}
	var list strings.Builder
	for _, v := range values {
		fmt.Fprintf(&list, "%d,", v)
	}
	h := newHooked(t, 1, "function event() return true end")
	h.after = "\nif sysbench.tid == 0 and not tare_once then tare_once = true\n" +
		"for _, v in ipairs({" + list.String() + "}) do print('bucket', v, tare.bucket(v)) end end\n"
	agree := 0
	for _, line := range strings.Split(h.run(), "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "bucket" {
			continue
		}
		v, err := strconv.ParseFloat(f[1], 64) // Lua prints large ones as 1.2e+15
		if err != nil {
			t.Fatal(err)
		}
		if len(f[1]) > 14 { // not printed exactly
			continue
		}
		if want := record.Bucket(int64(v)); f[2] != strconv.Itoa(want) {
			t.Errorf("bucket of %s: Lua says %s, Go %d", f[1], f[2], want)
		}
		agree++
	}
	if agree < 3000 {
		t.Errorf("only %d values were compared", agree)
	}
}

// The counters have the events of each thread.
func TestEventsAreCounted(t *testing.T) {
	h := newHooked(t, 3, "function event(id) assert(id == sysbench.tid) end")
	out := h.run("--threads=3", "--events=30000")
	s, latency := h.read()
	if s.Ops != 30000 || s.Errors != 0 || s.Cut != 0 || latency.Total() != 30000 || h.m.InFlight() != 0 {
		t.Errorf("%d operations, %d errors, %d cut, %d latencies\n%s", s.Ops, s.Errors, s.Cut, latency.Total(), out)
	}
	if q := latency.Quantile(0.5); !(q > 0 && q < 1e-3) {
		t.Errorf("half of the empty events took %v s or longer", q)
	}
}

// A script's thread_init runs and finds its own directory, and the hook returns what event() returns.
func TestScriptsStaySelf(t *testing.T) {
	h := newHooked(t, 1, `
local helper = require("helper")
function init() print("INIT") end
function thread_init(id) n = id; print("THREAD", id) end
function thread_done(id) print("DONE", n) end
function event(id) n = n + 1; return n == helper.stop end`)
	helper := filepath.Join(filepath.Dir(h.hook.Script), "helper.lua")
	if err := os.WriteFile(helper, []byte("return {stop = 11}"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := h.run("--time=5")
	for _, want := range []string{"INIT", "THREAD\t0", "DONE\t11"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if s, _ := h.read(); s.Ops != 10 || h.m.InFlight() != 0 { // sysbench does not count the last one either
		t.Errorf("%d operations, %d in flight; want 10 and 0", s.Ops, h.m.InFlight())
	}
}

// A collection while sysbench reads the options of a script would free the text
// of their defaults, which it holds by addresses only; here one would run at
// every allocation.
func TestDefaultsOfOptionsStay(t *testing.T) {
	const options = 200
	h := newHooked(t, 2, `
collectgarbage("setpause", 0)
collectgarbage("setstepmul", 1e6)
sysbench.cmdline.options = {}
for i = 1, `+strconv.Itoa(options)+` do sysbench.cmdline.options["option" .. i] = {"text", 1000 + i} end
function event()
   for i = 1, `+strconv.Itoa(options)+` do assert(sysbench.opt["option" .. i] == 1000 + i) end
   return true
end
local before
function thread_init() before = collectgarbage("count") end
function thread_done()
   for i = 1, 1e5 do local garbage = {i} end
   io.write("GROWN " .. tostring(collectgarbage("count") - before < 1000) .. "\n")
end`)
	if out := h.run("--threads=2"); strings.Count(out, "GROWN true") != 2 {
		t.Errorf("nothing is collected after that:\n%s", out)
	}
}

// An event that sysbench restarts is one operation, with the time of all tries.
func TestRestartedEvents(t *testing.T) {
	h := newHooked(t, 1, `
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int);")
local n = 0
function event()
   n = n + 1
   ffi.C.usleep(3000)
   if n % 2 == 1 then error({errcode = sysbench.error.RESTART_EVENT}) end
end`)
	h.run("--events=20", "--time=10")
	s, latency := h.read()
	if s.Ops != 20 || s.Errors != 0 || latency.Quantile(0.05) < 6e-3 {
		t.Errorf("%d operations, %d errors, 5 %% took %v s or less", s.Ops, s.Errors, latency.Quantile(0.05))
	}
}

const sleeps = `
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int);")
function event() ffi.C.usleep(200) end`

// A closed gate stops the events and their counting.
func TestTheGateHolds(t *testing.T) {
	h := newHooked(t, 4, sleeps)
	cmd, out := h.start("--threads=4", "--time=60")
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	await(t, out, "the first operations", func() bool { return h.m.Ops() > 50 })
	for range 20 {
		h.m.SetGate(true)
		await(t, out, "the pause", func() bool { return h.m.InFlight() == 0 })
		before := h.m.Ops()
		time.Sleep(3 * time.Millisecond)
		if more := h.m.Ops() - before; more != 0 || h.m.InFlight() != 0 {
			t.Fatalf("%d operations behind the gate", more)
		}
		h.m.MarkThaw()
		h.m.SetGate(false)
		await(t, out, "going on", func() bool { return h.m.Ops() > before+20 })
	}
	if s, _ := h.read(); s.Cut != 0 {
		t.Errorf("%d cut; the gate lets events end", s.Cut)
	}
	h.m.SetGate(true)
	await(t, out, "the pause", func() bool { return h.m.InFlight() == 0 })
	before := wakeUps(t, cmd.Process.Pid)
	time.Sleep(300 * time.Millisecond)
	if n := wakeUps(t, cmd.Process.Pid) - before; n > 100 {
		t.Errorf("%d wake-ups in 300 ms: it polls", n)
	}
}

// wakeUps returns the voluntary context switches of all threads.
func wakeUps(t *testing.T, pid int) (n int) {
	t.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if _, after, ok := strings.Cut(string(text), "\nvoluntary_ctxt_switches:"); ok {
			var k int
			fmt.Sscan(after, &k)
			n += k
		}
	}
	return n
}

// A frozen sysbench goes on after the thaw, and what was in flight is counted
// without its latency. A busy machine can keep a thread waiting for as long
// without any pause, so one clean try of some is enough.
func TestFrozen(t *testing.T) {
	h := newHooked(t, 4, sleeps)
	cmd, out := h.start("--threads=4", "--time=60", "--report-interval=1")
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	await(t, out, "the first operations", func() bool { return h.m.Ops() > 50 })
	const pause, tries = 400 * time.Millisecond, 4
	longest := 0.0
	for range tries {
		var before, after counter.Snapshot
		unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
		time.Sleep(pause)
		h.m.Read(&before)
		h.m.MarkThaw()
		unix.Kill(cmd.Process.Pid, unix.SIGCONT)
		await(t, out, "going on", func() bool { return h.m.Ops() > before.Ops+50 })
		h.m.Read(&after)
		if n := after.Cut - before.Cut; n > 4 {
			t.Errorf("%d events cut by a pause of 4 threads", n)
		}
		if longest = after.Since(&before).Quantile(1); longest < pause.Seconds() && after.Cut > before.Cut {
			return
		}
	}
	t.Errorf("a latency of %v s: a pause was counted", longest)
}

func await(t *testing.T, out *bytes.Buffer, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s in vain\n%s", what, out)
		}
	}
}

// The open loop is never ahead of its rate, whatever the number of threads,
// and a pause leaves no debt. (A busy machine may well fall behind it.)
func TestOpenLoop(t *testing.T) {
	const rate = 1000
	for _, threads := range []int{1, 4} {
		h := newHooked(t, threads, sleeps)
		h.hook.Rate = rate
		h.m.SetSeed(7)
		var began time.Time
		var before uint64
		thaw := func() {
			began, before = time.Now(), h.m.Ops()
			h.m.MarkThaw()
		}
		check := func(when string) {
			done := float64(h.m.Ops() - before)
			due := rate * time.Since(began).Seconds()
			if done > due+5*math.Sqrt(due)+float64(threads) { // five standard deviations of a Poisson process
				t.Errorf("%d threads: %.0f operations %s, %.0f were due", threads, done, when, due)
			}
		}
		began = time.Now() // before any thaw
		cmd, out := h.start("--threads="+strconv.Itoa(threads), "--time=60")
		await(t, out, "arrivals", func() bool { return h.m.Ops() > rate/2 })
		check("at first")
		unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
		time.Sleep(time.Second / 2)
		thaw()
		unix.Kill(cmd.Process.Pid, unix.SIGCONT)
		await(t, out, "going on", func() bool { return h.m.Ops() > before+50 })
		check("after a pause")
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// The same seed gives the same arrivals, another one others; they are as far
// apart as the rate says.
func TestArrivalsFollowTheSeed(t *testing.T) {
	const n, rate = 2000, 5000.0
	arrivals := func(seed uint64) []float64 {
		h := newHooked(t, 1, "function event() return true end")
		h.hook.Rate = rate
		h.m.SetSeed(seed)
		h.after = fmt.Sprintf(`
local attach = thread_init
function thread_init(id)
   attach(id)
   for _ = 1, %d do print("AT", string.format("%%.0f", (tare.take(1000, 5)))) end
end`, n)
		var at []float64
		for _, line := range strings.Split(h.run(), "\n") {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "AT" {
				ns, err := strconv.ParseFloat(f[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				at = append(at, ns)
			}
		}
		return at
	}
	a, again, b := arrivals(1), arrivals(1), arrivals(2)
	if len(a) != n || !slices.Equal(a, again) || slices.Equal(a, b) {
		t.Errorf("%d arrivals; the same again: %v; the same with another seed: %v", len(a), slices.Equal(a, again), slices.Equal(a, b))
	}
	mean := (a[n-1] - 1000) / n
	if want := 1e9 / rate; math.Abs(mean/want-1) > 5/math.Sqrt(n) {
		t.Errorf("%.0f ns apart, want %.0f", mean, want)
	}
	if big := arrivals(math.MaxUint64); !slices.IsSorted(big) || len(big) != n {
		t.Error("a large seed gives no schedule")
	}
}

// No byte of a name ends the script's Lua string early.
func TestQuote(t *testing.T) {
	if got := quote("a\"b\\c\n\xff"); got != `"a\034b\092c\010\255"` {
		t.Error(got)
	}
}
