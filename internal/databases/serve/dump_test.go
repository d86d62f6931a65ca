package serve

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/tarelab/tare/internal/databases"
	"github.com/tarelab/tare/internal/databases/dataset"
	"github.com/tarelab/tare/internal/databases/db"
	"github.com/tarelab/tare/internal/databases/foreign"
	"github.com/tarelab/tare/internal/databases/like"
	"github.com/tarelab/tare/internal/databases/mysql"
	"github.com/tarelab/tare/internal/databases/postgres"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// asked are questions with the answers that they must have.
type asked map[string]string

// restored fills a data set with a dump, starts its server on a copy and asks it.
func restored(t *testing.T, kind string, store dataset.Store, dump string, questions asked) (dir, listen string) {
	t.Helper()
	p, err := Prepare{Dump: dump}.Run(t.Context(), kind, store, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	copyTree(t, dir, p.Dir)
	listen = testneed.Address(t)
	server, r, err := Server{Dir: dir, Listen: listen}.Start(t.Context(), kind, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	at := db.Address{Protocol: protocolOf(kind), Dir: dir, Dial: listen, User: db.User, Secret: secret(t, dir), Database: db.Database}
	c := client(t, at)
	if err := c.Await(t.Context(), readyLimit, server.Alive); err != nil {
		t.Fatal(err)
	}
	if err := c.ExecEach(t.Context(), r.Warm); err != nil {
		t.Errorf("read the data set: %v", err)
	}
	asksSettings(t, kind, db.Address{Dial: listen, User: db.User, Secret: secret(t, dir), Database: db.Database})
	at.Given = true
	given := client(t, at)
	for question, want := range questions {
		if got, err := given.Value(t.Context(), question); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", question, got, err, want)
		}
	}
	return dir, listen
}

func protocolOf(kind string) string {
	if kind == mysql.MariaDB {
		return mysql.Family
	}
	return kind
}

// dumped is what a dump tool prints about a server.
func dumped(t *testing.T, listen, dir, program string, args ...string) string {
	t.Helper()
	host, port, err := db.SplitAddress(listen)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testneed.Tool(t, program), append(args, fmt.Sprintf("--host=%s", host), fmt.Sprintf("--port=%d", port), db.Database)...)
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+secret(t, dir), "PGPASSWORD="+secret(t, dir))
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, failed.String())
	}
	return out.String()
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var shop = asked{
	"SELECT COUNT(*) FROM actor":                                                                      "4",
	"SELECT last_name FROM actor WHERE actor_id = 3":                                                  `x\; 'y' -- no comment`,
	"SELECT last_name FROM actor WHERE actor_id = 4":                                                  "東京",
	"SELECT COUNT(*) FROM film_text":                                                                  "2", // by the trigger
	"SELECT description FROM film_text WHERE film_id = 1":                                             `A "Epic" Drama; of a Feminist /* no comment */ # nor this`,
	"SELECT HEX(poster) FROM film WHERE film_id = 1":                                                  "00FF275C",
	"SELECT films_of(1)":                                                                              "2",
	"SELECT COUNT(*) FROM film_list WHERE actor = 'GUINESS'":                                          "2",
	"SELECT ST_AsText(location) FROM address":                                                         "POINT(1 2)",
	"SELECT COUNT(*) FROM information_schema.triggers":                                                "1",
	"SELECT COUNT(*) FROM information_schema.table_constraints WHERE constraint_type = 'FOREIGN KEY'": "2",
}

// A dump of the real mysqldump fills a server: with views, triggers and routines of another account.
func TestDumpMariaDB(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	store := dataset.Store{Dir: t.TempDir()}
	source, err := filepath.Abs("testdata/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := restored(t, mysql.MariaDB, store, source, shop)
	text := dumped(t, listen, dir, "mysqldump", "--user="+db.User, "--routines", "--triggers", "--no-tablespaces")
	text = strings.ReplaceAll(text, "`"+db.User+"`@`%`", "`root`@`localhost`") // as on the user's own server
	if !strings.Contains(text, "DEFINER=`root`@`localhost`") || !strings.Contains(text, "DELIMITER") {
		t.Fatalf("the dump has no definer:\n%s", text)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	z.Close()
	restored(t, mysql.MariaDB, store, written(t, "shop.sql.gz", packed.String()), shop)
	if all, err := store.List(); len(all) != 2 || err != nil {
		t.Errorf("%d data sets, %v", len(all), err)
	}
}

// A dump of the real pg_dump, of pgbench's tables with another owner, fills a server.
func TestDumpPostgres(t *testing.T) {
	t.Parallel()
	dir := copiedAccounts(t)
	listen := testneed.Address(t)
	server, _, err := Server{Dir: dir, Listen: listen}.Start(t.Context(), postgres.Name, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	c := client(t, postgresAddress(t, dir, listen))
	if err := c.Await(t.Context(), readyLimit, server.Alive); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"CREATE TABLE odd (a text, b text)", `INSERT INTO odd VALUES (E'tab\there \\ \\. "x"', NULL)`,
		"CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $f$ BEGIN RETURN 2 * n; END $f$",
		"CREATE FUNCTION thrice(n int) RETURNS int BEGIN ATOMIC SELECT CASE WHEN n > 0 THEN 3 * n ELSE 0 END; END",
	} {
		if err := c.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	text := dumped(t, listen, dir, "pg_dump", "--username="+db.User)
	text = strings.ReplaceAll(text, "OWNER TO "+db.User, "OWNER TO postgres")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	store := dataset.Store{Dir: t.TempDir()}
	restored(t, postgres.Name, store, written(t, "bank.sql.zst", string(encoder.EncodeAll([]byte(text), nil))), asked{
		"SELECT count(*) FROM pgbench_accounts": "100000", "SELECT count(*) FROM pgbench_tellers": "10",
		"SELECT a FROM odd": "tab\there \\ \\. \"x\"", "SELECT b IS NULL FROM odd": "true",
		"SELECT twice(4)": "8", "SELECT thrice(4)": "12",
	})
	whereRowsFail(t, store, text)
}

// whereRowsFail spoils a row of a dump: the error names its line, with the server's words.
func whereRowsFail(t *testing.T, store dataset.Store, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "COPY public.pgbench_tellers") {
			lines[i+3] = "many\t1\t0\t\\N"
			path := written(t, "spoilt.sql", strings.Join(lines, "\n"))
			fails(t, postgres.Name, store, path, fmt.Sprintf("%s:%d: ", path, i+4), "invalid input syntax")
			return
		}
	}
	t.Error("no rows in the dump")
}

// fails prepares with a dump; the error must have these words, and nothing may be left in the store.
func fails(t *testing.T, kind string, store dataset.Store, path string, words ...string) {
	t.Helper()
	before, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Prepare{Dump: path}.Run(t.Context(), kind, store, io.Discard)
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in the error: %v", w, err)
		}
	}
	if after, err := store.List(); len(after) != len(before) || err != nil {
		t.Errorf("%d data sets before, %d after; %v", len(before), len(after), err)
	}
}

// What the check does not recognise, the server refuses: the statements run as the load's user.
func TestDumpHasNoRights(t *testing.T) {
	t.Parallel()
	testneed.Tool(t, "mariadbd")
	needPostgres(t)
	store := dataset.Store{Dir: t.TempDir()}
	for _, c := range []struct{ kind, statement, says string }{
		{mysql.MariaDB, "CREATE TABLE taken AS SELECT * FROM mysql.global_priv", "denied"},
		{mysql.MariaDB, "SET @x = 'SELECT 1 INTO OUTFILE ''/tmp/tare-out'''; PREPARE s FROM @x; EXECUTE s", "denied"},
		{mysql.MariaDB, "CREATE TABLE half (a int);\nINSERT INTO half VALUES (1;", "syntax"},
		{postgres.Name, "SELECT pg_stat_file('/etc/passwd')", "permission denied"},
		{postgres.Name, "DO $$ BEGIN EXECUTE 'COPY pg_class TO PROGRAM ''id'''; END $$", "must be superuser"},
	} {
		path := written(t, "mine.sql", "-- a comment\n"+c.statement+";\n")
		fails(t, c.kind, store, path, path+":", c.says)
	}
	if _, err := os.Stat("/tmp/tare-out"); err == nil {
		t.Error("a statement wrote a file")
	}
}

// asksSettings takes over the settings of the running server, which has a cache of 128 MiB.
func asksSettings(t *testing.T, kind string, at db.Address) {
	t.Helper()
	s, err := databases.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(secret string) (like.Adopted, error) {
		there := foreign.Server{Protocol: s.Describe().Protocol, User: at.User, Secret: secret, Database: at.Database, Network: "tcp", Address: at.Dial}
		return like.Ask(t.Context(), like.Target{Service: s}, there, "here")
	}
	a, err := ask(at.Secret)
	size, _ := db.Size(a.Settings[map[string]string{mysql.MariaDB: "buffer_pool", postgres.Name: "shared_buffers"}[kind]])
	if err != nil || size != 128<<20 {
		t.Errorf("%+v, %v", a, err)
	}
	var refused *foreign.Error
	if _, err := ask("guessed"); !errors.As(err, &refused) || !refused.Denied {
		t.Errorf("with a wrong password: %v", err)
	}
}
