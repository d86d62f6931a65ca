package plan

import (
	"math"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/wire/metric"
)

// Bracket is where the half-widths of a run's intervals are expected, as ratios.
type Bracket struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Expect returns the bracket of the half-widths of all loads for the whole budget, from those of earlier runs: they shrink
// with the root of the time that an arm has. Its ends are a half and twice the power of two (in percent) that is next to
// the narrowest and the widest, because a host changes from run to run. False: of a load nothing is known.
func (p *Plan) Expect() (Bracket, bool) {
	best, worst := math.Inf(1), 0.0
	for i := range p.Loads {
		l := &p.Loads[i]
		k := l.Known
		if k == nil || k.Widest == 0 {
			return Bracket{}, false
		}
		shrinks := math.Sqrt(k.Seconds * float64(len(l.Arms)) / l.measured(l.Budget))
		best, worst = min(best, k.Narrowest*shrinks), max(worst, k.Widest*shrinks)
	}
	return Bracket{nearestPower(best) / 2, 2 * nearestPower(worst)}, worst > 0
}

// measured is the part of so many seconds of a load of which something is known that follows its first window.
func (l *Load) measured(budget float64) float64 { return max(budget-l.Known.Data-l.Known.Begin, 0) }

// nearestPower is the power of two, in percent, that is next to a half-width on a logarithmic scale.
func nearestPower(half float64) float64 {
	return math.Exp2(math.Round(math.Log2(100*half))) / 100
}

// TimeFor estimates how many seconds the run takes until the intervals of every load are as narrow as half; it is called
// where Expect has a bracket. +Inf: more than 30 days.
func (p *Plan) TimeFor(half float64) float64 {
	worst := 0.0
	for i := range p.Loads {
		l := &p.Loads[i]
		k := l.Known
		times := k.Widest / half
		worst = max(worst, (k.Data+k.Begin+k.Seconds*float64(len(l.Arms))*times*times)*p.Record.Budget/l.Budget)
	}
	if worst > (30 * 24 * time.Hour).Seconds() {
		return math.Inf(1)
	}
	return worst
}

// Tail is what a plan knows of the p99 of a load; numbers are 0 where nothing is known.
type Tail struct {
	Load string
	// Operations is how many operations the slowest arm will have in all windows, PerWindow in each, and Needed how many it
	// needs in each to have a p99.
	Operations, PerWindow, Needed float64
	Budget                        float64 // in seconds, in which each arm has TailOperations
}

// TailOperations is how many operations an arm needs in all its windows for its p99.
const TailOperations = 100 * metric.LeastBeyond

// Tails has an entry for each load that has a p99.
func (p *Plan) Tails() (all []Tail) {
	for i := range p.Loads {
		l := &p.Loads[i]
		if !slices.Contains(l.Metrics, metric.P99.Name) {
			continue
		}
		t := Tail{Load: l.Name}
		if k := l.Known; k != nil && k.Operations > 0 && k.Windows > 0 && l.measured(l.Budget) > 0 {
			t.Operations = k.Operations * l.measured(l.Budget)
			t.PerWindow = k.Operations / k.Windows
			t.Needed = t.PerWindow * TailOperations / t.Operations
			t.Budget = (k.Data + k.Begin + TailOperations/k.Operations) * p.Record.Budget / l.Budget
		}
		all = append(all, t)
	}
	return all
}
