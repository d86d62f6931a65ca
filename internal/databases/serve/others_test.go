package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/redis"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// other is another process of the server's account, for example a service of the host. The directory of a data set
// is its working directory, and it has opened the data directory, which it can through /proc/PID/cwd of the
// server. On each request it writes all that it can.
type other struct {
	t    *testing.T
	tell io.Writer
	said *bufio.Reader
}

const puts = `exec 4<db 2>/dev/null
while read what; do
	for name in secret ` + dataset.MarkerFile + `; do
		rm -f $name; mv $name moved; echo "$what" >$name; rm -f $name; ln -s /etc/hostname $name
		echo "$what" >/proc/self/fd/3/other-$name
	done
	test "$what" = above || echo "$what" >/proc/self/fd/4/planted
	echo done >&5
done 2>/dev/null`

// startOther starts it with the account of the server's programs.
func startOther(t *testing.T, who *runAs) *other {
	t.Helper()
	cmd := who.command(db.Recipe{}, "/bin/sh", "", []string{"-c", puts})
	said, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, nil, w)
	tell, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tell.Close(); cmd.Wait(); said.Close() })
	return &other{t, tell, bufio.NewReader(said)}
}

// put lets it write and returns when it is done.
func (o *other) put(what string) {
	o.t.Helper()
	fmt.Fprintln(o.tell, what)
	if line, err := o.said.ReadString('\n'); line != "done\n" {
		o.t.Fatalf("the other process: %q, %v", line, err)
	}
}

// A process of the server's account that holds the directory of a data set during and after preparation changes
// nothing on which root relies.
func TestOthersWhilePrepared(t *testing.T) {
	testneed.Root(t)
	store, about := dataset.Store{Dir: t.TempDir()}, dataset.About{Kind: redis.Name, Version: "7", Layout: dataLayout}
	var them *other
	set, _, err := store.Use(t.Context(), about, 0, func(_ context.Context, dir string) (map[string]string, error) {
		err := errors.Join(os.Mkdir(filepath.Join(dir, db.RunDir), 0o700), os.Mkdir(filepath.Join(dir, db.DataDir), 0o700),
			os.WriteFile(filepath.Join(dir, db.SecretFile), []byte("right"), 0o600),
			os.WriteFile(filepath.Join(dir, db.DataDir, "rows"), []byte("rows"), 0o600))
		if err != nil {
			return nil, err
		}
		who, err := newRunAs(db.Recipe{Users: []string{"nobody"}, RunInDir: true}, dir, false, io.Discard)
		if err != nil {
			return nil, err
		}
		defer who.Close()
		them = startOther(t, who)
		them.put("above")
		if s, err := Secret(dir); s != "right" {
			t.Errorf("while it is prepared the password is %q, %v", s, err)
		}
		return map[string]string{db.Server: "/usr/bin/right"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	them.put("everywhere")
	if s, err := Secret(set.Dir); s != "right" {
		t.Errorf("the password is %q, %v", s, err)
	}
	if m, err := dataset.Verify(set.Dir); err != nil || m.Notes[db.Server] != "/usr/bin/right" {
		t.Errorf("the marker: %+v, %v", m, err)
	}
}

// uidOf is the user id of a process.
func uidOf(t *testing.T, pid int) int {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", pid), &st); err != nil {
		t.Fatal(err)
	}
	return int(st.Uid)
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return int(st.Uid)
}

// passable is a copy of MariaDB's data set in a directory that other users can search.
func passable(t *testing.T) string {
	t.Helper()
	dir := copied(t)
	if err := os.Chmod(filepath.Dir(filepath.Dir(filepath.Dir(dir))), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// root owns all files in the cache, whatever account the server had, and in a copy the directory and the files
// beside the data.
func TestWhoseTheFilesAre(t *testing.T) {
	testneed.Root(t)
	t.Parallel()
	for kind, copied := range map[string]func(*testing.T) string{redis.Name: copiedRedis, postgres.Name: copiedAccounts, mysql.MariaDB: passable} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := copied(t)
			for _, name := range []string{".", db.DataDir, db.RunDir, db.SecretFile, dataset.MarkerFile} {
				if uid := ownerOf(t, filepath.Join(dir, name)); uid != 0 {
					t.Errorf("in the cache %s is of user %d", name, uid)
				}
			}
			p, r, err := Server{Dir: dir}.Start(t.Context(), kind, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			for name, root := range map[string]bool{".": true, db.SecretFile: true, dataset.MarkerFile: true, db.DataDir: false, db.RunDir: false} {
				if uid := ownerOf(t, filepath.Join(dir, name)); (uid == 0) != root {
					t.Errorf("%s is of user %d", name, uid)
				}
			}
			protocol := map[string]string{mysql.MariaDB: mysql.Family}[kind]
			c := client(t, db.Address{Protocol: cmp.Or(protocol, kind), Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database})
			if err := c.Await(t.Context(), readyLimit, p.Alive); err != nil {
				t.Fatal(err)
			}
			if uid := uidOf(t, p.cmd.Process.Pid); uid == 0 {
				t.Error("the server is root")
			}
			c.Close() // PostgreSQL waits for its clients
			if err := p.Stop(r.Stop); err != nil {
				t.Error(err)
			}
		})
	}
}

// impostor replaces the program that a data set names by one that prints the right version and leaves a trace.
func impostor(t *testing.T, dir string) (trace string) {
	t.Helper()
	m, err := dataset.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	trace = filepath.Join(at, "trace")
	program := filepath.Join(at, "redis-server")
	path := filepath.Join(dir, dataset.MarkerFile)
	text, err := os.ReadFile(path)
	if err == nil {
		text = bytes.ReplaceAll(text, []byte(`"`+m.Notes[db.Server]+`"`), []byte(`"`+program+`"`))
		script := "#!/bin/sh\n: >" + trace + "\nexec " + m.Notes[db.Server] + " \"$@\"\n"
		err = errors.Join(os.WriteFile(program, []byte(script), 0o755), os.WriteFile(path, text, 0o600))
	}
	if m, again := dataset.Read(dir); err != nil || again != nil || m.Notes[db.Server] != program {
		t.Fatal(err, again, m.Notes)
	}
	return trace
}

func notExecuted(t *testing.T, trace string) {
	t.Helper()
	if _, err := os.Lstat(trace); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program that the data set names was executed: %v", err)
	}
}

// Other users may write to a copy on a shared volume: the program that it names is not executed.
func TestACopyNamesNoProgram(t *testing.T) {
	t.Parallel()
	dir := copiedRedis(t)
	trace := impostor(t, dir)
	p, _, err := Server{Dir: dir}.Start(t.Context(), redis.Name, io.Discard)
	notExecuted(t, trace)
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
}

// A data set in the cache whose marker another user could have written is prepared anew, with a line in the log; its
// program is not executed.
func TestAnothersMarkerInTheCache(t *testing.T) {
	testneed.Root(t)
	needRedis(t)
	t.Parallel()
	store := dataset.Store{Dir: t.TempDir()}
	p, err := Prepare{}.Run(t.Context(), redis.Name, store, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	trace := impostor(t, p.Dir)
	if err := os.Chown(filepath.Join(p.Dir, dataset.MarkerFile), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	again, err := Prepare{}.Run(t.Context(), redis.Name, store, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	if again.Cached || !strings.Contains(again.Instead, "is of user 65534") || strings.Count(log.String(), "prepared anew") != 1 {
		t.Errorf("%+v\n%s", again, &log)
	}
	if !filepath.IsAbs(again.Program) || strings.HasPrefix(again.Program, filepath.Dir(trace)) {
		t.Errorf("the program is %q", again.Program)
	}
	server, _, err := Server{Dir: again.Dir, Program: again.Program}.Start(t.Context(), redis.Name, io.Discard)
	notExecuted(t, trace)
	if err != nil {
		t.Fatal(err)
	}
	server.Kill()
}

// A FIFO or a link in the place of the lock file is neither waited for nor followed.
func TestLockOfOthers(t *testing.T) {
	dir := t.TempDir()
	lock := filepath.Join(dir, "postmaster.pid")
	for name, put := range map[string]func() error{
		"a named pipe": func() error { return unix.Mkfifo(lock, 0o600) },
		"a link":       func() error { return os.Symlink("/dev/zero", lock) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if id, ok := segmentOf(lock, os.Getpid()); ok {
			t.Errorf("%s: segment %d", name, id)
		}
		if err := (Server{Dir: dir}).removeStaleLock(nil, db.Recipe{Segment: "postmaster.pid"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
}

// No program that prepares a data set runs as root, also if the cache is closed to others.
func TestWhoPrepares(t *testing.T) {
	testneed.Root(t)
	t.Parallel()
	for kind, p := range map[string]Prepare{
		mysql.MariaDB: {Sysbench: sysbench.Data{Script: "oltp_read_only", Tables: 1, Rows: 10}},
		postgres.Name: {Pgbench: &pgbench.Data{Scale: 1}},
		redis.Name:    {},
	} {
		t.Run(kind, func(t *testing.T) {
			if _, err := Find(t.Context(), kind, "", ""); err != nil {
				testneed.Feature(t, kind, err)
			}
			t.Parallel()
			p.Into = t.TempDir()
			cmd, out := hiddenCommand(t, PrepareCommand, kind, p)
			cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			seen := map[string]bool{}
			for {
				select {
				case err := <-ended:
					if err != nil || len(seen) == 0 || strings.Contains(out.String(), "runs as root") {
						t.Errorf("%v, seen %v\n%s", err, seen, out)
					}
					return
				default:
				}
				for _, pid := range family(cmd.Process.Pid) {
					exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
					var st unix.Stat_t
					if err != nil || pid == cmd.Process.Pid || unix.Stat(fmt.Sprintf("/proc/%d", pid), &st) != nil || isSelf(exe) {
						continue
					}
					if seen[exe] = true; st.Uid == 0 {
						t.Errorf("%s runs as root", exe)
					}
				}
			}
		})
	}
}

// isSelf is true for a process between fork and exec, which is still this binary.
func isSelf(exe string) bool {
	self, err := os.Executable()
	return err == nil && exe == self
}
