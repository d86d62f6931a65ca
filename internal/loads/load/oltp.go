package load

import (
	"context"
	"fmt"
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
	// Write adds sysbench's writes to the transaction.
	Write bool `json:"write,omitempty"`
	// CacheBytes is the page cache of each connection.
	CacheBytes int64 `json:"cache_bytes,omitempty"`
	// Sync is SQLite's "synchronous": off, normal or full.
	Sync string `json:"sync,omitempty"`
	// Special picks rows by sysbench's special distribution, else evenly.
	Special bool `json:"special,omitempty"`
}

// warmOps are the transactions of each thread before it counts.
const warmOps = 30

func runOLTP(ctx context.Context, m *counter.Memory, params []byte) error {
	var p OLTP
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	KeepGarbage()
	Blocking(m.Threads())
	if err := p.verify(ctx); err != nil {
		return err
	}
	sessions, err := p.sessions(m.Threads())
	if err != nil {
		return err
	}
	if err := warm(sessions); err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	m.SetReady()
	return Each(ctx, m, func(i int) error { return sessions[i].run(m, m.Slot(i)) })
}

// pragmas: the write-ahead log, because it is what a database does. No memory
// map: a page that is not in the connection's cache is read by a system call,
// as other engines read it. No busy time-out: SQLite waits by sleeping ever
// longer, which would be measured; writers queue for one lock instead, and
// then nobody is ever busy. No checkpoints of its own accord, see writer.
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

// sessions opens one connection per thread, one after the other.
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

// warm touches every page of the data set once and lets every connection do
// some transactions: with writes as many as make the log as long as it will be
// between checkpoints.
func warm(sessions []*session) error {
	if _, err := sessions[0].engine.ask("SELECT SUM(LENGTH(c) + LENGTH(pad)) + SUM(k) FROM sbtest"); err != nil {
		return err
	}
	for range warmOps + checkpointEvery/len(sessions) {
		for _, s := range sessions {
			if err := s.transaction(); err != nil {
				return err
			}
		}
	}
	return nil
}

// run does transactions until the load is told to end. Nothing should go
// wrong in an engine of one's own: any error ends the load.
func (s *session) run(m *counter.Memory, slot *counter.Slot) error {
	for !m.Stopped() {
		if err := s.operation(m, slot); err != nil {
			return err
		}
	}
	return s.close()
}

// operation is one transaction, counted.
func (s *session) operation(m *counter.Memory, slot *counter.Slot) error {
	start := m.Begin(slot)
	s.rng.Follow(m)
	err := s.transaction()
	m.End(slot, start, err)
	return err
}
