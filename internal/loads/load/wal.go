package load

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// recordHead is the sequence number (8 bytes) and the checksum (4) of a record.
const recordHead = 12

// wal is a log that is written round and round. A record never hangs over
// its end.
type wal struct {
	fd   int
	name string // of its file
	size int64

	at int64 // where the next write goes; its writer's

	commits fifoLock // of commits that sync alone

	mu      sync.Mutex
	done    *sync.Cond
	pending []byte // records that wait for the next sync
	spare   []byte // the other buffer
	batch   uint64 // number of the batch that pending will be
	synced  uint64 // number of the last batch on the disk
	leader  bool   // somebody is writing
	seq     uint64 // of the last record
	err     error  // the first error; the log is dead then
	thaw    int64  // the last one that was followed
	move    int64  // where the next write goes instead; -1: nowhere else
}

func newWAL(f *os.File, size int64) *wal {
	l := &wal{fd: int(f.Fd()), name: f.Name(), size: size, commits: newFIFOLock(), batch: 1, move: -1}
	l.done = sync.NewCond(&l.mu)
	return l
}

// follow lets the log go on, after a thaw, at a place that the announced seed
// says: all arms of a block write to the same places of their logs, and so as
// often into a page that is shared with the record before. Records are of this
// size.
func (l *wal) follow(thaw int64, seed uint64, record int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if thaw != l.thaw {
		l.thaw, l.move = thaw, int64(seed%uint64(l.size/int64(record)))*int64(record)
	}
}

// place is where to write n bytes.
func (l *wal) place(n int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.move >= 0 {
		l.at, l.move = l.move, -1
	}
	if l.at+n > l.size {
		l.at = 0
	}
	return l.at
}

// alone commits one record by a sync of its own, after those before it.
func (l *wal) alone(record []byte) error {
	l.commits.lock()
	defer l.commits.unlock()
	l.stamp(record)
	return l.write(record)
}

// grouped commits one record together with all that wait while the log is
// being synced: the first one that finds nobody writing writes for all.
func (l *wal) grouped(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stamp(record)
	l.pending = append(l.pending, record...)
	mine := l.batch
	for l.leader && l.synced < mine && l.err == nil {
		l.done.Wait()
	}
	if l.synced < mine && l.err == nil {
		l.lead()
	}
	return l.err
}

// lead writes what waits, with the lock released meanwhile.
func (l *wal) lead() {
	out := l.pending
	l.pending, l.spare = l.spare[:0], nil
	l.leader = true
	mine := l.batch
	l.batch++
	l.mu.Unlock()
	err := l.write(out)
	l.mu.Lock()
	l.leader, l.spare = false, out
	if err != nil {
		l.err = err
	} else {
		l.synced = mine
	}
	l.done.Broadcast()
}

// stamp makes the record one that recovery could tell from an older one in
// its place.
func (l *wal) stamp(record []byte) {
	l.seq++
	binary.LittleEndian.PutUint64(record[4:], l.seq)
	binary.LittleEndian.PutUint32(record, crc32.Checksum(record[4:], castagnoli))
}

func (l *wal) write(b []byte) error {
	l.at = l.place(int64(len(b)))
	for len(b) > 0 {
		n, err := rawPwrite(l.fd, b, l.at)
		if err == unix.EINTR {
			continue
		}
		if err != 0 {
			return fmt.Errorf("write the log %s: %w", l.name, err)
		}
		b, l.at = b[n:], l.at+int64(n)
	}
	for {
		switch err := rawFdatasync(l.fd); err {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("sync the log %s: %w", l.name, err)
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Noise is bytes that no file system can compress.
func Noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := 0; i < n; i += 8 {
		var x [8]byte
		binary.LittleEndian.PutUint64(x[:], rng.Uint64())
		copy(b[i:], x[:])
	}
	return b
}
