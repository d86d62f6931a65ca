package sysbench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
)

// A user's SQL runs: its statements in order are one event, and numbers are drawn for names.
func TestStatements(t *testing.T) {
	t.Parallel()
	b := newBenchmark(t, 2)
	b.Script = filepath.Join(t.TempDir(), "mine.sql")
	if err := os.WriteFile(b.Script, []byte(`-- my transaction
\set id random(1, 2000)
\set add 1
BEGIN;
SELECT c FROM sbtest1 WHERE id = :id; -- it returns rows
\if :add > 1
SELECT nothing FROM nowhere;
\elif :id <= 1000
UPDATE sbtest2 SET k = k + :add WHERE id = :id;
\elif :id <= 2000
UPDATE sbtest1 SET k = k + :add WHERE id = :id;
\else
SELECT nothing FROM nowhere;
\endif
SELECT 'quoted "text"; and :nothing';
COMMIT;
`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start().Ready().Goes(100)
	b.Process.Process.Signal(unix.SIGTERM)
	b.Wait(0)
	var s counter.Snapshot
	if b.Counters.Read(&s); s.Errors != 0 || b.Counters.InFlight() != 0 {
		t.Errorf("%d errors, %d in flight", s.Errors, b.Counters.InFlight())
	}
}

// A statement that may not run ends the load before it begins; one that the server refuses ends it with the
// server's words.
func TestStatementsThatFail(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"SELECT 1;\n\\! id\n":                 "mine.sql:2: ",
		"SELECT * FROM mysql.global_priv;\n":  "denied",
		"SELECT * FROM sbtest1 WHERE ide = 1": "mine.sql:1: SQL error, errno = 1054, state = '42S22': Unknown column",
		"\\set id random(1, 9)\n-- that many\nSELECT 1;\nSELECT no\nFROM sbtest1 WHERE id = :id;\n": "mine.sql:4: SQL error, ",
	} {
		b := newBenchmark(t, 1)
		b.Script = filepath.Join(t.TempDir(), "mine.sql")
		if err := os.WriteFile(b.Script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.start()
		out := b.Wait(1)
		if state, note := b.Counters.State(); state != counter.Failed || !strings.Contains(note, says) {
			t.Errorf("%q: state %d, note %q; want %q\n%s", text, state, note, says, out)
		}
	}
}
