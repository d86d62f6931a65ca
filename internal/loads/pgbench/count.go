package pgbench

import (
	"errors"
	"math"
	"time"

	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/wire/counter"
)

// count counts what has ended.
func (p *pgbenchRun) count() error {
	before := p.m.Now() // what ends from here on may be unseen
	for i, s := range p.streams {
		var bad error
		err := s.Follow(func(piece []byte) {
			look := look{since: p.looked, thawed: p.m.Thawed(), over: p.m.Now(), offset: offset(p.m)}
			bad = errors.Join(bad, p.pieces[i].Feed(piece, func(t tool.Transaction) { p.hear(look, t) }))
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	p.looked = before
	return nil
}

// hear counts one transaction.
func (p *pgbenchRun) hear(l look, t tool.Transaction) {
	switch {
	case t.Failed:
		p.slot.HeardError()
	case !t.Skipped:
		p.m.Heard(p.slot, l.moment(t.Ended), t.Latency)
	}
}

// look is a look at the transactions that ended since the one before; moments
// are CLOCK_MONOTONIC ns.
type look struct {
	since, thawed, over int64
	offset              int64 // of the clock that pgbench's log is written by, ns
}

// pgSkew is what the two clocks may differ by at most, ns, where neither is set.
const pgSkew = int64(5 * time.Millisecond)

// moment is when a transaction ended. This process may see it much later, or be
// held up while it looks; so the moment is the log's, as far as that clock was
// not set meanwhile. A transaction that ended before a pause and was not seen
// then ended at the last look: none ends while pgbench stands still.
func (l look) moment(ended int64) int64 {
	at := ended - l.offset
	if slack := int64(time.Second); at > l.over+slack || at < l.since-slack {
		at = l.over
	}
	if l.since < l.thawed && l.thawed <= l.over {
		if at < max(l.since+(l.thawed-l.since)/2, l.thawed-pgSkew) {
			return l.since
		}
		return min(max(at, l.thawed), l.over)
	}
	return min(max(at, l.since), l.over)
}

// offset is what the clock of the log is ahead of that of the counters, ns.
// Both are read at once, as nearly as a busy machine lets it.
func offset(m *counter.Memory) (best int64) {
	least := int64(math.MaxInt64)
	for range 5 {
		from := m.Now()
		wall := time.Now().UnixNano()
		took := m.Now() - from
		if took < least {
			least, best = took, wall-from-took/2
		}
		if took < 2000 {
			break
		}
	}
	return best
}

// countDown counts the last transactions.
func (p *pgbenchRun) countDown() error {
	for end := time.Now().Add(load.Grace); time.Now().Before(end); time.Sleep(pgPoll) {
		if p.ended() {
			break
		}
		if err := p.count(); err != nil { // or it might wait for room in a pipe
			return err
		}
	}
	return p.count()
}
