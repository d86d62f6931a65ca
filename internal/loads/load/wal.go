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

// recordHead is the size of a record's checksum (4 bytes) and sequence number (8 bytes).
const recordHead = 12

// wal is a circular log. A record never wraps around its end.
type wal struct {
	fd       int
	name     string // path of the file
	size     int64
	reserved bool // blocks are reserved anew at each turn, and written one after the other

	at int64 // offset of the next write; belongs to the thread that writes

	commits fifoLock // held by a commit that syncs alone

	mu      sync.Mutex
	done    *sync.Cond
	pending []byte // records that wait for the next sync
	spare   []byte // the buffer that is not pending
	batch   uint64 // number of the batch in pending
	synced  uint64 // number of the last batch on the disk
	leader  bool   // a thread is writing a batch
	seq     uint64 // of the last record
	err     error  // the first error, after which every commit fails
	thaw    int64  // the last thaw that follow saw
	move    int64  // offset of the next write after a thaw; -1: continue at at
}

func newWAL(f *os.File, size int64) *wal {
	l := &wal{fd: int(f.Fd()), name: f.Name(), size: size, commits: newFIFOLock(), batch: 1, move: -1}
	l.done = sync.NewCond(&l.mu)
	return l
}

// follow moves the next write, after a thaw, to an offset that follows from the block's seed. All
// arms of a block then write at the same offsets, so a record shares its page with the record
// before equally often. record is the size of a record in bytes.
func (l *wal) follow(thaw int64, seed uint64, record int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if thaw != l.thaw && !l.reserved {
		l.thaw, l.move = thaw, int64(seed%uint64(l.size/int64(record)))*int64(record)
	}
}

// place is the offset at which n bytes are written next.
func (l *wal) place(n int64) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.move >= 0 {
		l.at, l.move = l.move, -1
	}
	if l.at+n <= l.size {
		return l.at, nil
	}
	l.at = 0
	if l.reserved {
		return 0, reserve(l.fd, l.size)
	}
	return 0, nil
}

// alone commits one record with its own fdatasync, after the commits that came before.
func (l *wal) alone(record []byte) error {
	l.commits.lock()
	defer l.commits.unlock()
	l.stamp(record)
	return l.write(record)
}

// grouped commits one record together with all records that arrived during the last sync. The
// first thread that finds no leader writes and syncs for all.
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

// lead writes the pending records. It releases the lock while it writes.
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

// stamp sets sequence number and checksum, by which recovery would tell the record from an older
// one at the same offset.
func (l *wal) stamp(record []byte) {
	l.seq++
	binary.LittleEndian.PutUint64(record[4:], l.seq)
	binary.LittleEndian.PutUint32(record, crc32.Checksum(record[4:], castagnoli))
}

func (l *wal) write(b []byte) error {
	var err error
	if l.at, err = l.place(int64(len(b))); err != nil {
		return fmt.Errorf("reserve the log %s: %w", l.name, err)
	}
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

// Noise returns n random bytes, which no file system can compress.
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
