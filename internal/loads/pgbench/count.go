package pgbench

import (
	"errors"
	"math"
	"time"

	"github.com/tarelab/tare/internal/loads/load"
	tool "github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/wire/counter"
)

// count counts the transactions that have ended since the last call.
func (p *pgbenchRun) count() error {
	before := p.m.Now() // transactions that end from here on may be missed
	for i, s := range p.streams {
		var bad error
		err := s.Follow(func(piece []byte) {
			poll := poll{since: p.polled, thawed: p.m.Thawed(), over: p.m.Now(), offset: offset(p.m)}
			bad = errors.Join(bad, p.pieces[i].Feed(piece, func(t tool.Transaction) { p.countOne(poll, t) }))
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	p.polled = before
	return nil
}

// countOne counts one transaction.
func (p *pgbenchRun) countOne(l poll, t tool.Transaction) {
	switch {
	case t.Failed:
		p.slot.HeardError()
	case !t.Skipped:
		p.m.Heard(p.slot, l.moment(t.Ended), t.Latency)
	}
}

// poll is one reading of pgbench's log, from since to over, with the last thaw; times are
// CLOCK_MONOTONIC in ns.
type poll struct {
	since, thawed, over int64
	offset              int64 // of the log's clock, CLOCK_REALTIME, in ns
}

// pgSkew bounds the drift between the two clocks between polls, in ns, unless one is set.
const pgSkew = int64(5 * time.Millisecond)

// moment is the end of a transaction in CLOCK_MONOTONIC ns. It is the time in the log, because this
// process may read the log much later; if the log's clock was set, it is the time of the poll. No
// transaction ends while pgbench is stopped, so one that ended before a pause and was not read then
// counts at the last poll.
func (l poll) moment(ended int64) int64 {
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

// offset is CLOCK_REALTIME minus the clock of the counters, in ns. It is the best of up to five
// readings: on a busy machine time can pass between reading the two clocks.
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

// countDown counts the last transactions of a pgbench that is ending.
func (p *pgbenchRun) countDown() error {
	for end := time.Now().Add(load.Grace); time.Now().Before(end); time.Sleep(pollInterval) {
		if p.ended() {
			break
		}
		if err := p.count(); err != nil { // a full pipe would keep pgbench from ending
			return err
		}
	}
	return p.count()
}
