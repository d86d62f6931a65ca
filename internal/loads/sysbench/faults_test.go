package sysbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
)

// After each fault the load reports the reason, also in its counters, and leaves no process.
func TestSysbenchFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, b *benchmark)
		later  func(t *testing.T, b *benchmark) // called when the load is ready
		want   string
	}{
		{"sysbench missing", func(_ *testing.T, b *benchmark) { b.Program = "/nowhere/sysbench" }, nil, "apt-get install sysbench"},
		{"script missing", func(_ *testing.T, b *benchmark) { b.Script = "/nowhere.lua" }, nil, "read the script"},
		{"sysbench's option unknown", func(_ *testing.T, b *benchmark) { b.Options = []string{"--no-such=1"} }, nil, "invalid option: --no-such=1"},
		{"server missing", func(_ *testing.T, b *benchmark) { b.Server.Program = "/nowhere/mariadbd" }, nil, "no server program"},
		{"server cannot start", func(_ *testing.T, b *benchmark) { b.Server.Options = []string{"--no-such=1"} }, nil, "[ERROR] /usr/sbin/mariadbd: unknown variable 'no-such=1'"},
		{"no data set", func(t *testing.T, b *benchmark) { b.Server.Dir = t.TempDir() }, nil, "not a data set of tare"},
		{"wrong password", func(t *testing.T, b *benchmark) {
			os.WriteFile(filepath.Join(b.Server.Dir, db.SecretFile), []byte("guessed"), 0o600)
		}, nil, "Access denied"},
		{"tables missing", func(_ *testing.T, b *benchmark) { b.Tables = 3 }, nil, "sbtest3' doesn't exist"},
		{"server dies", nil, func(t *testing.T, b *benchmark) { b.Kill("mariadbd") }, "the server was ended by SIGKILL"},
		{"sysbench dies", nil, func(t *testing.T, b *benchmark) { b.Kill("sysbench") }, "sysbench was ended by SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBenchmark(t, 2)
			if c.change != nil {
				c.change(t, b)
			}
			b.start()
			if c.later != nil {
				b.Ready()
				c.later(t, b)
			}
			out := b.Wait(1)
			state, note := b.Counters.State()
			if state != counter.Failed || !strings.Contains(note, c.want) {
				t.Errorf("state %d, note %q; want %q\n%s", state, note, c.want, out)
			}
			var s counter.Snapshot
			if b.Counters.Read(&s); c.name == "server dies" && s.Errors == 0 {
				t.Error("no error was counted")
			}
			if b.Counters.InFlight() != 0 {
				t.Errorf("%d operations in flight", b.Counters.InFlight())
			}
			nothingLeft(t, b)
		})
	}
}

// nothingLeft checks that no process uses the directory of the data set.
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

// The kill of the load also ends its server and sysbench.
func TestSysbenchKilled(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 2)
	b.start().Ready()
	if family := b.Family(); family["mariadbd"] == 0 || family["sysbench"] == 0 {
		t.Errorf("it started %v", family)
	}
	b.Process.Process.Kill()
	b.Wait(-1)
	nothingLeft(t, b)
}
