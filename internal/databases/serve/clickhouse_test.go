package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/clickhouse"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// fewHits is the data set of all tests, a small table.
var fewHits = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp(stores, "")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := Prepare{Hits: &clickhouse.Hits{Rows: 20_000}}
	return p.Run(context.Background(), clickhouse.Name, dataset.Store{Dir: dir}, io.Discard)
})

func needClickHouse(t *testing.T) Found {
	t.Helper()
	f, err := Find(t.Context(), clickhouse.Name, "", "")
	testneed.Feature(t, "clickhouse", err)
	return f
}

func copiedHits(t *testing.T) string {
	t.Helper()
	needClickHouse(t)
	p, err := fewHits()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "closed", "data")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	copyTree(t, dir, p.Dir)
	return dir
}

func clickhouseAt(t *testing.T, s Server) db.Address {
	return db.Address{Protocol: clickhouse.Name, Dial: s.Listen, User: db.User, Secret: secret(t, s.Dir), Database: db.Database}
}

// The hidden command runs the server with another account than root's; settings are read back, the server shuts
// down, and starts again on the same data.
func TestServeClickHouse(t *testing.T) {
	t.Parallel()
	s := Server{Dir: copiedHits(t), Listen: testneed.Address(t), Connections: 150, Settings: map[string]string{
		"max_threads": "1", "max_memory_usage": "1G", "max_block_size": "8192", "use_uncompressed_cache": "on",
	}, Options: []string{"--max_table_size_to_drop=1000"}}
	for range 2 {
		b := begin(t, clickhouse.Name, s)
		c := client(t, clickhouseAt(t, s))
		if err := c.Await(t.Context(), readyLimit, b.alive); err != nil {
			t.Fatalf("%v\n%s", err, b.out)
		}
		r, err := s.Recipe(t.Context(), clickhouse.Name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := c.ReadBack(t.Context(), r.ReadBack)
		if err != nil || len(settings) < 6 {
			t.Errorf("%v, %v", settings, err)
		}
		t.Logf("%+v", settings)
		// The sum over all columns of all rows is the same on every host.
		for query, want := range map[string]string{
			"SELECT count() FROM hits":              "20000",
			"SELECT sum(cityHash64(*)) FROM hits":   hitsSum,
			"SELECT uniqExact(CounterID) FROM hits": "100",
			"SELECT 'a\\tb\\\\c\\n'":                "a\tb\\c\n",
			"SELECT NULL":                           "",
			"SELECT count() FROM system.parts WHERE table = 'hits' AND active":                  "1",
			"SELECT value FROM system.settings WHERE name = 'http_receive_timeout'":             "1000000",
			"SELECT count() FROM system.processes WHERE user = 'sbtest' AND query LIKE '%zzz%'": "1",
		} {
			if v, err := c.Value(t.Context(), query); v != want || err != nil {
				t.Errorf("%s: %q, %v", query, v, err)
			}
		}
		if err := c.ExecEach(t.Context(), r.Warm); err != nil {
			t.Error(err)
		}
		notRoot(t, b)
		onlyWhatClickHouseNeeds(t, c, s.Listen)
		c.Close()
		b.cmd.Process.Signal(os.Signal(sigterm))
		if err := <-b.ended; err != nil {
			t.Errorf("it ended with %v\n%s", err, b.out)
		}
		if password := secret(t, s.Dir); strings.Contains(b.out.String(), password) || strings.Contains(strings.Join(b.cmd.Args, " "), password) {
			t.Error("the password was shown")
		}
	}
}

const hitsSum = "16673803982520629503"

func notRoot(t *testing.T, b *begun) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", b.cmd.Process.Pid), &st); err != nil || st.Uid == 0 {
		t.Errorf("it runs as user %d, %v", st.Uid, err)
	}
	if status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid)); !strings.Contains(string(status), "CapEff:\t0000000000000000") {
		t.Error("it has capabilities")
	}
}

// onlyWhatClickHouseNeeds checks the rights of the load's user: all users of the host may reach the port.
func onlyWhatClickHouseNeeds(t *testing.T, c *Client, dial string) {
	t.Helper()
	for _, forbidden := range []string{"CREATE DATABASE another", "SELECT count() FROM file('/etc/passwd', 'TSV', 'a String')", "SELECT 1 FROM default.x"} {
		if err := c.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("the load's user may %s", forbidden)
		}
	}
	for _, user := range []string{"default", "clickhouse", "sbtest", ""} {
		a := db.Address{Protocol: clickhouse.Name, Dial: dial, User: user}
		c := client(t, a)
		v, err := c.Value(t.Context(), "SELECT 42")
		if c.Close(); err == nil { // an open connection would delay the server's end
			t.Errorf("user %q gets in without a password: %s", user, v)
		}
	}
}

func TestPrepareClickHouse(t *testing.T) {
	t.Parallel()
	f := needClickHouse(t)
	p, err := fewHits()
	if err != nil {
		t.Fatal(err)
	}
	if p.Cached || p.Versions["clickhouse"] != f.Version.Text || p.Bytes > 10<<20 {
		t.Errorf("%+v", p)
	}
	again, err := Prepare{Hits: &clickhouse.Hits{Rows: 20_000}}.Run(t.Context(), clickhouse.Name, dataset.Store{Dir: filepath.Dir(p.Dir)}, io.Discard)
	if err != nil || !again.Cached || again.Dir != p.Dir {
		t.Errorf("%+v, %v", again, err)
	}
	for _, gone := range []string{"run/config.xml", "run/users.xml", "db/preprocessed_configs", "db/status"} {
		if _, err := os.Stat(filepath.Join(p.Dir, gone)); err == nil {
			t.Errorf("%s was kept", gone)
		}
	}
	t.Logf("%d kB in %.1f s", p.Bytes>>10, p.Seconds)
}

// A query that fails at any time returns the server's message, and the next query is answered.
func TestClickHouseQueries(t *testing.T) {
	t.Parallel()
	s := Server{Dir: copiedHits(t), Listen: testneed.Address(t)}
	p, r, err := s.Start(t.Context(), Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	a := clickhouseAt(t, s)
	if err := client(t, a).Await(t.Context(), readyLimit, p.Alive); err != nil {
		t.Fatal(err)
	}
	c, err := clickhouse.Dial(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { c.Close() }()
	for _, q := range []struct {
		query, want string
		code        int
	}{
		{"SELECT count() FROM hits", "", 0},
		{"SELEC 1", "Syntax error", 62},
		{"SELECT nothing FROM hits", "nothing", 47},
		{"SELECT number, intDiv(1, toInt32(3000000) - toInt32(number)) FROM system.numbers LIMIT 5000000", "Division by zero", 153},
		{"SELECT number FROM system.numbers LIMIT 1000000", "", 0},
	} {
		err := c.Run(q.query)
		var answer *clickhouse.Error
		switch {
		case q.code == 0 && err != nil:
			t.Errorf("%s: %v", q.query, err)
		case q.code != 0 && (!errors.As(err, &answer) || answer.Code != q.code || !strings.Contains(answer.Text, q.want) || strings.Contains(answer.Text, "\n")):
			t.Errorf("%s: %+v", q.query, err)
		}
		if c.Broken() {
			c.Close()
			if c, err = clickhouse.Dial(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("wrong password", func(t *testing.T) {
		wrong := a
		wrong.Secret = "guessed"
		err := client(t, wrong).Await(t.Context(), readyLimit, p.Alive)
		if err == nil || hint.Of(err) == "" || strings.Contains(err.Error(), "guessed") {
			t.Errorf("%v (%s)", err, hint.Of(err))
		}
	})
	if err := p.Stop(r.Stop); err != nil {
		t.Error(err)
	}
	if err := c.Run("SELECT 1"); err == nil || !c.Broken() {
		t.Errorf("a server that has ended answers: %v", err)
	}
}

func TestFaultsOfClickHouse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // the cases are tried after the end of this function
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *Server)
		want   []string
	}{
		{"port taken", func(t *testing.T, s *Server) { s.Listen = taken.Addr().String() }, []string{"address already in use", "ss -ltnp"}},
		{"no address", func(t *testing.T, s *Server) { s.Listen = "" }, []string{"needs an address"}},
		{"unknown option", func(t *testing.T, s *Server) { s.Options = []string{"--users_config=no.xml"} }, []string{"no.xml"}},
		{"unknown setting", func(t *testing.T, s *Server) { s.Settings = map[string]string{"fsync": "on"} }, []string{`no setting is called "fsync"`}},
		{"not ours", func(t *testing.T, s *Server) { os.Remove(filepath.Join(s.Dir, dataset.MarkerFile)) }, []string{"tare did not make it"}},
		{"a device", func(t *testing.T, s *Server) { s.Dir = "/dev/null" }, []string{"is a device"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Server{Dir: copiedHits(t), Listen: testneed.Address(t)}
			c.change(t, &s)
			b := begin(t, clickhouse.Name, s)
			eventually(t, "ended", func() bool { return b.alive() != nil })
			if err := <-b.ended; err == nil {
				t.Error("no error")
			}
			out := b.out
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
	for name, p := range map[string]Prepare{
		"server is not there":      {Server: "/nowhere/clickhouse-server"},
		"server is something else": {Server: "/bin/true"},
		"server is another":        {Server: "/bin/false"},
		"server's option":          {Hits: &clickhouse.Hits{Rows: 10}, Options: []string{"--users_config=no.xml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needClickHouse(t)
			store := dataset.Store{Dir: t.TempDir()}
			_, err := p.Run(t.Context(), clickhouse.Name, store, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			t.Logf("%v (%s)", err, hint.Of(err))
			if left, _ := store.List(); len(left) > 0 {
				t.Errorf("left %+v", left)
			}
		})
	}
}

// The error of a server that cannot start has the last lines of its log.
func TestClickHouseCannotStart(t *testing.T) {
	t.Parallel()
	s := Server{Dir: copiedHits(t), Listen: testneed.Address(t), Options: []string{"--users_config=no.xml"}}
	p, _, err := s.Start(t.Context(), Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	err = client(t, clickhouseAt(t, s)).Await(t.Context(), readyLimit, p.Alive)
	if err == nil || !strings.Contains(err.Error(), "no.xml") {
		t.Errorf("%v", err)
	}
}

// An ordinary user's server runs with the user's account.
func TestClickHouseAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	uid, gid := testneed.Ordinary(t)
	needClickHouse(t)
	dir, err := os.MkdirTemp("/tmp", "tare-user")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	cmd, out := hiddenCommand(t, PrepareCommand, clickhouse.Name, Prepare{Hits: &clickhouse.Hits{Rows: 10}, Into: dir})
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if p, err := dataset.Resolve(dir); err != nil || !strings.HasPrefix(p.Dir, dir) {
		t.Errorf("%+v, %v", p, err)
	}
}
