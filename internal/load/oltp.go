package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"

	"github.com/tarelab/tare/internal/counter"
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

// gcPercent of the engine: its pages are not on Go's heap, so the heap is
// small and the default would collect after every 70 transactions. With this
// it is every 500, which is 0.2 % of the CPU time, for 30 MB.
const gcPercent = 800

// warmOps are the transactions of each thread before it counts.
const warmOps = 30

func runOLTP(ctx context.Context, m *counter.Memory, params []byte) error {
	var p OLTP
	if err := decode(params, &p); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
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
	return each(ctx, m, func(i int) error { return sessions[i].run(m, m.Slot(i)) })
}

// dsn: the write-ahead log, because it is what a database does. No memory
// map: a page that is not in the connection's cache is read by a system call,
// as other engines read it. No busy time-out: SQLite waits by sleeping ever
// longer, which would be measured; writers queue for one lock instead, and
// then nobody is ever busy.
func (p OLTP) dsn() string {
	return dsn(filepath.Join(p.Dir, dataFile), "rw",
		"busy_timeout(0)",
		"journal_mode(WAL)",
		"synchronous("+p.Sync+")",
		fmt.Sprintf("cache_size(-%d)", p.CacheBytes>>10),
		"mmap_size(0)",
		"temp_store(MEMORY)")
}

// sessions opens one connection per thread, one after the other.
func (p OLTP) sessions(n int) ([]*session, error) {
	writer := newTurn()
	out := make([]*session, n)
	for i := range out {
		rng := rand.New(rand.NewPCG(p.Seed, uint64(i)))
		s := &session{rows: p.Rows, write: p.Write, writer: writer, rng: rng, id: uniform(rng)}
		if p.Special {
			s.id = special(rng)
		}
		if err := s.open(p.dsn()); err != nil {
			return nil, fmt.Errorf("connection %d of %d: %w", i+1, n, err)
		}
		out[i] = s
	}
	return out, nil
}

// warm touches every page of the data set once and lets every connection do
// some transactions.
func warm(sessions []*session) error {
	var n int
	row := sessions[0].conn.QueryRowContext(background, "SELECT SUM(LENGTH(c) + LENGTH(pad)) + SUM(k) FROM sbtest")
	if err := row.Scan(&n); err != nil {
		return err
	}
	for _, s := range sessions {
		for range warmOps {
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
		start := m.Begin(slot)
		err := s.transaction()
		m.End(slot, start, err)
		if err != nil {
			return err
		}
	}
	return s.close()
}
