// Package servertest tests, in every environment, which account the processes of servers and loads run
// as and which files they have open. It reads both from /proc while the processes work.
package servertest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/catalog/bodies"
	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/account"
	"github.com/tarelab/tare/internal/loads/load"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
	"github.com/tarelab/tare/internal/wire/readback"
)

// Roles are the hidden commands that the test binary has to know.
func Roles() []hidden.Role {
	return []hidden.Role{{Name: serve.Command, Args: "...", Run: serve.Main}, {Name: load.Command, Args: "...", Run: bodies.Main}}
}

// bound is how long a server may take to answer, and a load to do its first operation.
const bound = 3 * time.Minute

// Run tests every database that this host has, and two loads, in an environment.
func Run(t *testing.T, env environment.Environment, host facts.Host) {
	if answer := env.Support(host); answer.Answer != facts.Yes {
		testneed.Feature(t, env.Name(), fmt.Errorf("%s", answer.Reason))
	}
	for _, s := range databases.All() {
		name := s.Describe().Name
		t.Run(name, func(t *testing.T) {
			if name == "mysql" || name == "percona" {
				t.Skip("the same description as mariadb, in a root file system of its own elsewhere")
			}
			testServer(t, env, host, s.Describe(), false)
		})
		if name == "mariadb" || name == "postgres" || name == "clickhouse" {
			t.Run(name+" behind the wall", func(t *testing.T) { testServer(t, env, host, s.Describe(), true) })
		}
	}
	t.Run("load", func(t *testing.T) { testLoad(t, env, host, false) })
	t.Run("client", func(t *testing.T) { testLoad(t, env, host, true) })
}

// dataSets are the prepared data sets: by the name of the database a func() (dataset.Prepared, error),
// which prepares at its first call.
var dataSets sync.Map

// emptyDataSet prepares the empty data set of a database, once for all environments.
func emptyDataSet(t *testing.T, name string) dataset.Prepared {
	t.Helper()
	if _, err := serve.Find(t.Context(), name, "", ""); err != nil {
		testneed.Feature(t, name, err)
	}
	once, _ := dataSets.LoadOrStore(name, sync.OnceValues(func() (dataset.Prepared, error) {
		dir, err := os.MkdirTemp("", "tare-servertest")
		if err != nil {
			return dataset.Prepared{}, err
		}
		return serve.Prepare{}.Run(context.Background(), name, dataset.Store{Dir: dir}, io.Discard)
	}))
	p, err := once.(func() (dataset.Prepared, error))()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Clean removes the data sets that emptyDataSet prepared.
func Clean() {
	dataSets.Range(func(_, once any) bool {
		if p, err := once.(func() (dataset.Prepared, error))(); err == nil {
			os.RemoveAll(filepath.Dir(p.Dir))
		}
		return true
	})
}

// scratch makes a directory that every account can enter, like /var/tmp.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open opens an arm on a data set, or on an empty directory if data is "".
func open(t *testing.T, env environment.Environment, host facts.Host, data string) (environment.OpenArm, environment.Spec, *os.File) {
	t.Helper()
	// The journal is in the user's state directory: there tare cleanup finds it after a killed test.
	j, err := journal.Open(journal.StateDir(), fmt.Sprintf("s%dx%d", os.Getpid(), time.Now().UnixNano()%1e6))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	spec := environment.Spec{
		Run: j.Run(), Arm: env.Name(), Data: data, Scratch: scratch(t), Port: testneed.Port(t), Journal: j, Groups: host.Groups,
	}
	arm, err := env.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := arm.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
		log.Close()
	})
	return arm, spec, log
}

// statements make the server write, by the name of its protocol.
var statements = map[string][]string{
	"mysql":    {"CREATE TABLE t (a INT PRIMARY KEY, b TEXT)", "INSERT INTO t VALUES (1, REPEAT('x', 60000))", "SELECT b FROM t ORDER BY b", "DROP TABLE t"},
	"postgres": {"CREATE TABLE t (a INT PRIMARY KEY, b TEXT)", "INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, 2000) n", "CREATE INDEX ON t (b)", "SELECT b FROM t ORDER BY b LIMIT 1"},
	"redis":    {"SET a b", "GET a", "DEL a"},
}

// testServer runs a server in an arm, also behind the wall, and checks its processes from their start on.
func testServer(t *testing.T, env environment.Environment, host facts.Host, d db.Description, walled bool) {
	p := emptyDataSet(t, d.Name)
	arm, spec, log := open(t, env, host, p.Dir)
	at := arm.Place()
	if at.Sandboxed {
		t.Skip("the processes run on the sandbox's kernel, and this host's /proc does not show them")
	}
	params := fmt.Sprintf(`{"dir":%q,"program":%q,"listen":%q,"walled":%v,"own_root":%v}`, at.Volume, p.Program, at.Listen, walled, at.OwnRoot)
	running, err := arm.Start(t.Context(), environment.Process{Args: []string{serve.Command, d.Name, params}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	w := watch{arm: arm, spec: spec, pid: running.Pid(), log: log.Name(), seen: map[string]bool{}}
	want, err := expected(d.Users...)
	if err != nil {
		t.Fatal(err)
	}
	if d.TCPOnly {
		// The test may not reach the port, which may be in the arm's network namespace. A load that
		// the arm starts beside it does.
		client := fmt.Sprintf(`{"service":%q,"server":{"dir":%q,"listen":%q},"dial":%q,"queries":["SELECT count(*) FROM numbers(1000)"]}`, d.Name, p.Dir, at.Listen, at.Dial)
		checkLoad(t, w, d.Name, client, true, log)
	} else {
		w.ask(t, d, p, running, want)
	}
	w.look(t, &want)
	if len(w.seen) < 3 {
		t.Errorf("only %v was seen", w.seen)
	}
}

// ask makes the server write and read, by statements over its Unix socket.
func (w watch) ask(t *testing.T, d db.Description, p dataset.Prepared, running environment.Running, want account.Account) {
	t.Helper()
	secret, err := serve.Secret(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	// A Unix socket in an overlay can be reached only by its path in the overlay, not by its path in
	// the overlay's upper directory.
	dir := filepath.Join(fmt.Sprintf("/proc/%d/root", running.Pid()), w.arm.Place().Volume)
	c, err := serve.Connect(db.Address{Protocol: d.Protocol, Dir: dir, User: db.User, Secret: secret, Database: db.Database, Given: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	alive := func() error {
		w.look(t, nil)
		if environment.Ended(running) {
			return fmt.Errorf("the server ended: %+v", running.Exit())
		}
		return nil
	}
	if err := c.Await(t.Context(), bound, alive); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements[d.Protocol] {
		if err := c.Exec(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
		w.look(t, &want)
	}
}

// expected is the account that must run a server.
func expected(users ...string) (account.Account, error) {
	a, ok, err := account.First(users...)
	if err == nil && !ok {
		err = fmt.Errorf("this host has none of %s", strings.Join(users, ", "))
	}
	return a, err
}

// testLoad runs one of tare's own loads and checks its processes: commit in the arm, or spin outside.
func testLoad(t *testing.T, env environment.Environment, host facts.Host, outside bool) {
	arm, spec, log := open(t, env, host, "")
	at := arm.Place()
	if at.Sandboxed && !outside {
		t.Skip("the processes run on the sandbox's kernel, and this host's /proc does not show them")
	}
	kind, params := load.KindCommit, fmt.Sprintf(`{"dir":%q,"record_bytes":1024,"log_bytes":1048576}`, at.Volume)
	if outside {
		kind, params = load.KindSpin, `{"rounds":2000,"work":1}`
	}
	checkLoad(t, watch{arm: arm, spec: spec, log: log.Name(), seen: map[string]bool{}}, kind, params, outside, log)
}

// checkLoad runs a load in the arm of a watch, or outside, and checks its processes.
func checkLoad(t *testing.T, w watch, kind, params string, outside bool, log *os.File) {
	t.Helper()
	memory, err := counter.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	said, err := readback.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	running, err := w.arm.Start(t.Context(), environment.Process{
		Args: []string{load.Command, kind, params}, Files: []*os.File{memory.File(), said}, Log: log, Outside: outside,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.pid, w.outside = running.Pid(), outside
	for end := time.Now().Add(bound); memory.Ops() == 0; time.Sleep(time.Millisecond) {
		if environment.Ended(running) || time.Now().After(end) {
			t.Fatalf("it does nothing: %+v", running.Exit())
		}
	}
	w.look(t, &account.Nobody)
	if err := running.Kill(); err != nil {
		t.Error(err)
	}
	<-running.Done()
}
