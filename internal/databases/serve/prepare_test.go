package serve

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/testing/testneed"
)

func TestPrepare(t *testing.T) {
	t.Parallel()
	p := prepared(t)
	if p.Cached || p.Bytes < 10<<20 || p.Versions["mariadb"] == "" || p.Versions["sysbench"] == "" {
		t.Errorf("%+v", p)
	}
	again, err := small.Run(t.Context(), Auto, dataset.Store{Dir: shared.dir}, io.Discard)
	if err != nil || !again.Cached || again.Dir != p.Dir {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	for _, file := range []string{".", db.SecretFile} {
		if st, err := os.Stat(filepath.Join(p.Dir, file)); err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v: want it closed to others", file, st.Mode(), err)
		}
	}
	// Other scripts of the family share the data set, other sizes do not.
	other := small
	other.Sysbench.Script = "oltp_write_only"
	if o, err := other.Run(t.Context(), Auto, dataset.Store{Dir: shared.dir}, io.Discard); err != nil || o.Dir != p.Dir {
		t.Errorf("oltp_write_only: %+v, %v", o, err)
	}
}

func TestPrepareAnswers(t *testing.T) {
	t.Parallel()
	p := prepared(t)
	request := small
	request.Into = t.TempDir()
	cmd, out := hiddenCommand(t, PrepareCommand, mysql.MariaDB, request)
	cache := t.TempDir()
	if err := os.Mkdir(filepath.Join(cache, "tare"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared.dir, filepath.Join(cache, "tare", "data")); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := dataset.Resolve(request.Into)
	if err != nil || got.Key != p.Key || got.Dir != filepath.Join(cache, "tare", "data", p.Key) || !got.Cached {
		t.Errorf("%+v, %v", got, err)
	}
}

// A starting server removes temporary tables of other servers in its directory for them, so an installation must not
// share the directory of the host's MariaDB.
func TestPrepareLeavesTemporaryTables(t *testing.T) {
	t.Parallel()
	prepared(t) // the tools are there
	foreign := filepath.Join("/tmp", "#sql-temptable-tare-"+strconv.Itoa(os.Getpid())+".MAI")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(foreign)
	if _, err := (Prepare{}).Run(t.Context(), mysql.MariaDB, dataset.Store{Dir: t.TempDir()}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("the installation removed another server's temporary table: %v", err)
	}
}

// The prepare command of a user's script makes the data set.
func TestPrepareWithAScript(t *testing.T) {
	t.Parallel()
	prepared(t) // the tools are there
	script := filepath.Join(t.TempDir(), "mine.lua")
	if err := os.WriteFile(script, []byte(`
function prepare()
   local con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE mine (id INT PRIMARY KEY)")
   con:query("INSERT INTO mine VALUES (7)")
end
function event() end`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := small
	p.Sysbench.Script = script
	store := dataset.Store{Dir: t.TempDir()}
	var log bytes.Buffer
	made, err := p.Run(t.Context(), Auto, store, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	server, r, err := Server{Dir: made.Dir}.Start(t.Context(), Auto, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	c := client(t, db.Address{Dir: made.Dir, User: db.User, Secret: secret(t, made.Dir), Database: db.Database})
	if err := c.Await(t.Context(), readyLimit, server.Alive); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Value(t.Context(), "SELECT id FROM mine"); v != "7" || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	if err := server.Stop(r.Stop); err != nil {
		t.Error(err)
	}
	// A server ran in the cache, so the data set has changed.
	if again, err := p.Run(t.Context(), Auto, store, io.Discard); err != nil || again.Cached {
		t.Errorf("it was used again: %+v, %v", again, err)
	}
}

func TestFaultsOfPrepare(t *testing.T) {
	t.Parallel()
	prepared(t)
	broken := filepath.Join(t.TempDir(), "broken.lua")
	if err := os.WriteFile(broken, []byte("function prepare() error('on purpose') end function event() end"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, kind string
		change     func(*Prepare)
		want       []string
		remedy     string
	}{
		{"sysbench missing", Auto, func(p *Prepare) { p.Program = "/nowhere/sysbench" }, []string{"find sysbench", "no such file"}, "apt-get install sysbench"},
		{"sysbench is something else", Auto, func(p *Prepare) { p.Program = "/bin/true" }, []string{"unknown version of sysbench"}, ""},
		{"server missing", mysql.Oracle, func(*Prepare) {}, []string{"the server is mariadb", "not mysql"}, "apt-get install mysql-server"},
		{"server missing at a path", Auto, func(p *Prepare) { p.Server = "/nowhere/mysqld" }, []string{"no server program", "no such file"}, "server=PATH"},
		{"server is something else", mysql.MariaDB, func(p *Prepare) { p.Server = "/bin/true" }, []string{"unknown version"}, ""},
		{"no such service", "oracle", func(*Prepare) {}, []string{`no service "oracle": want one of mariadb, mysql, percona`}, ""},
		{"server cannot start", Auto, func(p *Prepare) { p.Options = []string{"--no-such-option=1"} }, []string{"the installation of mariadb", "[ERROR]"}, ""},
		{"script missing", Auto, func(p *Prepare) { p.Sysbench.Script = "/nowhere.lua" }, []string{"read the script", "no such file"}, ""},
		{"script fails", Auto, func(p *Prepare) { p.Sysbench.Script = broken }, []string{"sysbench prepare", "on purpose"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := small
			c.change(&p)
			store := dataset.Store{Dir: t.TempDir()}
			_, err := p.Run(t.Context(), c.kind, store, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
			if !strings.Contains(hint.Of(err), c.remedy) {
				t.Errorf("remedy %q, want %q", hint.Of(err), c.remedy)
			}
			if list, err := store.List(); err != nil || len(list) != 0 {
				t.Errorf("left %+v, %v", list, err)
			}
		})
	}
}

// tiny is a file system of this size.
func tiny(t *testing.T, size string) string {
	t.Helper()
	testneed.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tare-test", dir, "tmpfs", 0, "size="+size); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("something still uses the file system: %v", err)
			unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	return dir
}

func TestDiskTooSmall(t *testing.T) {
	t.Parallel()
	prepared(t)
	for _, size := range []string{"50m", "1000m", "1074m"} { // 1 GiB stays free
		_, err := small.Run(t.Context(), Auto, dataset.Store{Dir: tiny(t, size)}, io.Discard)
		if !errors.Is(err, reserve.ErrShort) || !strings.Contains(err.Error(), "needs 200 MiB") || !strings.Contains(hint.Of(err), "XDG_CACHE_HOME") {
			t.Errorf("%s: %v (%s)", size, err, hint.Of(err))
		}
	}
}

// If the estimate of the size was wrong, preparing ends while 1 GiB is still free, or because a program asks for more
// at once. The error says so, and nothing is left.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	prepared(t)
	dir := tiny(t, "1234m")
	for name, options := range map[string][]string{
		"while installing": {"--innodb-log-file-size=300M"},
		"while loading":    {"--innodb-log-file-size=190M"},
		"full":             {"--innodb-log-file-size=1500M"},
	} {
		t.Run(name, func(t *testing.T) {
			p := small
			p.Options = options
			p.Sysbench.Rows = 600
			store := dataset.Store{Dir: dir}
			_, err := p.Run(t.Context(), Auto, store, io.Discard)
			if !errors.Is(err, reserve.ErrShort) || !strings.Contains(hint.Of(err), "XDG_CACHE_HOME") {
				t.Errorf("%v (%s)", err, hint.Of(err))
			}
			if list, err := store.List(); err != nil || len(list) != 0 {
				t.Errorf("left %+v, %v", list, err)
			}
		})
	}
}

// A kill at any time leaves no process and no data set, and the next prepare works.
func TestPrepareKilled(t *testing.T) {
	t.Parallel()
	prepared(t)
	cache := t.TempDir()
	store := dataset.Store{Dir: filepath.Join(cache, "tare", "data")}
	for _, after := range []time.Duration{50, 300, 600, 900} {
		request := small
		request.Into = t.TempDir()
		cmd, out := hiddenCommand(t, PrepareCommand, Auto, request)
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			left := usersOf(cache)
			if len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %v: %q still run\n%s", after, left, out)
			}
		}
		list, err := store.List()
		if err != nil {
			t.Error(err)
		}
		for _, e := range list {
			if e.Broken == "" {
				t.Logf("it was finished within %v", after)
			}
		}
	}
	if _, err := small.Run(t.Context(), Auto, store, io.Discard); err != nil {
		t.Fatal(err)
	}
	if list, err := store.List(); err != nil || len(list) != 1 || list[0].Broken != "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// usersOf are the processes with a directory in their arguments.
func usersOf(dir string) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), dir) {
			out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}
