package load

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func testLog(t testing.TB, size int64) (*wal, *os.File) {
	t.Helper()
	f, err := allocate(filepath.Join(t.TempDir(), logFile), size, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return newWAL(f, size), f
}

// records reads the sequence numbers of all whole records of a log.
func records(t *testing.T, f *os.File, size int) map[uint64]bool {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64]bool{}
	for at := 0; at+size <= len(b); at += size {
		if r := b[at : at+size]; crc32.Checksum(r[4:], castagnoli) == binary.LittleEndian.Uint32(r) {
			found[binary.LittleEndian.Uint64(r[4:])] = true
		}
	}
	return found
}

// Every commit that has returned is whole in the file until the log wraps around, and the file does not grow.
func TestCommitsAreInTheLog(t *testing.T) {
	const threads, each, size = 4, 50, 512
	for _, c := range []struct {
		name   string
		commit func(*wal) func([]byte) error
	}{
		{"alone", func(l *wal) func([]byte) error { return l.alone }},
		{"grouped", func(l *wal) func([]byte) error { return l.grouped }},
	} {
		for _, slots := range []int64{threads * each, 37} { // fits; wraps around
			t.Run(c.name, func(t *testing.T) {
				l, f := testLog(t, slots*size)
				commit := c.commit(l)
				var wg sync.WaitGroup
				for i := range threads {
					wg.Go(func() {
						r := Noise(size, uint64(i))
						for range each {
							if err := commit(r); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				found := records(t, f, size)
				oldest := uint64(1)
				if slots < threads*each {
					// A batch that did not fit leaves up to its size free at the end.
					oldest = threads*each - uint64(slots) + 2*threads
				}
				for seq := oldest; seq <= threads*each; seq++ {
					if !found[seq] {
						t.Errorf("commit %d is not in the log", seq)
					}
				}
				if st, err := f.Stat(); err != nil || st.Size() != slots*size {
					t.Errorf("the log has become %d bytes, want %d (%v)", st.Size(), slots*size, err)
				}
			})
		}
	}
}

// When the log fails, every commit returns the error, also those that wait for a leader.
func TestAFailedLogFailsEveryCommit(t *testing.T) {
	l, f := testLog(t, 1<<20)
	readOnly, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	l.fd = int(readOnly.Fd())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3 {
				if err := l.grouped(Noise(512, 0)); err == nil || !strings.Contains(err.Error(), "write the log") {
					t.Errorf("a commit to a log that cannot be written returned %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestNoLogWithoutRoom(t *testing.T) {
	if _, err := allocate(filepath.Join(t.TempDir(), "missing", logFile), 1<<20, false); err == nil {
		t.Error("a log was made in a directory that is not there")
	}
}

func BenchmarkCommit(b *testing.B) {
	l, _ := testLog(b, 16<<20)
	r := Noise(1024, 0)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.grouped(r); err != nil {
			b.Fatal(err)
		}
	}
}

// The blocks of a reserved log are reserved, not written, and anew at each turn: older records are gone.
func TestReservedLog(t *testing.T) {
	const size, slots = 512, 64
	f, err := allocate(filepath.Join(t.TempDir(), logFile), slots*size, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newWAL(f, slots*size)
	l.reserved = true
	l.follow(1, 7, size) // would move the next write of another log
	r := Noise(size, 0)
	for range slots + 2 {
		if err := l.alone(r); err != nil {
			t.Fatal(err)
		}
	}
	found := records(t, f, size)
	if len(found) != 2 || !found[slots+1] || !found[slots+2] {
		t.Errorf("records %v, want the two of the second turn", found)
	}
	if st, err := f.Stat(); err != nil || st.Size() != slots*size {
		t.Errorf("the log has become %d bytes (%v)", st.Size(), err)
	}
}
