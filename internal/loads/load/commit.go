package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Commit are the parameters of commit.
type Commit struct {
	// Dir is the directory of the log.
	Dir string `json:"dir"`
	// RecordBytes is the size of one commit, LogBytes that of the log.
	RecordBytes int   `json:"record_bytes"`
	LogBytes    int64 `json:"log_bytes"`
	// Group lets commits that wait for the log share one fdatasync.
	Group bool `json:"group"`
	// Reserved blocks of the log are not written beforehand.
	Reserved bool `json:"reserved,omitempty"`
}

const logFile = "tare-wal"

// runCommit commits small records durably: pwrite and fdatasync of a preallocated circular log,
// like InnoDB's redo log. The file never grows, so a commit writes data and no metadata. A log with
// Reserved blocks is like that of etcd: the first write to a block changes metadata.
func runCommit(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Commit
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	DisableGC()
	RaiseMaxProcs(1)
	if all := int64(p.RecordBytes * m.Threads()); p.RecordBytes < recordHead || all > p.LogBytes {
		return fmt.Errorf("a log of %d bytes cannot hold %d records of %d bytes", p.LogBytes, m.Threads(), p.RecordBytes)
	}
	f, err := allocate(filepath.Join(p.Dir, logFile), p.LogBytes, p.Reserved)
	if err != nil {
		return err
	}
	defer f.Close()
	l := newWAL(f, p.LogBytes)
	l.reserved = p.Reserved
	commit := l.alone
	if p.Group {
		commit = l.grouped
	}
	records := make([][]byte, m.Threads())
	for i := range records {
		records[i] = Noise(p.RecordBytes, uint64(i))
		if err := commit(records[i]); err != nil {
			return err
		}
	}
	m.SetReady()
	return Each(ctx, m, func(i int) error {
		runtime.LockOSThread()
		return commitAll(m, m.Slot(i), records[i], l, commit)
	})
}

func commitAll(m *counter.Memory, slot *counter.Slot, record []byte, l *wal, commit func([]byte) error) error {
	for thaw := int64(0); !m.Stopped(); {
		start := m.Begin(slot)
		if now := m.Thawed(); now != thaw {
			thaw = now
			l.follow(now, m.Seed(), len(record))
		}
		err := commit(record)
		m.End(slot, start, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// allocate creates the log and writes all of it once, or only reserves its blocks: the first write
// to a block that is only reserved (an unwritten extent) changes metadata.
func allocate(path string, size int64, reserved bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the log: %w", err)
	}
	fill := func() error { return writeWhole(f, size, Noise(1<<20, 0)) }
	if reserved {
		fill = func() error { return errors.Join(reserve(int(f.Fd()), size), f.Sync()) }
	}
	if err := fill(); err != nil {
		err = errors.Join(fmt.Errorf("write the log of %d bytes: %w", size, err), f.Close())
		if errors.Is(err, unix.ENOSPC) {
			err = fmt.Errorf("%w; make room or choose a smaller log", err)
		}
		return nil, err
	}
	return f, nil
}

// writeWhole writes a file of this size, chunk after chunk, and syncs it.
func writeWhole(f *os.File, size int64, chunk []byte) error {
	for at := int64(0); at < size; at += int64(len(chunk)) {
		if _, err := f.WriteAt(chunk[:min(int64(len(chunk)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Sync()
}

// reserve reserves all blocks of a log anew. A file system that cannot gets a file of this length
// without blocks, as etcd has it there.
func reserve(fd int, size int64) error {
	if err := unix.Ftruncate(fd, 0); err != nil {
		return err
	}
	if err := unix.Fallocate(fd, 0, 0, size); !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	return unix.Ftruncate(fd, size)
}
