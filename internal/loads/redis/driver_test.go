package redis_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/load"
	driver "github.com/tarelab/tare/internal/loads/redis"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/internal/wire/counter"
)

func TestMain(m *testing.M) { workloadtest.Main(m) }

var emptyRedis = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp("", "tare-load")
	if err != nil {
		return dataset.Prepared{}, err
	}
	return serve.Prepare{}.Run(context.Background(), redis.Name, dataset.Store{Dir: dir}, io.Discard)
})

// startRedis starts a load with its own server.
func startRedis(t *testing.T, p driver.Params) (driver.Params, *workloadtest.Process, *counter.Memory) {
	t.Helper()
	_, err := serve.Find(t.Context(), redis.Name, "", "")
	testneed.Feature(t, "redis", err)
	empty, err := emptyRedis()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	workloadtest.CopyTree(t, dir, empty.Dir)
	p.Service, p.Inside, p.Server.Dir, p.Server.Listen = redis.Name, true, dir, testneed.Address(t)
	m := workloadtest.Counters(t, 2)
	return p, workloadtest.Start(t, workloadtest.LoadTask(t, driver.Kind, p), m), m
}

// asksRedis is a second client of the load's server.
func asksRedis(t *testing.T, p driver.Params) *serve.Client {
	t.Helper()
	secret, err := serve.Secret(p.Server.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := serve.Connect(db.Address{Protocol: redis.Name, Dial: p.Server.Listen, User: db.User, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The count of commands equals the server's, and all keys exist before the load begins.
func TestRedisCountsExactly(t *testing.T) {
	t.Parallel()
	p, process, m := startRedis(t, driver.Params{Test: "set", Bytes: 10, Keys: 500, Pipeline: 7})
	workloadtest.AwaitReady(t, process, m)
	c := asksRedis(t, p)
	read := func() (done, calls uint64) {
		m.SetGate(true)
		workloadtest.Eventually(t, "paused", func() bool { return m.InFlight() == 0 })
		line, err := c.Value(t.Context(), "INFO commandstats cmdstat_set")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(line, "calls=%d,", &calls); err != nil {
			t.Fatal(line, err)
		}
		done = m.Ops()
		m.MarkThaw()
		m.SetGate(false)
		return done, calls
	}
	done, calls := read()
	workloadtest.Eventually(t, "going on", func() bool { return m.Ops() > done+1000 })
	doneThen, callsThen := read()
	if doneThen-done != callsThen-calls {
		t.Errorf("%d counted, %d done", doneThen-done, callsThen-calls)
	}
	if n, err := c.Value(t.Context(), "DBSIZE"); n != strconv.Itoa(p.Keys) || err != nil {
		t.Errorf("%s keys, %v", n, err)
	}
}

// Every test runs without a refused command, and the data do not grow.
func TestRedisTests(t *testing.T) {
	t.Parallel()
	for _, name := range driver.Tests() {
		t.Run(name, func(t *testing.T) {
			p, process, m := startRedis(t, driver.Params{Test: name, Bytes: 10, Keys: 50, Pipeline: 3})
			workloadtest.AwaitReady(t, process, m)
			c := asksRedis(t, p)
			keys := func() string {
				n, err := c.Value(t.Context(), "DBSIZE")
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			before, from := keys(), m.Ops()
			workloadtest.Eventually(t, "going on", func() bool { return m.Ops() > from+500 })
			var s counter.Snapshot
			if m.Read(&s); s.Errors != 0 {
				t.Errorf("%d errors: %s", s.Errors, process.Said())
			}
			// An empty list is no key.
			if after := keys(); name != "list" && name != "mixed" && after != before {
				t.Errorf("%s keys became %s", before, after)
			}
		})
	}
}

// A command that the server refuses during warm-up ends the load with the server's message.
func TestRedisIsFull(t *testing.T) {
	t.Parallel()
	_, process, m := startRedis(t, driver.Params{
		Test: "set", Bytes: 1000, Keys: 10_000, Pipeline: 1, Database: load.Database{Server: serve.Server{Options: []string{"--maxmemory=2mb"}}},
	})
	if code := process.Exit(t); code != 1 {
		t.Errorf("ended with %d", code)
	}
	if state, note := m.State(); state != counter.Failed || m.Ops() != 0 || !strings.Contains(note, "OOM command not allowed") {
		t.Errorf("state %d, %d operations: %s", state, m.Ops(), note)
	}
}

// A command that is refused later counts as an error and not as an operation; the load continues.
func TestRedisRefusesLater(t *testing.T) {
	t.Parallel()
	p, process, m := startRedis(t, driver.Params{Test: "sadd", Bytes: 3, Keys: 10, Pipeline: 2})
	workloadtest.AwaitReady(t, process, m)
	c := asksRedis(t, p)
	if err := c.Exec(t.Context(), "SET myset 1"); err != nil {
		t.Fatal(err)
	}
	var s counter.Snapshot
	workloadtest.Eventually(t, "failing", func() bool { m.Read(&s); return s.Errors > 10 })
	if err := c.Exec(t.Context(), "DEL myset"); err != nil {
		t.Fatal(err)
	}
	from := m.Ops()
	workloadtest.Eventually(t, "going on", func() bool { return m.Ops() > from+10 })
	if said := process.Said(); strings.Count(said, "WRONGTYPE") != 1 {
		t.Errorf("%s", said)
	}
}

func TestRedisServerDies(t *testing.T) {
	t.Parallel()
	p, process, m := startRedis(t, driver.Params{Test: "get", Bytes: 3, Keys: 10, Pipeline: 1})
	workloadtest.AwaitReady(t, process, m)
	server := 0
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the server's working directory is its data
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == filepath.Join(p.Server.Dir, db.DataDir) {
			server = workloadtest.PidOf(l)
		}
	}
	if server == 0 {
		t.Fatal("no server runs")
	}
	if err := unix.Kill(server, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := process.Exit(t); code != 1 {
		t.Errorf("ended with %d", code)
	}
	if state, note := m.State(); state != counter.Failed || !strings.Contains(note, "SIGKILL") {
		t.Errorf("state %d: %s", state, note)
	}
}
