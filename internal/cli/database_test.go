package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
)

// fileOf writes a file and returns its path.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// --like sets the parameters of every workload with that server, --set after it; the plan lists what is
// left out and what is scaled down, the command repeats the flags.
func TestLike(t *testing.T) {
	conf := fileOf(t, "my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 4T\ninnodb_io_capacity = 400\ndatadir = /srv\nsync_binlog = 0\n")
	f := experimentFlags{Experiment: "mysql-layers", Set: []string{"read-only.sync_binlog=1"}, databaseFlags: databaseFlags{Like: []string{conf}}}
	e, _, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	for name, sync := range map[string]string{"read-only": "1", "read-write": "0"} {
		if p := e.Workload(name).Params; p["buffer_pool"] != "4T" || p["server_options"] != "--innodb-io-capacity=400" || p["sync_binlog"] != sync {
			t.Errorf("%s: %v", name, p)
		}
	}
	p, err := f.plan(e, facts.Host{})
	if err != nil {
		t.Fatal(err)
	}
	if pool := e.Workload("read-only").Params["buffer_pool"]; pool == "4T" || !strings.Contains(p.Record.Source, "buffer_pool: "+pool) {
		t.Errorf("the cache is not fitted to the memory: %s", pool)
	}
	lines := strings.Join(eachSaid(analysis.AdoptedLines(p.Record.Adopted), messages.In(messages.English)), "\n")
	if len(p.Record.Adopted) != 2 || !strings.Contains(lines, "datadir: ") || !strings.Contains(lines, "instead of 4T") {
		t.Errorf("%+v\n%s", p.Record.Adopted, lines)
	}
	if c := f.unseededCommand(); !slices.Contains(c, "--like="+conf) {
		t.Errorf("%q", c)
	}
}

// A dump and statements become parameters; of the workloads of a kind one stays.
func TestStatementsAndDump(t *testing.T) {
	script := fileOf(t, "mine.sql", "SELECT 1;\n")
	f := experimentFlags{Experiment: "mysql-layers", databaseFlags: databaseFlags{Statements: script, Dump: "shop.sql.gz"}}
	e, _, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Workloads) != 1 || e.Workloads[0].Name != statementsLoad || e.Workloads[0].Params["script"] != script || e.Workloads[0].Params["dump"] != absolute("shop.sql.gz") {
		t.Errorf("%+v", e.Workloads)
	}
	p, err := plan.Build(e, catalog.Plan(nil), facts.Host{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSQL(p); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), "shop.sql.gz") {
		t.Errorf("a missing dump: %v", err)
	}
}

// Statements that may not run are refused before anything starts.
func TestRefusedSQL(t *testing.T) {
	script := fileOf(t, "mine.sql", "SELECT 1;\n\\! id\n")
	for _, preset := range []string{"mysql-layers", "postgres-layers"} {
		f := experimentFlags{Experiment: preset, databaseFlags: databaseFlags{Statements: script}}
		e, _, err := f.load()
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Build(e, catalog.Plan(nil), facts.Host{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkSQL(p); err == nil || exitCode(err) != exitUsage || !strings.HasPrefix(err.Error(), script+":2: ") {
			t.Errorf("%s: %v", preset, err)
		}
	}
}

// Files that are no text of bounded size are refused, as dump and as statements, each with what to type.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("pipe.sql"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"huge.sql": "", "empty.sql": "-- nothing\n", "utf16.sql": "\xff\xfeS\x00", "packed.sql": "\xfd7zXZ\x00 and more", "torn.sql": "\x1f\x8b\x08\x00 no gzip",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(at("huge.sql"), 1<<40); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link.sql": "pipe.sql", "lost.sql": "nowhere", "device.sql": "/dev/zero", "dir.sql": dir} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pipe", "huge", "empty", "utf16", "packed", "torn", "link", "lost", "device", "dir"} {
		path := at(name + ".sql")
		for _, flags := range []databaseFlags{{Dump: path}, {Statements: path}} {
			f := experimentFlags{Experiment: "mysql-layers", databaseFlags: flags}
			e, _, err := f.load()
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Build(e, catalog.Plan(nil), facts.Host{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSQL(p); err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), path) || hint.Of(err) == "" {
				t.Errorf("%+v: %v (%s)", flags, err, hint.Of(err))
			}
		}
	}
}

// ab compares option files and programs of one server.
func TestAB(t *testing.T) {
	other := fileOf(t, "my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 32M\n")
	conf := fileOf(t, "my.cnf", "[mysqld]\ninnodb_buffer_pool_size = 64M\ninnodb_flush_neighbors = 0\n")
	f := experimentFlags{Experiment: abPreset, databaseFlags: databaseFlags{Old: other, New: conf}}
	e, _, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	if kinds := kindsOf(e); !slices.Equal(kinds, []string{"sysbench", "sysbench"}) {
		t.Errorf("workloads %q", kinds)
	}
	if before, after := e.Named[0].Set, e.Named[1].Set; before["buffer_pool"] != "32M" || after["buffer_pool"] != "64M" || after["server_options"] != "--innodb-flush-neighbors=0" {
		t.Errorf("%v, %v", before, after)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "postgres"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	s := side{path: dir}
	if err := s.find(); err != nil || s.program != filepath.Join(dir, "bin", "postgres") || s.service.Describe().Name != "postgres" {
		t.Errorf("%+v, %v", s, err)
	}
}

func kindsOf(e *experiment.Experiment) (kinds []string) {
	for _, w := range e.Workloads {
		kinds = append(kinds, w.Kind)
	}
	return kinds
}

// A node helper runs tare on other nodes, which do not have the files of this host.
func TestOnlyHere(t *testing.T) {
	for _, f := range []databaseFlags{{Like: []string{"my.cnf"}}, {Like: []string{"mysql://db"}}, {Statements: "mine.sql"}, {Dump: "shop.sql"}, {Old: "old.cnf", New: "new.cnf"}} {
		var usage *usageError
		if err := f.onlyHere(); !errors.As(err, &usage) || usage.help == "" || !strings.Contains(err.Error(), "--node-helper") {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if err := (&databaseFlags{}).onlyHere(); err != nil {
		t.Error(err)
	}
}

// Each mistake is an error of the command line, with what to type.
func TestDatabaseMistakes(t *testing.T) {
	conf, bad, other := fileOf(t, "my.cnf", "[mysqld]\n"), fileOf(t, "my.cnf", "[mysqld]\nnonsense here\n"), fileOf(t, "redis.conf", "hz 10\n")
	for _, c := range []struct {
		preset string
		flags  databaseFlags
		says   string
	}{
		{"ab", databaseFlags{}, "compares two"},
		{"ab", databaseFlags{Old: conf}, "compares two"},
		{"ab", databaseFlags{Old: conf, New: other}, "is of mysql"},
		{"ab", databaseFlags{Old: conf, New: "mariadb:11.8"}, "no such file"},
		{"ab", databaseFlags{Old: conf, New: fileOf(t, "mariadb-server-core_11.8_amd64.deb", "!<arch>\n")}, "a package or an archive"},
		{"ab", databaseFlags{Old: conf, New: t.TempDir()}, "no server program"},
		{"ab", databaseFlags{Old: conf, New: fileOf(t, "notes.txt", "x")}, "neither"},
		{"ab", databaseFlags{Old: conf, New: bad}, bad + ":2: "},
		{"mysql-layers", databaseFlags{Old: conf, New: conf}, "the arms of ab"},
		{"mysql-layers", databaseFlags{Like: []string{bad}}, bad + ":2: "},
		{"mysql-layers", databaseFlags{Like: []string{other}}, "no option file of mariadb"},
		{"quick", databaseFlags{Like: []string{conf}}, "has a database"},
		{"quick", databaseFlags{Dump: conf}, "takes one"},
		{"mysql-layers", databaseFlags{Statements: "mine.txt"}, "ends in .sql"},
		{"mysql-layers", databaseFlags{Like: []string{"mysql://root:secret@db"}}, "visible to all users"},
		{"mysql-layers", databaseFlags{Like: []string{"oracle://db"}}, "no server has addresses"},
		{"mysql-layers", databaseFlags{Like: []string{"mysql://127.0.0.1:1"}}, "connection refused"},
		{"postgres-layers", databaseFlags{Like: []string{"mysql://127.0.0.1:1"}}, "no such server"},
	} {
		_, _, err := (&experimentFlags{Experiment: c.preset, databaseFlags: c.flags}).load()
		if err == nil || exitCode(err) != exitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %+v: %v; want %s", c.preset, c.flags, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in the error: %v", err)
		}
	}
}
