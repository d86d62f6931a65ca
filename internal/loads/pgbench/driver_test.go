package pgbench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/pgbench"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

// accounts is the data set of these tests, built once.
var accounts = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp("", "tare-load")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := serve.Prepare{Pgbench: &tool.Data{Scale: 1}}
	return p.Run(context.Background(), postgres.Name, dataset.Store{Dir: dir}, io.Discard)
})

// pgProcess is one pgbench on a copy of the data set.
type pgProcess struct {
	driver.Params
	workloadtest.Running
}

func newPgbench(t testing.TB) *pgProcess {
	t.Helper()
	if _, err := serve.Find(t.Context(), postgres.Name, "", ""); err != nil {
		testneed.Feature(t, "postgres", err)
	}
	p, err := accounts()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	workloadtest.CopyTree(t, dir, p.Dir)
	return &pgProcess{
		Running: workloadtest.Running{T: t, Counters: workloadtest.Counters(t, 1)},
		Params: driver.Params{
			Database: load.Database{Service: postgres.Name, Server: serve.Server{Dir: dir}, Inside: true},
			Script:   tool.SelectOnly, Mode: "simple", Clients: 3, Threads: 2,
		},
	}
}

func (p *pgProcess) start(more ...*os.File) *pgProcess {
	p.T.Helper()
	p.Launch(workloadtest.LoadTask(p.T, driver.Kind, p.Params).Args, more...)
	return p
}

// postmaster is the first process of the server.
func (p *pgProcess) postmaster() (pid int) {
	b, err := os.ReadFile(filepath.Join(p.Server.Dir, db.DataDir, "postmaster.pid"))
	if err != nil {
		p.T.Fatal(err)
	}
	fmt.Sscan(string(b), &pid)
	return pid
}

func (p *pgProcess) read() counter.Snapshot {
	var s counter.Snapshot
	p.Counters.Read(&s)
	return s
}

// Lines that pgbench prints at its end.
var (
	pgTransactions = regexp.MustCompile(`number of transactions actually processed: ([0-9]+)`)
	pgLatency      = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// pgNumber is a number in pgbench's summary.
func pgNumber(t testing.TB, re *regexp.Regexp, text string) (x float64) {
	t.Helper()
	m := re.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %v in\n%s", re, text)
	}
	if _, err := fmt.Sscan(m[1], &x); err != nil {
		t.Fatal(err)
	}
	return x
}

// meanOf is the mean latency, up to the width of a bucket.
func meanOf(h record.Histogram) float64 {
	sum := 0.0
	for i, b := range h.Index {
		low, high := record.BucketBounds(int(b))
		sum += float64(h.Count[i]) * (float64(low) + float64(high-1)) / 2
	}
	return sum * 1e-9 / float64(h.Total())
}

// The counters agree with pgbench's summary.
func TestPgbenchAgrees(t *testing.T) {
	t.Parallel()
	for _, script := range tool.Builtin() {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			p := newPgbench(t)
			p.Script, p.Seconds = script, 2
			told, err := readback.Create()
			if err != nil {
				t.Fatal(err)
			}
			defer told.Close()
			out := p.start(told).Wait(0)
			s, zero := p.read(), counter.Snapshot{}
			h := s.Since(&zero)
			if n := pgNumber(t, pgTransactions, out); float64(s.Ops) != n {
				t.Errorf("counted %d operations, pgbench %v", s.Ops, n)
			}
			// The summary rounds to 1 µs, the log truncates.
			if theirs, ours := pgNumber(t, pgLatency, out)*1e-3, meanOf(h); math.Abs(ours-theirs) > 2e-6+theirs/500 {
				t.Errorf("the mean of the latencies is %v s, pgbench says %v", ours, theirs)
			}
			if s.Cut != 0 || s.Errors != 0 || h.Total() != s.Ops || p.Counters.InFlight() != 0 {
				t.Errorf("%d errors, %d cut, %d latencies, %d in flight", s.Errors, s.Cut, h.Total(), p.Counters.InFlight())
			}
			list, err := readback.Read(told)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range list {
				got[s.Name] = s.Got
			}
			if got["pgbench counted"] != "each as it ends" || got["transport"] != "socket" || got["fsync"] != "on" || got["pgbench"] == "" {
				t.Errorf("%v", got)
			}
		})
	}
}

// The counts of all slices add up to pgbench's summary, whether the gate or SIGSTOP of pgbench and server
// cuts them.
func TestPgbenchSliced(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"gate", "stop"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newPgbench(t)
			p.Script = tool.SimpleUpdate
			p.start().Ready()
			var before counter.Snapshot
			var ops, cut, latencies uint64
			slice := func() {
				now := p.read()
				ops, cut, latencies = ops+now.Ops-before.Ops, cut+now.Cut-before.Cut, latencies+now.Since(&before).Total()
				before = now
			}
			for range 15 {
				time.Sleep(50 * time.Millisecond)
				if way == "gate" {
					p.Counters.SetGate(true)
					workloadtest.Eventually(t, "paused", func() bool { return p.Counters.InFlight() == 0 })
				} else {
					p.stopAll(unix.SIGSTOP)
				}
				slice()
				time.Sleep(30 * time.Millisecond)
				if more := p.Counters.Ops() - before.Ops; more != 0 {
					t.Errorf("%d operations while paused", more)
				}
				p.Counters.MarkThaw()
				if way == "gate" {
					p.Counters.SetGate(false)
				} else {
					p.stopAll(unix.SIGCONT)
				}
			}
			p.Process.Process.Signal(unix.SIGTERM)
			out := p.Wait(0)
			slice()
			if n := pgNumber(t, pgTransactions, out); float64(ops) != n {
				t.Errorf("the slices hold %d operations, pgbench did %v", ops, n)
			}
			if latencies+cut != ops || cut == 0 || cut > 15*3 {
				t.Errorf("%d operations, %d latencies, %d cut by 15 pauses of 3 clients", ops, latencies, cut)
			}
		})
	}
}

// stopAll sends a signal to all processes, those of the server too.
func (p *pgProcess) stopAll(s unix.Signal) {
	all := []int{p.Process.Process.Pid}
	for i := 0; i < len(all); i++ {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			for _, w := range strings.Fields(string(b)) {
				var n int
				fmt.Sscan(w, &n)
				all = append(all, n)
			}
		}
	}
	if s == unix.SIGSTOP {
		slices.Reverse(all) // the counting process stops last, so it sees all transactions
	}
	for _, pid := range all {
		unix.Kill(pid, s)
	}
	if s == unix.SIGSTOP {
		workloadtest.Eventually(p.T, "stopped", func() bool { return !slices.ContainsFunc(all, runs) })
	}
}

// runs is true if a thread of a process is not stopped.
func runs(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(files, func(file string) bool {
		b, _ := os.ReadFile(file)
		_, after, found := strings.Cut(string(b), ") ")
		return found && !strings.ContainsAny(after[:1], "TZX")
	})
}

// Over TCP with a server of another process: SIGTERM makes pgbench print its summary, and the password is in
// no output or argument.
func TestPgbenchOverTCP(t *testing.T) {
	t.Parallel()
	p := newPgbench(t)
	p.Server.Listen = testneed.Address(t)
	server, recipe, err := p.Server.Start(t.Context(), serve.Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	p.Inside, p.Dial, p.Mode = false, p.Server.Listen, "prepared"
	p.start().Ready().Goes(100)
	secret, err := serve.Secret(p.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	pid := p.Family()["pgbench"]
	for _, file := range []string{"cmdline", "environ"} {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)); err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("the password is in pgbench's %s, or %v", file, err)
		}
	}
	p.Process.Process.Signal(unix.SIGTERM)
	out := p.Wait(0)
	s := p.read()
	if n := pgNumber(t, pgTransactions, out); float64(s.Ops) != n {
		t.Errorf("counted %d operations, pgbench %v", s.Ops, n)
	}
	if state, _ := p.Counters.State(); state != counter.Ready || s.Errors != 0 || p.Counters.InFlight() != 0 || strings.Contains(out, secret) {
		t.Errorf("state %d, %d errors, %d in flight\n%s", state, s.Errors, p.Counters.InFlight(), out)
	}
	if err := server.Stop(recipe.Stop); err != nil {
		t.Error(err)
	}
}

// After each fault the load reports the reason, also in its counters, and leaves no process and no file.
func TestPgbenchFaults(t *testing.T) {
	t.Parallel()
	script := func(text string) func(*testing.T, *pgProcess) {
		return func(t *testing.T, p *pgProcess) {
			p.Script = filepath.Join(t.TempDir(), "mine.sql")
			if err := os.WriteFile(p.Script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, p *pgProcess)
		later  func(p *pgProcess) // called when the load is ready
		want   string
	}{
		{"pgbench missing", func(_ *testing.T, p *pgProcess) { p.Program = "/nowhere/pgbench" }, nil, "apt-get install postgresql-contrib"},
		{"pgbench's option unknown", func(_ *testing.T, p *pgProcess) { p.Options = []string{"--no-such=1"} }, nil, "unrecognized option '--no-such=1'"},
		{"script missing", func(_ *testing.T, p *pgProcess) { p.Script = "/nowhere.sql" }, nil, "/nowhere.sql"},
		{"script fails", script("SELECT 1;\nSELECT nothing FROM nowhere;\n"), nil, `mine.sql:2: ERROR:  relation "nowhere" does not exist`},
		{"script fails later", script("-- mine\n\\set id random(1, 9)\nBEGIN;\n\\if :id > 0\nSELECT :id;\nSELECT no\nFROM pgbench_branches;\n\\endif\nCOMMIT;\n"), nil,
			`mine.sql:6: ERROR:  column "no" does not exist`},
		{"one client fails", script("SELECT CASE WHEN :client_id = 0 THEN 1 / (:client_id - :client_id) ELSE 0 END;\n"), nil, "pgbench lost a client"},
		{"server missing", func(_ *testing.T, p *pgProcess) { p.Server.Program = "/nowhere/postgres" }, nil, "no server program"},
		{"server cannot start", func(_ *testing.T, p *pgProcess) { p.Server.Options = []string{"--no_such=1"} }, nil, "unrecognized configuration parameter"},
		{"no data set", func(t *testing.T, p *pgProcess) { p.Server.Dir = t.TempDir() }, nil, "not a data set of tare"},
		{"wrong password", func(_ *testing.T, p *pgProcess) {
			os.WriteFile(filepath.Join(p.Server.Dir, db.SecretFile), []byte("guessed"), 0o600)
		}, nil, "password authentication failed"},
		{"server dies", nil, func(p *pgProcess) { unix.Kill(p.postmaster(), unix.SIGKILL) }, "the server was ended by SIGKILL"},
		{"server loses a process", nil, func(p *pgProcess) { unix.Kill(p.Family()["postgres"], unix.SIGKILL) }, "was terminated by signal 9"},
		{"pgbench dies", nil, func(p *pgProcess) { unix.Kill(p.Family()["pgbench"], unix.SIGKILL) }, "pgbench was ended by SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPgbench(t)
			if c.change != nil {
				c.change(t, p)
			}
			p.start()
			if c.later != nil {
				p.Ready()
				c.later(p)
			}
			out := p.Wait(1)
			state, note := p.Counters.State()
			if state != counter.Failed || !strings.Contains(note, c.want) {
				t.Errorf("state %d, note %q; want %q\n%s", state, note, c.want, out)
			}
			if p.Counters.InFlight() != 0 {
				t.Errorf("%d operations in flight", p.Counters.InFlight())
			}
			if left, _ := filepath.Glob(filepath.Join(p.Server.Dir, "tare-pgbench-*")); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}
