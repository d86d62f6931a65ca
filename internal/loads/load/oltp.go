package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// OLTP are the parameters of oltp and oltp-prepare.
type OLTP struct {
	// Dir is the directory of the data set.
	Dir  string `json:"dir"`
	Rows int    `json:"rows"`
	Seed uint64 `json:"seed"`
	// Write adds sysbench's write statements to the transaction.
	Write bool `json:"write,omitempty"`
	// CacheBytes is the size of SQLite's page cache, for each connection.
	CacheBytes int64 `json:"cache_bytes,omitempty"`
	// Sync is SQLite's "synchronous": off, normal or full.
	Sync string `json:"sync,omitempty"`
	// Special picks rows by sysbench's "special" distribution; otherwise the distribution is uniform.
	Special bool `json:"special,omitempty"`
}

// warmOps is how many transactions each thread does before the load is ready: a transaction reads
// about 35 pages, and the default cache of a connection has 512.
const warmOps = 20

func runOLTP(ctx context.Context, m *counter.Memory, params []byte) error {
	var p OLTP
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	DisableGC()
	RaiseMaxProcs(m.Threads())
	if err := p.verify(ctx); err != nil {
		return err
	}
	if err := p.touch(); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	sessions, err := p.sessions(m.Threads())
	if err != nil {
		return err
	}
	if err := p.warm(sessions); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	m.SetReady()
	return Each(ctx, m, func(i int) error { return sessions[i].run(m, m.Slot(i)) })
}

// pragmas are SQLite's settings: a write-ahead log, as database servers have; no memory map, so
// that a page that is not cached is read by a system call; no busy timeout, because SQLite waits
// by sleeping ever longer (writers queue for one lock instead); no automatic checkpoints, because
// writer triggers them.
func (p OLTP) pragmas() []string {
	return []string{
		"busy_timeout=0",
		"journal_mode=WAL",
		"synchronous=" + p.Sync,
		fmt.Sprintf("cache_size=-%d", p.CacheBytes>>10),
		"mmap_size=0",
		"temp_store=MEMORY",
		"wal_autocheckpoint=0",
	}
}

// sessions opens one connection for each thread.
func (p OLTP) sessions(n int) ([]*session, error) {
	writer := newWriter()
	out := make([]*session, n)
	for i := range out {
		rng := NewSequence(p.Seed, i)
		s := &session{rows: p.Rows, write: p.Write, writer: writer, rng: rng, id: uniform(rng.Rand)}
		if p.Special {
			s.id = special(rng.Rand)
		}
		if err := s.open(filepath.Join(p.Dir, dataFile), p.pragmas()); err != nil {
			return nil, fmt.Errorf("connection %d of %d: %w", i+1, n, err)
		}
		out[i] = s
	}
	return out, nil
}

// logBytes is the length of the write-ahead log between two checkpoints: a transaction changes about
// 7 pages.
const logBytes = checkpointEvery * 7 * (4096 + 24)

// touch reads every page of the data set once. If the load writes, touch also makes a write-ahead log
// of full length, in which SQLite finds nothing: a log that still grows changes metadata of the file
// system with each transaction.
func (p OLTP) touch() error {
	data, err := os.Open(filepath.Join(p.Dir, dataFile))
	if err != nil {
		return err
	}
	defer data.Close()
	if _, err := io.CopyBuffer(writerOnly{io.Discard}, data, make([]byte, 1<<20)); err != nil || !p.Write {
		return err
	}
	log, err := os.OpenFile(data.Name()+"-wal", os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(writeWhole(log, logBytes, make([]byte, 1<<20)), log.Close())
}

// writerOnly hides ReadFrom, so that io.CopyBuffer uses its buffer.
type writerOnly struct{ io.Writer }

// warm does transactions on every connection, and syncs them together at the end.
func (p OLTP) warm(sessions []*session) error {
	for round := range warmOps {
		for _, s := range sessions {
			if err := s.warm(round, p.Sync); err != nil {
				return err
			}
		}
	}
	return nil
}

// warm does one transaction. Only the last one is synced, with all before it.
func (s *session) warm(round int, sync string) error {
	set := ""
	switch {
	case !s.write:
	case round == 0:
		set = "off"
	case round == warmOps-1:
		set = sync
	}
	if set != "" {
		if _, err := s.engine.ask("PRAGMA synchronous=" + set); err != nil {
			return err
		}
	}
	return s.transaction()
}

// run does transactions until the load is stopped. No other process uses the database, so any
// error ends the load.
func (s *session) run(m *counter.Memory, slot *counter.Slot) error {
	for !m.Stopped() {
		if err := s.operation(m, slot); err != nil {
			return err
		}
	}
	return s.close()
}

// operation does and counts one transaction.
func (s *session) operation(m *counter.Memory, slot *counter.Slot) error {
	start := m.Begin(slot)
	s.rng.Follow(m)
	err := s.transaction()
	m.End(slot, start, err)
	return err
}
