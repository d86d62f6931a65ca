package load

import (
	"crypto/sha256"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/wire/counter"
)

func counters(t testing.TB, threads int) *counter.Memory {
	t.Helper()
	m, err := counter.Create(threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// announce sets the seed of a block and marks a thaw, as the rotation does.
func announce(m *counter.Memory, seed uint64) {
	m.SetSeed(seed)
	m.MarkThaw()
}

// table is a digest of all rows.
func table(t *testing.T, p OLTP) [sha256.Size]byte {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(p.Dir, dataFile), "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT id || ' ' || k || ' ' || c || ' ' || pad FROM sbtest ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	h := sha256.New()
	for rows.Next() {
		var row sql.RawBytes
		if err := rows.Scan(&row); err != nil {
			t.Fatal(err)
		}
		h.Write(row)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Two loads at different positions do the same operations after a thaw with the same seed. The test compares
// their writes; the reads take numbers from the same sequence.
func TestTheSameSeedGivesTheSameTransactions(t *testing.T) {
	after := func(special bool, before int, seeds ...uint64) [sha256.Size]byte {
		p := prepared(t, OLTP{Seed: 1})
		p.Special = special
		s, m := open(t, p, 1)[0], counters(t, 1)
		do := func(n int) {
			for range n {
				if err := s.operation(m, m.Slot(0)); err != nil {
					t.Fatal(err)
				}
			}
		}
		do(before)
		s.write = true
		for _, seed := range seeds {
			announce(m, seed)
			do(20)
		}
		return table(t, p)
	}
	for _, special := range []bool{false, true} {
		if after(special, 3, 7, 8) != after(special, 10, 7, 8) {
			t.Error("the same seeds gave other transactions")
		}
		if after(special, 3, 7) == after(special, 3, 8) {
			t.Error("two seeds gave the same transactions")
		}
	}
}

// The threads of a load have different sequences.
func TestThreadsHaveSequencesOfTheirOwn(t *testing.T) {
	m := counters(t, 1)
	announce(m, 7)
	draw := func(thread int) (x [4]uint64) {
		s := NewSequence(1, thread)
		s.Uint64()
		if !s.Follow(m) || s.Follow(m) {
			t.Error("a thaw is not followed once")
		}
		for i := range x {
			x[i] = s.Uint64()
		}
		return x
	}
	first, again, other := draw(0), draw(0), draw(1)
	if first != again || first == other {
		t.Error("a sequence is not that of its thread and seed")
	}
}

// Commits of all arms of a block have the same offsets in the log.
func TestTheSameSeedGivesTheSamePlaces(t *testing.T) {
	const size = 512
	places := func(before int, seed uint64) (at []int64) {
		l, _ := testLog(t, 1000*size)
		r := Noise(size, 0)
		for range before {
			if err := l.alone(r); err != nil {
				t.Fatal(err)
			}
		}
		l.follow(1, seed, size)
		for range 5 {
			l.follow(1, seed, size)
			if err := l.grouped(r); err != nil {
				t.Fatal(err)
			}
			at = append(at, l.at)
		}
		return at
	}
	a := places(3, 7)
	if !slices.Equal(a, places(10, 7)) {
		t.Error("the same seed gave other places")
	}
	if slices.Equal(a, places(3, 8)) {
		t.Error("two seeds gave the same places")
	}
	for i := range a[1:] {
		if a[i+1] != a[i]+size {
			t.Errorf("the log goes on at %d after %d", a[i+1], a[i])
		}
	}
}
