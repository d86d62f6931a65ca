package load_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/counter"
	"github.com/tarelab/tare/internal/dataset"
	"github.com/tarelab/tare/internal/facts"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/load"
	"github.com/tarelab/tare/internal/serve"
	"github.com/tarelab/tare/internal/service"
	"github.com/tarelab/tare/internal/sysbench"
	"github.com/tarelab/tare/internal/testneed"
	"github.com/tarelab/tare/internal/workload/workloadtest"
	"github.com/tarelab/tare/record"
)

// tables is the data set of these tests, prepared by the first that needs it.
var tables = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp("", "tare-load")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := serve.Prepare{Sysbench: sysbench.Data{Script: "oltp_read_only", Tables: 2, Rows: 2000}}
	return p.Run(context.Background(), serve.Auto, dataset.Store{Dir: dir}, io.Discard)
})

// benchmark is one sysbench on a copy of the data set.
type benchmark struct {
	load.Sysbench
	t       *testing.T
	m       *counter.Memory
	process *exec.Cmd
	out     bytes.Buffer // after the end
	ended   chan error
}

func newBenchmark(t *testing.T, threads int) *benchmark {
	t.Helper()
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	p, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := clonetree.Copy(dir, p.Dir); err != nil {
		t.Fatal(err)
	}
	return &benchmark{
		t: t, m: workloadtest.Counters(t, threads), ended: make(chan error, 1),
		Sysbench: load.Sysbench{
			Data: sysbench.Data{Script: "oltp_read_only", Tables: 2, Rows: 2000},
			Database: load.Database{
				Service: serve.Auto, Server: serve.Server{Dir: dir, Settings: map[string]string{"redo_log": "16M"}}, Inside: true,
			},
		},
	}
}

func (b *benchmark) start(more ...*os.File) *benchmark {
	b.t.Helper()
	b.process = exec.Command("/proc/self/exe", task(b.t, load.KindSysbench, b.Sysbench).Args...)
	b.process.ExtraFiles = append([]*os.File{b.m.File()}, more...)
	b.process.Stdout, b.process.Stderr = &b.out, &b.out
	if err := b.process.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { b.ended <- b.process.Wait() }()
	b.t.Cleanup(func() { b.process.Process.Kill() })
	return b
}

// wait waits for the end and returns what was said.
func (b *benchmark) wait(code int) string {
	b.t.Helper()
	select {
	case <-b.ended:
	case <-time.After(time.Minute):
		b.t.Fatal("it does not end")
	}
	if got := b.process.ProcessState.ExitCode(); got != code {
		b.t.Errorf("ended with %d, want %d\n%s", got, code, b.out.String())
	}
	return b.out.String()
}

func (b *benchmark) ready() *benchmark {
	b.t.Helper()
	workloadtest.Eventually(b.t, "ready", func() bool {
		state, note := b.m.State()
		if state == counter.Failed {
			b.t.Fatal(note)
		}
		return state == counter.Ready
	})
	return b
}

func (b *benchmark) goes(n uint64) {
	b.t.Helper()
	from := b.m.Ops()
	workloadtest.Eventually(b.t, "counting", func() bool { return b.m.Ops() >= from+n })
}

// family are the process and what it started, by the name of their programs.
func (b *benchmark) family() map[string]int {
	out := map[string]int{}
	parents := map[int]bool{b.process.Process.Pid: true}
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
func (b *benchmark) kill(program string) {
	b.t.Helper()
	pid := b.family()[program]
	if pid <= 1 {
		b.t.Fatalf("no %s runs", program)
	}
	unix.Kill(pid, unix.SIGKILL)
}

func (b *benchmark) signal(s unix.Signal) {
	for _, pid := range b.family() {
		unix.Kill(pid, s)
	}
}

// What sysbench printed at its end.
var (
	totalEvents = regexp.MustCompile(`total number of events: +([0-9]+)`)
	percentile  = regexp.MustCompile(`95th percentile: +([0-9.]+)`)
	reportLine  = regexp.MustCompile(`(?m)^\[ 1s \] thds: 2 tps: [0-9.]+ qps: `)
)

func number(t *testing.T, re *regexp.Regexp, text string) float64 {
	t.Helper()
	m := re.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %v in\n%s", re, text)
	}
	x, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// agree compares what sysbench says of a run with the counters: 0.1 % in
// operations, and one bucket of sysbench's own histogram (1024 from 1 µs to
// 100 s, so 1.8 %) in the 95th percentile, beside its rounding to 10 µs.
func agree(t *testing.T, out string, ops uint64, latency record.Histogram) {
	t.Helper()
	if events := number(t, totalEvents, out); math.Abs(float64(ops)/events-1) > 1e-3 {
		t.Errorf("counted %d operations, sysbench %v", ops, events)
	}
	theirs, ours := number(t, percentile, out)*1e-3, latency.Quantile(0.95)
	bucket := math.Log(1e8) / 1023
	if low, high := (theirs-5e-6)*math.Exp(-bucket), (theirs+5e-6)*math.Exp(bucket); ours < low || ours > high {
		t.Errorf("the 95th percentile is %v s, sysbench says %v", ours, theirs)
	}
	t.Logf("%d operations; p95 %.3f ms, sysbench %.2f ms", ops, ours*1e3, theirs*1e3)
}

// The counters hold what sysbench says of itself, and its own lines are in the
// log.
func TestSysbenchAgrees(t *testing.T) {
	for _, script := range []string{"oltp_read_only", "oltp_point_select", "oltp_write_only"} {
		t.Run(script, func(t *testing.T) {
			b := newBenchmark(t, 2)
			b.Script, b.Seconds = script, 3
			out := b.start().ready().wait(0)
			var s, zero counter.Snapshot
			b.m.Read(&s)
			agree(t, out, s.Ops, s.Since(&zero))
			if !reportLine.MatchString(out) {
				t.Errorf("no report line in\n%s", out)
			}
			if s.Cut != 0 || s.Errors != 0 {
				t.Errorf("%d errors, %d cut", s.Errors, s.Cut)
			}
		})
	}
}

// However it is sliced, the slices hold what sysbench did: nothing is lost,
// and an event over a pause is counted once.
func TestSysbenchSliced(t *testing.T) {
	b := newBenchmark(t, 4)
	b.Seconds = 4
	b.start().ready()
	var before, now counter.Snapshot
	var ops, cut, latencies uint64
	slice := func() {
		b.m.Read(&now)
		ops, cut, latencies = ops+now.Ops-before.Ops, cut+now.Cut-before.Cut, latencies+now.Since(&before).Total()
		before, now = now, before
	}
	for range 15 {
		time.Sleep(50 * time.Millisecond)
		b.signal(unix.SIGSTOP)
		slice()
		time.Sleep(10 * time.Millisecond)
		b.m.MarkThaw()
		b.signal(unix.SIGCONT)
	}
	out := b.wait(0)
	slice()
	if events := number(t, totalEvents, out); float64(ops) != events {
		t.Errorf("the slices hold %d operations, sysbench did %v", ops, events)
	}
	if latencies+cut != ops || cut == 0 || cut > 4*15 {
		t.Errorf("%d operations, %d latencies, %d cut by 15 pauses of 4 threads", ops, latencies, cut)
	}
}

// Over TCP the server is in another process, and the load outside of the arm.
func TestSysbenchOverTCP(t *testing.T) {
	b := newBenchmark(t, 3)
	b.Server.Listen = workloadtest.FreePort(t)
	b.Server.Connections = 3
	server, recipe, err := b.Server.Start(t.Context(), serve.Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	b.Inside, b.Dial, b.RandType, b.Options = false, b.Server.Listen, "uniform", []string{"--point-selects=2", "--skip-trx=on"}
	told, err := facts.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	b.start(told).ready().goes(100)
	if family := b.family(); family["mariadbd"] != 0 || family["sysbench"] == 0 {
		t.Errorf("it started %v", family)
	}
	checkFacts(t, told, recipe, "tcp")
	secret, err := serve.Secret(b.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for program, pid := range b.family() {
		for _, file := range []string{"cmdline", "environ"} {
			if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)); bytes.Contains(text, []byte(secret)) {
				t.Errorf("the password is in the %s of %s", file, program)
			}
		}
	}
	b.process.Process.Signal(unix.SIGTERM)
	if out := b.wait(0); strings.Contains(out, secret) {
		t.Error("the password was shown")
	}
	if err := server.Stop(recipe.Stop); err != nil {
		t.Error(err)
	}
}

func checkFacts(t *testing.T, told *os.File, recipe service.Recipe, transport string) {
	t.Helper()
	list, err := facts.Read(told)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]record.Setting{}
	for _, s := range list {
		got[s.Name] = s
	}
	for _, q := range recipe.ReadBack {
		if q.Wanted != "" && (got[q.Name].Wanted != q.Wanted || got[q.Name].Got == "") {
			t.Errorf("%s: %+v", q.Name, got[q.Name])
		}
	}
	if got["transport"].Got != transport || got["sysbench"].Got == "" {
		t.Errorf("%+v", got)
	}
}

// An open loop, a server inside over TCP, a script of one's own.
func TestSysbenchOtherWays(t *testing.T) {
	b := newBenchmark(t, 2)
	b.TCP, b.Rate = true, 300
	b.m.SetSeed(3)
	b.Script = filepath.Join(t.TempDir(), "mine.lua")
	if err := os.WriteFile(b.Script, []byte(`
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT c FROM sbtest1 WHERE id = " .. sysbench.rand.uniform(1, 100)) end
`), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b.start().ready().goes(100)
	if ops, most := float64(b.m.Ops()), 300*time.Since(began).Seconds(); ops > most+5*math.Sqrt(most) {
		t.Errorf("%v operations, at most %v were due", ops, most)
	}
	b.process.Process.Signal(unix.SIGTERM)
	b.wait(0)
	var s counter.Snapshot
	if b.m.Read(&s); s.Errors != 0 || b.m.InFlight() != 0 {
		t.Errorf("%d errors, %d in flight after an orderly end", s.Errors, b.m.InFlight())
	}
}

// Whatever breaks, the load says what and why, in its counters too, and leaves
// no process.
func TestSysbenchFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, b *benchmark)
		later  func(t *testing.T, b *benchmark) // when it is ready
		want   string
	}{
		{"sysbench missing", func(_ *testing.T, b *benchmark) { b.Program = "/nowhere/sysbench" }, nil, "apt-get install sysbench"},
		{"script missing", func(_ *testing.T, b *benchmark) { b.Script = "/nowhere.lua" }, nil, "read the script"},
		{"sysbench's option unknown", func(_ *testing.T, b *benchmark) { b.Options = []string{"--no-such=1"} }, nil, "invalid option: --no-such=1"},
		{"server missing", func(t *testing.T, b *benchmark) { edit(t, b.Server.Dir, "/sbin/mariadbd", "/sbin/gone") }, nil, "no server program"},
		{"server cannot start", func(_ *testing.T, b *benchmark) { b.Server.Options = []string{"--no-such=1"} }, nil, "[ERROR] /usr/sbin/mariadbd: unknown variable 'no-such=1'"},
		{"no data set", func(t *testing.T, b *benchmark) { b.Server.Dir = t.TempDir() }, nil, "not a data set of tare"},
		{"wrong password", func(t *testing.T, b *benchmark) {
			os.WriteFile(filepath.Join(b.Server.Dir, service.SecretFile), []byte("guessed"), 0o600)
		}, nil, "Access denied"},
		{"tables missing", func(_ *testing.T, b *benchmark) { b.Tables = 3 }, nil, "sbtest3' doesn't exist"},
		{"server dies", nil, func(t *testing.T, b *benchmark) { b.kill("mariadbd") }, "the server was ended by SIGKILL"},
		{"sysbench dies", nil, func(t *testing.T, b *benchmark) { b.kill("sysbench") }, "sysbench was ended by SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBenchmark(t, 2)
			if c.change != nil {
				c.change(t, b)
			}
			b.start()
			if c.later != nil {
				c.later(t, b.ready())
			}
			out := b.wait(1)
			state, note := b.m.State()
			if state != counter.Failed || !strings.Contains(note, c.want) {
				t.Errorf("state %d, note %q; want %q\n%s", state, note, c.want, out)
			}
			var s counter.Snapshot
			if b.m.Read(&s); c.name == "server dies" && s.Errors == 0 {
				t.Error("no error was counted")
			}
			if b.m.InFlight() != 0 {
				t.Errorf("%d operations in flight", b.m.InFlight())
			}
			nothingLeft(t, b)
		})
	}
}

func edit(t *testing.T, dir, old, new string) {
	t.Helper()
	path := filepath.Join(dir, dataset.MarkerFile)
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("no %s in %s: %v", old, path, err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(new)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// nothingLeft: no process works in the directory of the data set.
func nothingLeft(t *testing.T, b *benchmark) {
	t.Helper()
	workloadtest.Eventually(t, "gone", func() bool {
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, l := range links {
			if cwd, err := os.Readlink(l); err == nil && strings.HasPrefix(cwd, b.Server.Dir) {
				return false
			}
		}
		return true
	})
}

// Killed, the load takes its server and sysbench along.
func TestSysbenchKilled(t *testing.T) {
	b := newBenchmark(t, 2)
	b.start().ready()
	if family := b.family(); family["mariadbd"] == 0 || family["sysbench"] == 0 {
		t.Errorf("it started %v", family)
	}
	b.process.Process.Kill()
	b.wait(-1)
	nothingLeft(t, b)
}
