package load

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const testRows = 2000

func prepared(t testing.TB, p OLTP) OLTP {
	t.Helper()
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	if p.Rows == 0 {
		p.Rows = testRows
	}
	p.Sync, p.CacheBytes = "normal", 2<<20
	if err := prepareOLTP(t.Context(), params(t, p)); err != nil {
		t.Fatal(err)
	}
	return p
}

func params(t testing.TB, p any) []byte {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func content(t *testing.T, p OLTP) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.Dir, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPrepareGivesTheSameBytes(t *testing.T) {
	a := content(t, prepared(t, OLTP{Seed: 1}))
	if !bytes.Equal(a, content(t, prepared(t, OLTP{Seed: 1}))) {
		t.Error("the same seed gave two data sets")
	}
	if bytes.Equal(a, content(t, prepared(t, OLTP{Seed: 2}))) {
		t.Error("two seeds gave the same data set")
	}
}

// The directory has one file, so that a copy is consistent.
// Files of a killed preparation are replaced; a finished data set is kept.
func TestPrepareLeavesOneFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of a?b#c d") // characters of URLs
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, partFile), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := prepared(t, OLTP{Dir: dir, Seed: 1})
	before, err := os.Stat(filepath.Join(dir, dataFile))
	if err != nil {
		t.Fatal(err)
	}
	prepared(t, p)
	if after, err := os.Stat(filepath.Join(dir, dataFile)); err != nil || !os.SameFile(before, after) {
		t.Errorf("a finished data set was made anew (%v)", err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the directory holds %v (%v), want %s alone", files, err, dataFile)
	}
}

func TestVerifyRefusesOtherData(t *testing.T) {
	p := prepared(t, OLTP{Seed: 1})
	sqlExec(t, p, "DELETE FROM sbtest WHERE id=7")
	empty := OLTP{Dir: t.TempDir(), Rows: testRows, Seed: 1}
	garbage := OLTP{Dir: t.TempDir(), Rows: testRows, Seed: 1}
	if err := os.WriteFile(filepath.Join(garbage.Dir, dataFile), bytes.Repeat([]byte("no"), 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		p          OLTP
	}{
		{"a row is missing", "1999 rows", p},
		{"other rows", "want 3000 rows", OLTP{Dir: p.Dir, Rows: 3000, Seed: 1}},
		{"other seed", "seed 9", OLTP{Dir: p.Dir, Rows: testRows, Seed: 9}},
		{"nothing there", "is not there", empty},
		{"not a database", "not a data set of tare", garbage},
	} {
		if err := c.p.verify(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
	if err := prepareOLTP(t.Context(), params(t, OLTP{Dir: p.Dir, Rows: 3000, Seed: 1})); err == nil {
		t.Error("another data set was overwritten")
	}
}

func sqlExec(t *testing.T, p OLTP, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(p.Dir, dataFile), "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, p OLTP, threads int) []*session {
	t.Helper()
	if err := p.touch(); err != nil {
		t.Fatal(err)
	}
	sessions, err := p.sessions(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, s := range sessions {
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
	})
	if err := p.warm(sessions); err != nil {
		t.Fatal(err)
	}
	return sessions
}

// Every connection has the pragmas.
func TestSettingsTake(t *testing.T) {
	p := prepared(t, OLTP{Seed: 1})
	p.CacheBytes, p.Sync = 4<<20, "full"
	for _, s := range open(t, p, 2) {
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "cache_size": "-4096", "mmap_size": "0", "busy_timeout": "0", "temp_store": "2", "wal_autocheckpoint": "0",
		} {
			if got, err := s.engine.ask("PRAGMA " + pragma); err != nil || got != want {
				t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
			}
		}
	}
}

// The write-ahead log has its full length from the start, so that commits change no metadata.
func TestTheLogDoesNotGrow(t *testing.T) {
	p := prepared(t, OLTP{Rows: 20000, Seed: 1})
	p.Write = true
	s := open(t, p, 1)[0]
	for range checkpointEvery {
		if err := s.transaction(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(p.Dir, dataFile+"-wal")); err != nil || info.Size() != logBytes {
		t.Errorf("the log has %d bytes (%v), want %d", info.Size(), err, logBytes)
	}
}

// Concurrent writers neither fail nor lose a row.
func TestWritersDoNotCollide(t *testing.T) {
	p := prepared(t, OLTP{Seed: 1})
	p.Write = true
	sessions := open(t, p, 4)
	failed := make(chan error, len(sessions))
	for _, s := range sessions {
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				err = s.transaction()
			}
			failed <- err
		}()
	}
	for range sessions {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if err := p.verify(t.Context()); err != nil {
		t.Error(err)
	}
	if ok, err := sessions[0].engine.ask("PRAGMA integrity_check"); err != nil || ok != "ok" {
		t.Errorf("the data are damaged: %s (%v)", ok, err)
	}
}

// Errors of the engine reach the caller, and a statement that failed can be executed again.
func TestTheEngineSaysWhatIsWrong(t *testing.T) {
	p := prepared(t, OLTP{Seed: 1})
	s := open(t, p, 1)[0]
	if _, err := s.engine.prepare("SELECT absent FROM sbtest"); err == nil || !strings.Contains(err.Error(), "no such column: absent") {
		t.Errorf("a wrong statement: %v", err)
	}
	for range 2 {
		if err := s.row(7); err == nil || !strings.Contains(err.Error(), "UNIQUE constraint failed") {
			t.Errorf("a row that is there already: %v", err)
		}
	}
	sqlExec(t, p, "DELETE FROM sbtest WHERE id=7")
	if err := s.row(7); err != nil {
		t.Error(err)
	}
	if got, err := s.engine.ask("SELECT LENGTH(c) + LENGTH(pad) FROM sbtest WHERE id=7"); err != nil || got != "178" {
		t.Errorf("the row has texts of %s characters (%v), want 119 and 59", got, err)
	}
	if _, err := openEngine(filepath.Join(t.TempDir(), "nothing.db")); err == nil || !strings.Contains(err.Error(), "unable to open") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Checkpoints come at the same transactions after a thaw, whichever thread does them, and in one block
// of four at the first.
func TestCheckpointsFollowTheThaw(t *testing.T) {
	w := newWriter()
	when := func(thaw int64, seed uint64, n int) (at []int) {
		for i := range n {
			if w.due(&Sequence{thaw: thaw, seed: seed}) {
				at = append(at, i+1)
			}
		}
		return at
	}
	const n = checkpointEvery
	when(1, 0, 10)
	if at := when(2, 8, 2*n+1); !slices.Equal(at, []int{1, n, 2 * n}) {
		t.Errorf("checkpoints before the transactions %v", at)
	}
	if at := when(3, 9, 2*n-1); !slices.Equal(at, []int{n}) {
		t.Errorf("checkpoints before the transactions %v", at)
	}
	if at := when(2, 8, 1); !slices.Equal(at, []int{1}) {
		t.Errorf("a transaction that began before the thaw does not count: %v", at)
	}
	p := prepared(t, OLTP{Seed: 1})
	p.Write = true
	s, m := open(t, p, 1)[0], counters(t, 1)
	// The log begins anew with the next number.
	log := func() uint32 {
		b, err := os.ReadFile(filepath.Join(p.Dir, dataFile+"-wal"))
		if err != nil || len(b) < 16 {
			t.Fatalf("the log: %d bytes (%v)", len(b), err)
		}
		return binary.BigEndian.Uint32(b[12:])
	}
	for seed := range uint64(2 * checkpointBlocks) {
		want := log()
		if seed%checkpointBlocks == 0 {
			want++
		}
		announce(m, seed)
		for range 3 {
			if err := s.operation(m, m.Slot(0)); err != nil {
				t.Fatal(err)
			}
		}
		if got := log(); got != want {
			t.Errorf("seed %d: log %d, want %d", seed, got, want)
		}
	}
}

func BenchmarkTransaction(b *testing.B) {
	for name, p := range map[string]OLTP{
		"read only":          {Rows: 50000},
		"read write, normal": {Rows: 50000, Write: true},
	} {
		b.Run(name, func(b *testing.B) {
			s := open(b, prepared(b, p), 1)[0]
			b.ReportAllocs()
			for b.Loop() {
				if err := s.transaction(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	for b.Loop() {
		prepared(b, OLTP{Dir: b.TempDir(), Rows: 50000})
	}
}
