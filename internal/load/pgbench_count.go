package load

import (
	"errors"
	"time"

	"github.com/tarelab/tare/internal/pgbench"
)

// count counts what has ended.
func (p *pgbenchRun) count() error {
	now := p.m.Now() // before looking, which is part of no latency
	for i, s := range p.streams {
		var bad error
		err := s.Follow(func(piece []byte) {
			bad = errors.Join(bad, p.logs[i].Feed(piece, func(t pgbench.Transaction) { p.hear(now, t) }))
		})
		if err = errors.Join(err, bad); err != nil {
			return err
		}
	}
	p.looked = now
	return nil
}

// hear counts one transaction. It was over after the last look; if there was a
// pause since then, the moment in the log says on which side of it.
func (p *pgbenchRun) hear(now int64, t pgbench.Transaction) {
	over := now
	if thawed := p.m.Thawed(); p.looked < thawed && thawed <= now && p.moment(t, now) < (p.looked+thawed)/2 {
		over = p.looked
	}
	switch {
	case t.Failed:
		p.slot.HeardError()
	case !t.Skipped:
		p.m.Heard(p.slot, over, t.Latency)
	}
}

// moment is when a transaction ended by the clock of the counters, as far as
// the other clock was not set meanwhile; now if it was.
func (p *pgbenchRun) moment(t pgbench.Transaction, now int64) int64 {
	ended := now - (time.Now().UnixNano() - t.Ended)
	if slack := int64(time.Second); ended > now+slack || ended < p.looked-slack {
		return now
	}
	return ended
}

// countDown counts the last transactions.
func (p *pgbenchRun) countDown() error {
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(pgPoll) {
		if p.ended() {
			break
		}
		if err := p.count(); err != nil { // or it might wait for room in a pipe
			return err
		}
	}
	return p.count()
}
