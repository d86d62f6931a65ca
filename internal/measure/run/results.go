package run

import (
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// results owns what was measured of a workload: the lines for the record and for Decide, and what
// was decided from them.
type results struct {
	config   *Config
	rec      *recorder
	workload record.Workload

	lines   []record.Line // since the last pilot: pilot, blocks and checks, for Decide
	pending []record.Line // not yet in the record
	flushed time.Time     // when the record was last written
	halves  plan.Halves   // of the windows since the last pilot
	steady  steadyRates   // of this launch
	effects []Running     // as Decide saw them last
	dropped int           // windows
}

// steadyRates are the rates of the baseline in one launch: in its windows, and while it ran on
// without a freeze.
type steadyRates struct{ seconds, ops, rate float64 }

// add adds a window of the baseline, and the rate of the stretch after it; 0: there was none.
func (s *steadyRates) add(w record.Window, rate float64) {
	s.seconds, s.ops = s.seconds+w.Seconds, s.ops+float64(w.Ops)
	if rate > 0 {
		s.rate = rate
	}
}

// check is the line of the transparency check; ok: there is one.
func (s steadyRates) check(workload string, launch int) (line record.Line, ok bool) {
	return record.Line{Check: &record.Check{
		Workload: workload, Generation: launch, Kind: "transparency", Rotated: s.ops / s.seconds, Steady: s.rate,
	}}, s.rate > 0
}

// add takes a line for the record, which flush writes, and for Decide.
func (r *results) add(line record.Line) {
	r.pending = append(r.pending, line)
	r.addForDecide(line)
}

func (r *results) addForDecide(line record.Line) {
	if r.config.Condense != nil {
		line = r.config.Condense(r.workload, line)
	}
	r.lines = append(r.lines, line)
}

// addHalves compares the halves of a block's windows.
func (r *results) addHalves(b *record.Block) { r.halves.Add(b, r.workload.Baseline, plan.TwinName) }

// beginPilot records the pilot's lengths. Lines before it no longer count.
func (r *results) beginPilot(p *record.Pilot) error {
	r.lines, r.halves = []record.Line{{Pilot: p}}, plan.Halves{}
	return r.rec.append(record.Line{Pilot: p})
}

// forget drops what no longer counts; the record has it still.
func (r *results) forget() { r.lines, r.halves = nil, plan.Halves{} }

// decide asks Decide, and keeps the effects so far.
func (r *results) decide() Decision {
	d := r.config.Decide(r.workload, r.lines)
	r.effects = d.Arms
	return d
}

// syncEvery is how much measuring a killed run can lose. Short blocks are synced several at a time:
// a sync takes as long as a window.
const syncEvery = 200 * time.Millisecond

// flush writes what was measured to the record, and syncs it.
func (r *results) flush() error {
	lines := r.pending
	r.pending, r.flushed = nil, time.Now()
	if len(lines) == 0 {
		return nil
	}
	return r.rec.append(lines...)
}
