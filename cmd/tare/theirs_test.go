package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// theirs is a running server that stands for the user's own.
type theirs struct {
	t           *testing.T
	kind        string
	dir, listen string
	recipe      db.Recipe
}

// startTheirs starts a server with data and settings.
func startTheirs(t *testing.T, kind string, data serve.Prepare, s serve.Server) *theirs {
	t.Helper()
	testneed.Root(t)
	p, err := data.Run(t.Context(), kind, dataset.Store{Dir: t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	s.Dir, s.Listen = p.Dir, testneed.Address(t)
	server, r, err := s.Start(t.Context(), kind, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	their := &theirs{t, kind, p.Dir, s.Listen, r}
	c := their.connect(db.User, their.secret())
	if err := c.Await(t.Context(), time.Minute, server.Alive); err != nil {
		t.Fatal(err)
	}
	return their
}

func (s *theirs) secret() string {
	s.t.Helper()
	secret, err := serve.Secret(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// protocol is the protocol of the server.
func (s *theirs) protocol() string {
	if s.kind == mysql.MariaDB {
		return mysql.Family
	}
	return s.kind
}

// connect connects as a user over TCP, or without a password as the administrator over the socket.
func (s *theirs) connect(user, secret string) *serve.Client {
	s.t.Helper()
	a := db.Address{Protocol: s.protocol(), Dir: s.dir, Dial: s.listen, User: user, Secret: secret, Given: true}
	if secret == "" {
		a.Dial = ""
	}
	c, err := serve.Connect(a)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// dump writes what a dump tool prints, with the user's own names of owners, to a file, which an ending packs.
func (s *theirs) dump(name, program string, args ...string) string {
	s.t.Helper()
	host, port, err := db.SplitAddress(s.listen)
	if err != nil {
		s.t.Fatal(err)
	}
	args = append(args, "--host="+host, fmt.Sprintf("--port=%d", port), db.Database)
	cmd := exec.Command(testneed.Tool(s.t, program), args...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+s.secret(), "PGPASSWORD="+s.secret())
	var failed bytes.Buffer
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", program, err, failed.String())
	}
	if pack := map[string]string{".gz": "gzip", ".zst": "zstd"}[filepath.Ext(name)]; pack != "" {
		z := exec.Command(testneed.Tool(s.t, pack), "-c")
		z.Stdin = bytes.NewReader(text)
		if text, err = z.Output(); err != nil {
			s.t.Fatalf("%s: %v", pack, err)
		}
	}
	return written(s.t, name, string(text))
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shop is a small schema like Sakila's, with foreign keys, a view, a trigger and a function.
func shop(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../internal/databases/serve/testdata/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shopping is a mix of two transactions for the shop: three of four only read.
const shopping = `\set id random(1, 2)
\set kind random(1, 4)
\if :kind <= 3
SELECT title, actor FROM film_list WHERE actor = 'GUINESS';
SELECT films_of(:id);
\else
START TRANSACTION;
UPDATE film SET rental_rate = rental_rate + 0.01 WHERE film_id = :id;
COMMIT;
\endif
`

// banking is a script of pgbench for its own tables: one transaction of four writes.
const banking = `\set aid random(1, 100000)
\set kind random(1, 4)
\if :kind = 1
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
END;
\else
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
\endif
`

// newRun is a run with a state, a cache and a result directory of its own.
func newRun(t *testing.T) *database {
	t.Helper()
	testneed.Root(t)
	home := t.TempDir()
	return &database{t: t, home: home, dir: filepath.Join(home, "result")}
}

// whole runs tare, which must measure blocks in which no window was dropped, and returns the record.
func whole(t *testing.T, args ...string) *record.Result {
	t.Helper()
	d := newRun(t)
	r := d.begin(append([]string{"run", "-o", d.dir, "--budget", "9s"}, args...)...).end(0)
	measured(t, d, r)
	return r
}

func measured(t *testing.T, d *database, r *record.Result) {
	t.Helper()
	blocks, dropped := 0, ""
	for _, l := range r.Lines {
		if l.Block == nil {
			continue
		}
		blocks++
		for _, w := range l.Block.Windows {
			if w.Dropped != "" {
				dropped += fmt.Sprintf("%s: %s %s\n", w.Arm, w.Dropped, w.Detail)
			}
		}
	}
	if blocks == 0 || strings.Count(dropped, "\n") > blocks {
		t.Errorf("%d blocks; dropped:\n%s\n%s", blocks, dropped, d.out.String())
	}
	if len(r.Manifest.Left) > 0 {
		t.Errorf("left out: %+v", r.Manifest.Left)
	}
}

// got are the values of a setting that was read back from the servers of all arms.
func got(r *record.Result, name string) (all []string) {
	for _, settings := range r.Manifest.Settings {
		for _, s := range settings {
			if s.Name == name && !slices.Contains(all, s.Got) {
				all = append(all, s.Got)
			}
		}
	}
	return all
}

// leftOut says whether the plan lists a setting of the user's as left out.
func leftOut(r *record.Result, name string) bool {
	return slices.ContainsFunc(r.Plan.Adopted, func(a record.Adopted) bool { return a.Name == name && a.Used == "" && a.Value == "" })
}

// Debian's option files, a dump of the real tool and the user's SQL go through whole runs.
func TestTheirFiles(t *testing.T) {
	t.Parallel()
	const both = "--arms=host,cgroup"
	t.Run("mariadb", func(t *testing.T) {
		testneed.Tool(t, "mariadbd")
		their := startTheirs(t, mysql.MariaDB, serve.Prepare{Dump: shop(t)}, serve.Server{})
		dump := their.dump("shop.sql", "mariadb-dump", "--user="+db.User, "--routines", "--triggers", "--no-tablespaces")
		r := whole(t, "mysql-layers", both, "--like", debians(t, "/etc/mysql/my.cnf"), "--dump", dump, "--statements", written(t, "mine.sql", shopping))
		if !leftOut(r, "pid_file") || r.Plan.Workloads[0].Params["server_options"] != "--character-set-server=utf8mb4 --collation-server=utf8mb4_general_ci" {
			t.Errorf("%+v\n%+v", r.Plan.Adopted, r.Plan.Workloads[0].Params)
		}
	})
	t.Run("postgres", func(t *testing.T) {
		files, _ := filepath.Glob("/etc/postgresql/*/main/postgresql.conf") // the pattern is good
		their := startTheirs(t, postgres.Name, serve.Prepare{Pgbench: &pgbench.Data{Scale: 1}}, serve.Server{})
		dump := their.dump("bank.sql.zst", "pg_dump", "--username="+db.User)
		r := whole(t, "postgres-layers", both, "--like", debians(t, files...), "--dump", dump, "--statements", written(t, "mine.sql", banking))
		if !leftOut(r, "data_directory") || len(got(r, "shared_buffers")) != 1 {
			t.Errorf("%+v\n%q", r.Plan.Adopted, got(r, "shared_buffers"))
		}
		archive := their.dump("bank.dump", "pg_dump", "--username="+db.User, "--format=custom")
		refusedPlan(t, "hint: pg_restore -f", "postgres-layers", "--dump", archive)
	})
	t.Run("redis", func(t *testing.T) {
		testneed.Tool(t, "redis-server")
		path := written(t, "redis.conf", "include "+debians(t, "/etc/redis/redis.conf")+"\nhz 37\nrequirepass hidden-word\n")
		r := whole(t, "redis-layers", both, "--workload", "get", "--like", path)
		if r.Plan.Workloads[0].Params["server_options"] == "" || !leftOut(r, "requirepass") {
			t.Errorf("%+v\n%+v", r.Plan.Adopted, r.Plan.Workloads[0].Params)
		}
		if b, err := json.Marshal(r.Plan); err != nil || bytes.Contains(b, []byte("hidden-word")) {
			t.Errorf("a password is in the plan, %v", err)
		}
	})
	t.Run("clickhouse", func(t *testing.T) {
		testneed.Tool(t, "clickhouse-server")
		r := whole(t, "clickhouse-colocation", "--arms=alone,weight", "--like", debians(t, "/etc/clickhouse-server/config.xml"))
		if !leftOut(r, "path") || r.Plan.Workloads[0].Params["mark_cache_size"] == "" {
			t.Errorf("%+v\n%+v", r.Plan.Adopted, r.Plan.Workloads[0].Params)
		}
	})
}

// debians is the first of these files, which Debian's packages install.
func debians(t *testing.T, paths ...string) string {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	testneed.Feature(t, "Debian's option files", fmt.Errorf("none of %q", paths))
	return ""
}

// refusedPlan plans, which must fail with two lines, the last of which is the remedy.
func refusedPlan(t *testing.T, says string, args ...string) {
	t.Helper()
	d := newRun(t)
	out, err := d.tool(append([]string{"plan"}, args...)...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err == nil || len(lines) < 2 || !strings.HasPrefix(lines[len(lines)-1], "hint: ") || !strings.Contains(strings.Join(lines[max(0, len(lines)-2):], "\n"), says) {
		t.Errorf("%q: %v, want %q:\n%s", args, err, says, strings.Join(lines[max(0, len(lines)-2):], "\n"))
	}
}

// unpacked is a directory like that of an unpacked package: with a copy of the installed server.
func unpacked(t *testing.T, program string) string {
	t.Helper()
	usr := filepath.Join(t.TempDir(), "usr")
	if err := os.MkdirAll(filepath.Join(usr, "sbin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "lib", "share"} {
		if err := os.Symlink("/usr/"+dir, filepath.Join(usr, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("cp", testneed.Tool(t, program), filepath.Join(usr, "sbin")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for dir := usr; dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) { // the server is another user
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Dir(usr)
}

// ab compares two option files, and two programs, on the same dump under the user's statements.
func TestTheirOldAndNew(t *testing.T) {
	t.Parallel()
	mine := []string{"--dump", shop(t), "--statements", written(t, "mine.sql", shopping)}
	t.Run("option files", func(t *testing.T) {
		testneed.Tool(t, "mariadbd")
		before := written(t, "my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 32M\n")
		after := written(t, "my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 64M\ninnodb_flush_neighbors = 0\n")
		r := whole(t, append([]string{"ab", "--old", before, "--new", after}, mine...)...)
		if pools := got(r, "innodb_buffer_pool_size"); len(pools) != 2 || !slices.Contains(pools, "33554432") || !slices.Contains(pools, "67108864") {
			t.Errorf("buffer pools %q", pools)
		}
		lax := written(t, "my.cnf", "[mysqld]\ninnodb_flush_log_at_trx_commit = 0\n")
		refusedPlan(t, "durability is not that of old: innodb_flush_log_at_trx_commit is 0 in new and 1 in old", append([]string{"ab", "--old", before, "--new", lax}, mine...)...)
	})
	t.Run("programs", func(t *testing.T) {
		dir := unpacked(t, "mariadbd")
		r := whole(t, append([]string{"ab", "--old", testneed.Tool(t, "mariadbd"), "--new", dir}, mine...)...)
		if w := r.Plan.Workloads[0]; len(r.Plan.Workloads) != 1 || !slices.ContainsFunc(w.Arms, func(a record.Arm) bool { return a.Name == "new" }) {
			t.Errorf("%+v", r.Plan.Workloads)
		}
		if b, err := json.Marshal(r.Plan); err != nil || !bytes.Contains(b, []byte(filepath.Join(dir, "usr/sbin/mariadbd"))) {
			t.Errorf("the plan has no program of --new: %s, %v", b, err)
		}
	})
}
