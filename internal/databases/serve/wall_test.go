package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/databases/sqlfile"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// sharedDir is a directory outside of all data sets, where everybody may write.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "tare-shared-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func isEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := filepath.Glob(dir + "/*"); len(left) > 0 || err != nil {
		t.Errorf("outside of the data set: %q, %v", left, err)
	}
}

// walled is a connection of the load's user to a server behind the wall on an empty data set.
func walled(t *testing.T, kind string, inside bool) (c *Client, dir string) {
	t.Helper()
	p, err := Prepare{}.Run(t.Context(), kind, dataset.Store{Dir: t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	copyTree(t, dir, p.Dir)
	s := Server{Dir: dir, Walled: true}
	var alive func() error
	if inside {
		p, _, err := s.Start(t.Context(), kind, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		alive = p.Alive
	} else {
		alive = begin(t, kind, s).alive
	}
	c = client(t, db.Address{Protocol: protocolOf(kind), Dir: dir, User: db.User, Secret: secret(t, dir), Database: db.Database, Given: true})
	if err := c.Await(t.Context(), readyLimit, alive); err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// Whatever the spelling, a table of MariaDB's is in the data set or nowhere.
func TestWallMariaDB(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	for _, inside := range []bool{false, true} {
		c, _ := walled(t, mysql.MariaDB, inside)
		out := sharedDir(t)
		var made []string
		n := 0
		for _, engine := range []string{"InnoDB", "MyISAM", "Aria"} {
			for _, place := range []string{
				"DATA DIRECTORY='%s'", "DATA DIRECTORY '%s'", "DATA/**/DIRECTORY = '%s'", "`DATA` DIRECTORY='%s'", "INDEX DIRECTORY '%s'", "INDEX DIRECTORY='%s' DATA DIRECTORY='%[1]s'",
				"PARTITION BY HASH (id) (PARTITION p DATA DIRECTORY '%s')", "PARTITION BY HASH (id) (PARTITION p ENGINE=" + engine + " INDEX DIRECTORY = '%s')",
				"DATA DIRECTORY='/proc/self/fd/3/../../../../../../..%s'", "DATA DIRECTORY='/proc/1/root%s'", "DATA DIRECTORY='/proc/self/cwd/../../../../../../..%s'",
			} {
				n++
				statement := fmt.Sprintf("CREATE TABLE t%d (id int primary key, a varchar(200)) ENGINE=%s "+place, n, engine, out)
				if n%2 == 0 {
					statement = "EXECUTE IMMEDIATE '" + strings.ReplaceAll(statement, "'", "''") + "'"
				}
				if c.Exec(t.Context(), statement) == nil && c.Exec(t.Context(), fmt.Sprintf("INSERT INTO t%d VALUES (1, 'x')", n)) == nil {
					made = append(made, place)
				}
			}
		}
		isEmpty(t, out)
		for _, s := range []string{"SELECT 1 INTO OUTFILE '" + out + "/x'", "SELECT * FROM (SELECT 1) t INTO DUMPFILE '" + out + "/x'", "SET GLOBAL event_scheduler = ON", "SELECT LOAD_FILE('/etc/passwd') = 'x'"} {
			if v, err := c.Value(t.Context(), s); err == nil && v != "" {
				t.Errorf("%s: %q", s, v)
			}
		}
		isEmpty(t, out)
		if err := c.Exec(t.Context(), "CREATE TABLE mine (a int) AS SELECT 7 AS a"); err != nil {
			t.Error(err)
		}
		t.Logf("ignored by the server: %q", made)
	}
}

// Nor does a superuser of PostgreSQL write a file or reach a program's output elsewhere: the wall needs no right to be
// missing.
func TestWallPostgres(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	for _, inside := range []bool{false, true} {
		c, dir := walled(t, postgres.Name, inside)
		out := sharedDir(t)
		root := client(t, db.Address{Protocol: postgres.Name, Dir: dir, User: "tare", Database: db.Database})
		for _, s := range []string{
			"COPY (SELECT 1) TO '" + out + "/x'", "COPY (SELECT 1) TO PROGRAM 'cat > " + out + "/x'", "COPY (SELECT 1) TO PROGRAM 'touch /var/tmp/tare-out /tmp/tare-out " + out + "/y'",
			"CREATE TABLESPACE elsewhere LOCATION '" + out + "'", "SELECT lo_export(lo_from_bytea(0, 'x'), '" + out + "/x')",
			"COPY (SELECT 1) TO PROGRAM 'kill -9 1; for d in /proc/[0-9]*; do touch $d/root" + out + "/x $d/cwd/tare-out 2>/dev/null; done; false'",
		} {
			if err := root.Exec(t.Context(), s); err == nil {
				t.Errorf("a superuser behind the wall could: %s", s)
			}
		}
		isEmpty(t, out)
		if err := c.Exec(t.Context(), "CREATE TABLE public.mine AS SELECT 7 AS a"); err != nil {
			t.Error(err)
		}
	}
}

// A data set that leads elsewhere is refused, whatever made it so.
func TestNoWayOut(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"sbtest/t.isl": file, "sbtest/t.ibd": nil, "elsewhere/sbtest/t.ibd": file, "a/b/t.MYD": file, "a/b/t.MAI": file,
		"pg_tblspc/16384": func(path string) error { return os.Symlink("/var/lib", path) }, "sbtest/t.MYI": func(path string) error { return os.Symlink("t.MYD", path) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, db.DataDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		wrong := make != nil
		if !wrong {
			make = file
		}
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if err := noWayOut(dir); (err != nil) != wrong || err != nil && (!strings.Contains(err.Error(), name) || hint.Of(err) == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func file(path string) error { return os.WriteFile(path, nil, 0o600) }

// A table in another directory within the data set is refused, too: its copies would look for it where the set was
// filled.
func TestDumpElsewhereInside(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	path := written(t, "inside.sql", "SET @s = CONCAT('CREATE TABLE t (id int primary key) ENGINE=InnoDB DATA DIRECTORY ''', @@tmpdir, '''');\nEXECUTE IMMEDIATE @s;\n")
	fails(t, mysql.MariaDB, dataset.Store{Dir: t.TempDir()}, path, "t.isl", "another directory")
}

// endlessStatements never end by themselves.
var endlessStatements = map[string]string{mysql.MariaDB: "DO SLEEP(3600)", postgres.Name: "DO $$ BEGIN LOOP END LOOP; END $$"}

// A statement that takes too long ends with its line and its key; so does the load when the run is stopped. Nothing of
// the server goes on.
func TestEndlessStatement(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	needPostgres(t)
	for kind, statement := range endlessStatements {
		path := written(t, "endless.sql", "CREATE TABLE t (a int);\n\n"+statement+";\n")
		store := dataset.Store{Dir: t.TempDir()}
		_, err := Prepare{Dump: path, StatementTime: 2 * time.Second}.Run(t.Context(), kind, store, io.Discard)
		if err == nil || !strings.Contains(err.Error(), path+":3: the statement takes more than 2 s (statement_time)") || !strings.Contains(hint.Of(err), "--set statement_time=") {
			t.Errorf("%v (%s)", err, hint.Of(err))
		}
		into := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			for !loads(store.Dir) && ctx.Err() == nil {
				time.Sleep(10 * time.Millisecond)
			}
			stop()
		}()
		if _, err := (Prepare{Dump: path, Into: into}).Run(ctx, kind, store, io.Discard); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		stop()
		if left, _ := filepath.Glob(store.Dir + "/.*part*"); len(left) > 0 || worksBelow(t, store.Dir) {
			t.Errorf("%s: left %q", kind, left)
		}
	}
}

// loads says whether a server has made the table of endless.sql.
func loads(store string) bool {
	for _, pattern := range []string{"/.*part*/db/sbtest/t.frm", "/.*part*/run/.s.PGSQL.*"} {
		if found, _ := filepath.Glob(store + pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// worksBelow says whether a process has its working directory there.
func worksBelow(t *testing.T, dir string) bool {
	list, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list, func(l string) bool {
		at, _ := os.Readlink(l)
		return strings.HasPrefix(at, dir)
	})
}

// A statement of more bytes than allowed is refused before a server starts.
func TestLongStatement(t *testing.T) {
	testneed.Tool(t, "mariadbd")
	path := written(t, "long.sql", "CREATE TABLE t (a text);\nINSERT INTO t VALUES ('"+strings.Repeat("x", 5000)+"');\n")
	_, err := Prepare{Dump: path, StatementSize: 4096}.Run(t.Context(), mysql.MariaDB, dataset.Store{Dir: t.TempDir()}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), path+":2: a statement of more than 4KiB (statement_size)") || !strings.Contains(hint.Of(err), "--set statement_size=") {
		t.Error(err)
	}
	if _, err := sqlfile.Check(path, sqlfile.MySQL, sqlfile.Longest); err != nil {
		t.Error(err)
	}
}

// Where the load is, a run can say.
func TestLoading(t *testing.T) {
	into := t.TempDir()
	l := startLoading("shop.sql", into)
	l.begin(2)
	l.write()
	if _, ok := ReadLoading(into); ok {
		t.Error("it says so at once")
	}
	l.since, l.from = l.since.Add(-40*time.Second), l.from.Add(-30*time.Second)
	l.write()
	if at, ok := ReadLoading(into); !ok || at.At != "shop.sql:2" || at.Seconds < 40 || at.Statement < 30 || at.Statement > at.Seconds {
		t.Errorf("%+v, %v", at, ok)
	}
	l.stop()
	if _, ok := ReadLoading(into); ok {
		t.Error("it says so afterwards")
	}
}
