package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// TestMain runs the hidden commands, if the arguments name one, or the tests.
func TestMain(m *testing.M) {
	if code, ok := hidden.Run(foreign.Roles(), os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Command:
			os.Exit(Main(os.Args[2:]))
		case PrepareCommand:
			os.Exit(PrepareMain(os.Args[2:]))
		}
	}
	flag.Parse()
	// The tests mostly wait for servers.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	var err error
	if stores, err = os.MkdirTemp("", "tare-serve"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(stores); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// stores is the store of the tests' data sets.
var stores string

var small = Prepare{Sysbench: sysbench.Data{Script: "oltp_read_only", Tables: 2, Rows: 500}}

// shared is the data set of all tests, built once.
var shared struct {
	once sync.Once
	dir  string
	made dataset.Prepared
	err  error
}

func prepared(t *testing.T) dataset.Prepared {
	t.Helper()
	testneed.Tool(t, "mariadbd")
	testneed.Tool(t, "sysbench")
	shared.once.Do(func() {
		if shared.dir, shared.err = os.MkdirTemp(stores, ""); shared.err == nil {
			shared.made, shared.err = small.Run(context.Background(), mysql.MariaDB, dataset.Store{Dir: shared.dir}, io.Discard)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.made
}

// copied is a copy of the data set, with a path that is too long for a socket.
func copied(t *testing.T) string {
	t.Helper()
	p := prepared(t)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 20), "data")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	copyTree(t, dir, p.Dir)
	return dir
}

// copyTree copies a data set for one test, without the syncs of clonetree.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", "--reflink=auto", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", from, err, out)
	}
}

// hiddenCommand is this binary with a hidden command; its output is in the buffer after it has ended.
func hiddenCommand(t *testing.T, command, kind string, params any) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	b, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", command, kind, string(b))
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

func client(t *testing.T, a db.Address) *Client {
	t.Helper()
	c, err := Connect(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func secret(t *testing.T, dir string) string {
	t.Helper()
	s, err := Secret(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The hidden command executes the server on a copy of a data set, in the process that was started. The server answers
// over TCP and socket, settings are read back, and it shuts down.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	s := Server{Dir: dir, Listen: testneed.Address(t), Connections: 300, Settings: map[string]string{
		"flush_method": "O_DIRECT_NO_FSYNC", "doublewrite": "off", "flush_log_at_trx_commit": "2", "redo_log": "16M", "buffer_pool": "32M", "performance_schema": "on",
	}}
	cmd, out := hiddenCommand(t, Command, Auto, s)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer cmd.Process.Kill()
	alive := func() error {
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("ended: %v", err)
		default:
			return nil
		}
	}
	r, err := s.Recipe(t.Context(), mysql.MariaDB)
	if err != nil {
		t.Fatal(err)
	}
	user := db.Address{Dir: dir, Dial: s.Listen, User: db.User, Secret: secret(t, dir), Database: db.Database}
	tcp := client(t, user)
	if err := tcp.Await(t.Context(), readyLimit, alive); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	settings, err := tcp.ReadBack(t.Context(), r.ReadBack)
	if err != nil || len(settings) < 10 {
		t.Errorf("%v, %v", settings, err)
	}
	t.Logf("%+v", settings)
	user.Dial = ""
	socket := warmed(t, user, r.Warm, alive)
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); err != nil || filepath.Base(exe) != "mariadbd" {
		t.Errorf("the process is %s, %v", exe, err)
	}
	onlyWhatItNeeds(t, socket, db.Address{Dial: s.Listen})
	cmd.Process.Signal(os.Interrupt) // Ctrl-C reaches all processes
	time.Sleep(50 * time.Millisecond)
	if err := alive(); err != nil {
		t.Errorf("Ctrl-C ended it: %v", err)
	}
	cmd.Process.Signal(os.Signal(sigterm))
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, out)
	}
	if strings.Contains(out.String(), user.Secret) || strings.Contains(strings.Join(cmd.Args, " "), user.Secret) {
		t.Error("the password was shown")
	}
}

// warmed returns a client after the server has read all tables; it checks their rows.
func warmed(t *testing.T, a db.Address, warm string, alive func() error) *Client {
	t.Helper()
	c := client(t, a)
	if err := c.Await(t.Context(), readyLimit, alive); err != nil {
		t.Fatal(err)
	}
	if err := c.ExecEach(t.Context(), warm); err != nil {
		t.Error(err)
	}
	if n, err := c.Value(t.Context(), "SELECT COUNT(*) FROM sbtest2"); n != "500" || err != nil {
		t.Errorf("%s rows, %v", n, err)
	}
	return c
}

// onlyWhatItNeeds checks the rights of the load's user: the server may run as root, and all users of the host may reach
// its port.
func onlyWhatItNeeds(t *testing.T, c *Client, tcp db.Address) {
	t.Helper()
	for _, forbidden := range []string{"SELECT COUNT(*) FROM mysql.global_priv", "SELECT 1 INTO OUTFILE '/tmp/tare-outfile'", "SHUTDOWN"} {
		if _, err := c.Value(t.Context(), forbidden); err == nil {
			t.Errorf("the load's user may %s", forbidden)
		}
	}
	for _, user := range []string{"root", "sbtest", ""} {
		tcp.User = user
		if v, err := client(t, tcp).Value(t.Context(), "SELECT 42"); err == nil {
			t.Errorf("user %q gets in over TCP without a password: %s", user, v)
		}
	}
}

func TestFaultsOfServe(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // the cases are tried after the end of this function
	edit := func(t *testing.T, dir, old, new string) {
		path := filepath.Join(dir, dataset.MarkerFile)
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(old)) {
			t.Fatalf("no %s in %s: %v", old, b, err)
		}
		os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(new)), 0o600)
	}
	for _, c := range []struct {
		name   string
		kind   string
		change func(t *testing.T, s *Server)
		want   []string
	}{
		{"port taken", Auto, func(t *testing.T, s *Server) { s.Listen = taken.Addr().String() }, []string{"address already in use", "ss -ltnp"}},
		{"unknown option", Auto, func(t *testing.T, s *Server) { s.Options = []string{"--no-such-option=1"} }, []string{"unknown variable 'no-such-option=1'"}},
		{"unknown setting", Auto, func(t *testing.T, s *Server) { s.Settings = map[string]string{"fsync": "off"} }, []string{`no setting is called "fsync"`}},
		{"another service", mysql.Percona, func(*testing.T, *Server) {}, []string{"is one of mariadb, not of percona"}},
		{"not prepared", Auto, func(t *testing.T, s *Server) { os.Remove(filepath.Join(s.Dir, dataset.MarkerFile)) }, []string{"is not empty and holds no data set of tare", "name an empty"}},
		{"nothing there", Auto, func(t *testing.T, s *Server) { s.Dir = t.TempDir() }, []string{"not a data set of tare"}},
		{"a device", Auto, func(t *testing.T, s *Server) { s.Dir = "/dev/null" }, []string{"raw device", "make a file system"}},
		{"a file", Auto, func(t *testing.T, s *Server) { s.Dir = filepath.Join(s.Dir, db.SecretFile) }, []string{"is not a directory"}},
		{"server updated", Auto, func(t *testing.T, s *Server) { edit(t, s.Dir, `"version": "10.`, `"version": "9.`) }, []string{"was made by mariadb 9.", "is 10."}},
		{"server removed", Auto, func(_ *testing.T, s *Server) { s.Program = "/usr/sbin/gone" }, []string{"no server program", "name the server's program with server=PATH"}},
		{"data damaged", Auto, func(t *testing.T, s *Server) { os.Truncate(filepath.Join(s.Dir, "db", "ibdata1"), 1<<20) }, []string{"[ERROR]", "ibdata1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Server{Dir: copied(t)}
			c.change(t, &s)
			cmd, out := hiddenCommand(t, Command, c.kind, s)
			if err := cmd.Run(); err == nil {
				t.Error("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

func TestCalledWrongly(t *testing.T) {
	for _, args := range [][]string{nil, {"auto"}, {"auto", "{}", "x"}} {
		if Main(args) != 2 || PrepareMain(args) != 2 {
			t.Errorf("%q was accepted", args)
		}
	}
	for _, params := range []string{"", "{", `{"password":"x"}`} {
		if Main([]string{Auto, params}) != 1 || PrepareMain([]string{Auto, params}) != 1 {
			t.Errorf("%q was accepted", params)
		}
	}
}

func TestAwaitSaysWhy(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	s := Server{Dir: dir}
	var log bytes.Buffer
	p, _, err := s.Start(t.Context(), Auto, &log)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	wrong := client(t, db.Address{Dir: dir, User: db.User, Secret: "wrong", Database: db.Database})
	err = wrong.Await(t.Context(), readyLimit, p.Alive)
	if err == nil || !strings.Contains(err.Error(), "Access denied") || hint.Of(err) == "" || strings.Contains(err.Error(), "wrong") {
		t.Errorf("wrong password: %v (%s)", err, hint.Of(err))
	}
	right := db.Address{Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database}
	c := client(t, right)
	if err := c.Await(t.Context(), readyLimit, p.Alive); err != nil {
		t.Fatal(err)
	}
	_, err = c.ReadBack(t.Context(), []db.Query{{Name: "innodb_flush_method", Ask: "SELECT @@innodb_flush_method", Wanted: "nosync", Accepts: func(got string) bool { return got == "nosync" }}})
	if err == nil || !strings.Contains(err.Error(), `innodb_flush_method is "O_DIRECT" instead of "nosync"`) {
		t.Errorf("a setting that did not take: %v", err)
	}
	p.Kill()
	if err := client(t, right).Await(t.Context(), readyLimit, p.Alive); err == nil || !strings.Contains(err.Error(), "the server was ended by SIGKILL") {
		t.Errorf("a dead server: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	if err := client(t, right).Await(ctx, readyLimit, func() error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("told to end: %v", err)
	}
	if err := client(t, right).Await(t.Context(), 30*time.Millisecond, func() error { return nil }); err == nil || !strings.Contains(err.Error(), "answered no query within 30ms") {
		t.Errorf("nobody there: %v", err)
	}
}
