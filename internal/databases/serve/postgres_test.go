package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// accounts is the data set of all tests, made by pgbench.
var accounts = sync.OnceValues(func() (dataset.Prepared, error) {
	dir, err := os.MkdirTemp(stores, "")
	if err != nil {
		return dataset.Prepared{}, err
	}
	p := Prepare{Pgbench: &pgbench.Data{Scale: 1}}
	return p.Run(context.Background(), postgres.Name, dataset.Store{Dir: dir}, io.Discard)
})

func needPostgres(t *testing.T) {
	t.Helper()
	if _, err := Find(t.Context(), postgres.Name, "", ""); err != nil {
		testneed.Feature(t, "postgres", err)
	}
}

// copiedAccounts is a copy of it, with a path that is too long for a socket, in directories that are closed to
// others.
func copiedAccounts(t *testing.T) string {
	t.Helper()
	needPostgres(t)
	p, err := accounts()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 20), "data")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	copyTree(t, dir, p.Dir)
	return dir
}

func postgresAddress(t *testing.T, dir, dial string) db.Address {
	return db.Address{
		Protocol: postgres.Name, Dir: dir, Dial: dial, User: db.User, Secret: secret(t, dir), Database: db.Database, Given: true,
	}
}

// begun is a server that the hidden command has started.
type begun struct {
	cmd   *exec.Cmd
	out   *bytes.Buffer
	ended chan error
}

func begin(t *testing.T, kind string, s Server) *begun {
	t.Helper()
	b := &begun{ended: make(chan error, 1)}
	b.cmd, b.out = hiddenCommand(t, Command, kind, s)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.ended <- b.cmd.Wait() }()
	t.Cleanup(func() { b.cmd.Process.Kill() })
	return b
}

func (b *begun) alive() error {
	select {
	case err := <-b.ended:
		b.ended <- err
		return fmt.Errorf("ended: %v", err)
	default:
		return nil
	}
}

// The hidden command runs the server with another account than root's; it answers over TCP and socket, settings are
// read back, and it shuts down.
func TestServePostgres(t *testing.T) {
	t.Parallel()
	dir := copiedAccounts(t)
	s := Server{Dir: dir, Listen: testneed.Address(t), Connections: 150, Settings: map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_sync_method": "open_datasync", "shared_buffers": "64M", "max_wal_size": "128M", "autovacuum": "off",
	}, Options: []string{"--work_mem=8MB"}}
	b := begin(t, postgres.Name, s)
	r, err := s.Recipe(t.Context(), postgres.Name)
	if err != nil {
		t.Fatal(err)
	}
	tcp := client(t, postgresAddress(t, dir, s.Listen))
	if err := tcp.Await(t.Context(), readyLimit, b.alive); err != nil {
		t.Fatalf("%v\n%s", err, b.out)
	}
	settings, err := tcp.ReadBack(t.Context(), r.ReadBack)
	if err != nil || len(settings) < 10 {
		t.Errorf("%v, %v", settings, err)
	}
	t.Logf("%+v", settings)
	socket := client(t, postgresAddress(t, dir, ""))
	for query, want := range map[string]string{
		"SELECT count(*) FROM pgbench_accounts": "100000", "SHOW work_mem": "8MB", "SHOW max_connections": "170", "SHOW listen_addresses": "127.0.0.1",
	} {
		if v, err := socket.Value(t.Context(), query); v != want || err != nil {
			t.Errorf("%s: %s, %v", query, v, err)
		}
	}
	if err := socket.ExecEach(t.Context(), r.Warm); err != nil {
		t.Error(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", b.cmd.Process.Pid), &st); err != nil || st.Uid == 0 {
		t.Errorf("it runs as user %d, %v", st.Uid, err)
	}
	if status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid)); !strings.Contains(string(status), "CapEff:\t0000000000000000") {
		t.Error("it has capabilities")
	}
	onlyWhatPostgresNeeds(t, socket, s.Listen)
	tcp.Close()
	socket.Close()
	b.cmd.Process.Signal(os.Signal(sigterm))
	if err := <-b.ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, b.out)
	}
	if password := secret(t, dir); strings.Contains(b.out.String(), password) || strings.Contains(strings.Join(b.cmd.Args, " "), password) {
		t.Error("the password was shown")
	}
}

// onlyWhatPostgresNeeds checks the rights of the load's user: all users of the host may reach the port.
func onlyWhatPostgresNeeds(t *testing.T, c *Client, dial string) {
	t.Helper()
	for _, forbidden := range []string{"SELECT count(*) FROM pg_authid", "SELECT pg_read_file('postgresql.conf')", "CREATE DATABASE another"} {
		if _, err := c.Value(t.Context(), forbidden); err == nil {
			t.Errorf("the load's user may %s", forbidden)
		}
	}
	for _, user := range []string{"tare", "postgres", "sbtest"} {
		a := db.Address{Protocol: postgres.Name, Dial: dial, User: user}
		if v, err := client(t, a).Value(t.Context(), "SELECT 42"); err == nil {
			t.Errorf("user %q gets in over TCP without a password: %s", user, v)
		}
	}
}

// segment is whether a process has a System V segment, and whether that is marked for removal: its key is 0 then.
func segment(t *testing.T, pid int) (there, marked bool) {
	t.Helper()
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		// key shmid perms size cpid ...
		if f := strings.Fields(line); len(f) > 4 && f[4] == fmt.Sprint(pid) {
			return true, f[0] == "0"
		}
	}
	return false, false
}

// A kill of all its processes leaves no shared memory.
func TestKilledPostgresLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := copiedAccounts(t)
	killed := func(t *testing.T, pid int) {
		t.Helper()
		eventually(t, "marked", func() bool {
			there, marked := segment(t, pid)
			return there && marked
		})
		all := family(pid)
		if len(all) < 4 {
			t.Errorf("only %v", all)
		}
		for _, p := range all {
			unix.Kill(p, unix.SIGKILL)
		}
		eventually(t, "gone", func() bool {
			there, _ := segment(t, pid)
			return !there
		})
	}
	t.Run("become", func(t *testing.T) {
		b := begin(t, postgres.Name, Server{Dir: dir})
		if err := client(t, postgresAddress(t, dir, "")).Await(t.Context(), readyLimit, b.alive); err != nil {
			t.Fatalf("%v\n%s", err, b.out)
		}
		killed(t, b.cmd.Process.Pid)
	})
	t.Run("child", func(t *testing.T) {
		p, _, err := Server{Dir: dir}.Start(t.Context(), Auto, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := client(t, postgresAddress(t, dir, "")).Await(t.Context(), readyLimit, p.Alive); err != nil {
			t.Fatal(err)
		}
		killed(t, p.cmd.Process.Pid)
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s", what)
		}
	}
}

// family is a process and its descendants.
func family(pid int) []int {
	all := []int{pid}
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
	return all
}

// A kill of all processes during the installation leaves no shared memory.
func TestInstallingPostgresKilled(t *testing.T) {
	testneed.Root(t)
	needPostgres(t)
	cmd, out := hiddenCommand(t, PrepareCommand, postgres.Name, Prepare{Pgbench: &pgbench.Data{Scale: 1}, Into: t.TempDir()})
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server, file := 0, ""
	for end := time.Now().Add(time.Minute); server == 0; {
		all := family(cmd.Process.Pid)
		for _, pid := range all {
			maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
			if found := regexp.MustCompile(`/dev/shm/PostgreSQL\.[0-9]+`).Find(maps); found != nil {
				server, file = pid, string(found)
			}
		}
		if server != 0 || time.Now().After(end) {
			for _, pid := range all {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		if server == 0 && time.Now().After(end) {
			t.Fatalf("no server with shared memory was seen\n%s", out)
		}
	}
	cmd.Wait()
	eventually(t, "gone", func() bool { return !alive(server) })
	if there, _ := segment(t, server); there {
		t.Error("its segment is still there")
	}
	if _, err := os.Stat(file); err == nil {
		t.Errorf("%s is still there", file)
	}
}

func TestPreparePostgres(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	p, err := accounts()
	if err != nil {
		t.Fatal(err)
	}
	if p.Cached || p.Versions["pgbench"] == "" || p.Versions["postgres"] == "" || p.Bytes > 200<<20 {
		t.Errorf("%+v", p)
	}
	again, err := Prepare{Pgbench: &pgbench.Data{Scale: 1}}.Run(t.Context(), postgres.Name, dataset.Store{Dir: filepath.Dir(p.Dir)}, io.Discard)
	if err != nil || !again.Cached || again.Dir != p.Dir {
		t.Errorf("%+v, %v", again, err)
	}
	for _, gone := range []string{"db/postmaster.pid", "db/postmaster.opts", "run/hba"} {
		if _, err := os.Stat(filepath.Join(p.Dir, gone)); err == nil {
			t.Errorf("%s was kept", gone)
		}
	}
	t.Logf("%d MB in %.1f s", p.Bytes>>20, p.Seconds)
}

// An ordinary user's server runs with the user's account.
func TestPostgresAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	uid, gid := testneed.Ordinary(t)
	needPostgres(t)
	dir, err := os.MkdirTemp("/tmp", "tare-user")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		t.Fatal(err)
	}
	cmd, out := hiddenCommand(t, PrepareCommand, postgres.Name, Prepare{Pgbench: &pgbench.Data{Scale: 1}, Into: dir})
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if p, err := dataset.Resolve(dir); err != nil || !strings.HasPrefix(p.Dir, dir) {
		t.Errorf("%+v, %v", p, err)
	}
}
