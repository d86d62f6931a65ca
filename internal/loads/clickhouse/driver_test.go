package clickhouse_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/serve"
	driver "github.com/tarelab/tare/internal/loads/clickhouse"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

// fewHits is the data set of these tests, built once.
var fewHits = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp("", "tare-load")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := serve.Prepare{Hits: &clickhouse.Hits{Rows: 1000}}
	return p.Run(context.Background(), clickhouse.Name, dataset.Store{Dir: dir}, io.Discard)
})

// onHits is a load on a copy of the table, with its own server.
func onHits(t *testing.T, queries ...string) driver.Params {
	t.Helper()
	if _, err := serve.Find(t.Context(), clickhouse.Name, "", ""); err != nil {
		testneed.Feature(t, "clickhouse", err)
	}
	p, err := fewHits()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	workloadtest.CopyTree(t, dir, p.Dir)
	return driver.Params{Queries: queries, Database: load.Database{
		Service: clickhouse.Name, Inside: true, Server: serve.Server{Dir: dir, Listen: testneed.Address(t)},
	}}
}

func startClickHouse(t *testing.T, p driver.Params) (*workloadtest.Process, *counter.Memory) {
	t.Helper()
	m := workloadtest.Counters(t, 2)
	process := workloadtest.Start(t, workloadtest.LoadTask(t, driver.Kind, p), m)
	return process, m
}

// asks is a second client of the load's server.
func asks(t *testing.T, p driver.Params) *clickhouse.Conn {
	t.Helper()
	secret, err := serve.Secret(p.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := clickhouse.Dial(t.Context(), db.Address{Dial: p.Server.Listen, User: db.User, Secret: secret, Database: db.Database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// runsIn is the pid of the server whose working directory is that of the data set.
func runsIn(t *testing.T, dir string) int {
	t.Helper()
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == dir {
			return workloadtest.PidOf(l)
		}
	}
	t.Fatalf("no server runs in %s", dir)
	return 0
}

// A query that fails during warm-up ends the load with the server's message.
func TestClickHouseQueryIsWrong(t *testing.T) {
	t.Parallel()
	p, m := startClickHouse(t, onHits(t, "SELECT count() FROM hits", "SELECT nothing FROM hits"))
	if code := p.Exit(t); code != 1 {
		t.Errorf("ended with %d", code)
	}
	state, note := m.State()
	if state != counter.Failed || m.Ops() != 0 || !strings.Contains(note, "SELECT nothing FROM hits") || !strings.Contains(note, "Code: 47") {
		t.Errorf("state %d, %d operations: %s", state, m.Ops(), note)
	}
}

// A query that fails later counts as an error and not as an operation; the load continues.
func TestClickHouseQueryFails(t *testing.T) {
	t.Parallel()
	params := onHits(t, "SELECT count() FROM hits", "SELECT 1")
	p, m := startClickHouse(t, params)
	workloadtest.AwaitReady(t, p, m)
	if err := asks(t, params).Run("DROP TABLE hits"); err != nil {
		t.Fatal(err)
	}
	var s counter.Snapshot
	workloadtest.Eventually(t, "failing", func() bool { m.Read(&s); return s.Errors > 10 })
	from := m.Ops()
	workloadtest.Eventually(t, "going on", func() bool { return m.Ops() > from+10 })
	if state, note := m.State(); state != counter.Ready {
		t.Errorf("state %d: %s", state, note)
	}
	if said := p.Said(); !strings.Contains(said, "Code: 60") || strings.Count(said, "only counted") != 1 {
		t.Errorf("%s", said)
	}
}

// The load ends when its own server is killed, and when a server outside does not come back.
func TestClickHouseServerDies(t *testing.T) {
	t.Parallel()
	t.Run("inside", func(t *testing.T) {
		params := onHits(t, "SELECT count() FROM hits")
		p, m := startClickHouse(t, params)
		workloadtest.AwaitReady(t, p, m)
		if err := unix.Kill(runsIn(t, params.Server.Dir), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if code := p.Exit(t); code != 1 {
			t.Errorf("ended with %d", code)
		}
		if state, note := m.State(); state != counter.Failed || !strings.Contains(note, "SIGKILL") {
			t.Errorf("state %d: %s", state, note)
		}
	})
	t.Run("outside", func(t *testing.T) {
		params := onHits(t, "SELECT count() FROM hits")
		server, _, err := params.Server.Start(t.Context(), params.Service, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Kill()
		params.Inside, params.Dial = false, params.Server.Listen
		p, m := startClickHouse(t, params)
		workloadtest.AwaitReady(t, p, m)
		server.Kill()
		if code := p.Exit(t); code != 1 {
			t.Errorf("ended with %d", code)
		}
		if state, note := m.State(); state != counter.Failed || !strings.Contains(note, "gone") {
			t.Errorf("state %d: %s", state, note)
		}
	})
}

func TestQueryLines(t *testing.T) {
	got := driver.QueryLines("-- a\n\n SELECT 1; \nSELECT ';'\r\n;\n")
	if !slices.Equal(got, []string{"SELECT 1", "SELECT ';'"}) {
		t.Errorf("%q", got)
	}
}
