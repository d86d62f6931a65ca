package sysbench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/sysbench"
	tool "github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/readback"
	"github.com/tarelab/tare/record"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

// tables is the data set of these tests, built once.
var tables = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp("", "tare-load")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := serve.Prepare{Sysbench: tool.Data{Script: "oltp_read_only", Tables: 2, Rows: 2000}}
	return p.Run(context.Background(), serve.Auto, dataset.Store{Dir: dir}, io.Discard)
})

// benchmark is one sysbench on a copy of the data set.
type benchmark struct {
	driver.Params
	workloadtest.Running
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
	workloadtest.CopyTree(t, dir, p.Dir)
	return &benchmark{
		Running: workloadtest.Running{T: t, Counters: workloadtest.Counters(t, threads)},
		Params: driver.Params{
			Data: tool.Data{Script: "oltp_read_only", Tables: 2, Rows: 2000},
			Database: load.Database{
				Service: serve.Auto, Server: serve.Server{Dir: dir, Settings: map[string]string{"redo_log": "16M"}}, Inside: true,
			},
		},
	}
}

func (b *benchmark) start(more ...*os.File) *benchmark {
	b.T.Helper()
	b.Launch(workloadtest.LoadTask(b.T, driver.Kind, b.Params).Args, more...)
	return b
}

// Over TCP: the server is another process, and the load runs outside of the arm.
func TestSysbenchOverTCP(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 3)
	b.Server.Listen = testneed.Address(t)
	b.Server.Connections = 3
	server, recipe, err := b.Server.Start(t.Context(), serve.Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	b.Inside, b.Dial, b.RandType, b.Options = false, b.Server.Listen, "uniform", []string{"--point-selects=2", "--skip-trx=on"}
	told, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	b.start(told).Ready().Goes(100)
	if family := b.Family(); family["mariadbd"] != 0 || family["sysbench"] == 0 {
		t.Errorf("it started %v", family)
	}
	checkFacts(t, told, recipe, "tcp")
	secret, err := serve.Secret(b.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for program, pid := range b.Family() {
		for _, file := range []string{"cmdline", "environ"} {
			if text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file)); bytes.Contains(text, []byte(secret)) {
				t.Errorf("the password is in the %s of %s", file, program)
			}
		}
	}
	b.Process.Process.Signal(unix.SIGTERM)
	if out := b.Wait(0); strings.Contains(out, secret) {
		t.Error("the password was shown")
	}
	if err := server.Stop(recipe.Stop); err != nil {
		t.Error(err)
	}
}

func checkFacts(t *testing.T, told *os.File, recipe db.Recipe, transport string) {
	t.Helper()
	list, err := readback.Read(told)
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

// An open loop, a server inside over TCP, a user's script.
func TestSysbenchOtherWays(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 2)
	b.TCP, b.Rate = true, 300
	b.Counters.SetSeed(3)
	b.Script = filepath.Join(t.TempDir(), "mine.lua")
	if err := os.WriteFile(b.Script, []byte(`
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT c FROM sbtest1 WHERE id = " .. sysbench.rand.uniform(1, 100)) end
`), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b.start().Ready().Goes(100)
	if ops, most := float64(b.Counters.Ops()), 300*time.Since(began).Seconds(); ops > most+5*math.Sqrt(most) {
		t.Errorf("%v operations, at most %v were due", ops, most)
	}
	b.Process.Process.Signal(unix.SIGTERM)
	b.Wait(0)
	var s counter.Snapshot
	if b.Counters.Read(&s); s.Errors != 0 || b.Counters.InFlight() != 0 {
		t.Errorf("%d errors, %d in flight after an orderly end", s.Errors, b.Counters.InFlight())
	}
}
