package run

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/record"
)

// limits are the levels, in CPUs, above which a window does not count: half of
// the CPUs more than the pilot saw. They are set before the first window, and
// are for what happens once; what a shared host does all the time is noise that
// the intervals carry.
type limits struct{ foreign, steal float64 }

// Names of the probe values that the limits are about.
const (
	foreignShare = "cpu.foreign"
	stealShare   = "cpu.steal"
)

func (m limits) exceeded(w record.Window) (reason, detail string) {
	if x, ok := w.Probes[foreignShare].Get(); ok && x/w.Seconds > m.foreign {
		return record.DropForeign, fmt.Sprintf("%.2f CPUs", x/w.Seconds)
	}
	if x, ok := w.Probes[stealShare].Get(); ok && x/w.Seconds > m.steal {
		return record.DropSteal, fmt.Sprintf("%.2f CPUs", x/w.Seconds)
	}
	return "", ""
}

// pilot looks at this host before anything counts: traces of the counters at
// 10 ms after a thaw, of every arm, most of the baseline.
func (l *loadRun) pilot(ctx context.Context) error {
	if l.load.Stages.Windowed != nil {
		return l.pilotAsked(ctx)
	}
	l.event(l.at("pilot"))
	long, short := pilotLengths(l.left(), len(l.arms))
	o := plan.Observed{Launch: l.launchTime, Arms: len(l.arms), Pause: l.arms[0].pauseKind()}
	var foreign, steal []float64
	all := slices.Clone(l.arms)
	for _, i := range plan.Order(l.Plan.Record.Seed, l.load.Name+"/pilot", 0, 0, len(all)) {
		a := all[i]
		if !slices.Contains(l.arms, a) {
			continue // with a neighbour that has ended
		}
		length := short
		if a.Name == l.load.Baseline {
			length = long
		}
		t, f, s, err := l.trace(ctx, a, length)
		if err != nil {
			return err
		}
		if a.disturbed() != nil {
			if err := l.revive(); err != nil {
				return err
			}
			continue
		}
		o.Traces = append(o.Traces, t)
		foreign, steal = append(foreign, f), append(steal, s)
		o.Switch = max(o.Switch, a.freezing+a.thawed)
	}
	o.Budget = l.left()
	fixed := plan.Lengths{Window: l.Plan.Window, Discard: l.Plan.Discard, Generations: l.Plan.Generations}
	lengths, p := plan.Tune(o, fixed)
	return l.tuned(o, lengths, p, foreign, steal)
}

// tuned keeps what the pilot chose.
func (l *loadRun) tuned(o plan.Observed, lengths plan.Lengths, p record.Pilot, foreign, steal []float64) error {
	l.observed, l.lengths = o, lengths
	allowed := float64(runtime.NumCPU()) / 2
	l.limits = limits{foreign: high(foreign) + allowed, steal: high(steal) + allowed}
	p.Workload, p.Foreign, p.Steal = l.load.Name, l.limits.foreign, l.limits.steal
	l.lines = append(l.lines, record.Line{Pilot: &p})
	return l.append(record.Line{Pilot: &p})
}

// pilotLengths are the lengths of the baseline's long trace, which tells windows
// of up to a tenth of it apart, and of the short ones that show the thaw: about
// an eighth of what is left.
func pilotLengths(left time.Duration, arms int) (long, short time.Duration) {
	long = min(max(left/12, time.Second), 6*time.Second)
	short = min(max(left/24/time.Duration(arms), 150*time.Millisecond), 500*time.Millisecond)
	return long.Round(plan.Tick), short.Round(plan.Tick)
}

// trace lets an arm run for a while and counts its operations each tick. It
// also returns the foreign and stolen CPU of that while, in CPUs.
func (l *loadRun) trace(ctx context.Context, a *arm, length time.Duration) (t plan.Trace, foreign, steal float64, err error) {
	t = plan.Trace{Arm: a.Name}
	err = l.visit(ctx, a, environment.Visit{Seed: 1, Length: length, Tick: plan.Tick})
	switch {
	case ctx.Err() != nil:
		return t, 0, 0, ctx.Err()
	case err == nil:
		err = a.died()
	}
	if err != nil {
		return t, 0, 0, fmt.Errorf("arm %s: %w%s", a.Name, err, lastLines(a.log.Name()))
	}
	t.Ticks = a.visited.Ticks
	foreign, _ = a.visited.Probes[foreignShare].Get()
	steal, _ = a.visited.Probes[stealShare].Get()
	return t, foreign / a.visited.Seconds, steal / a.visited.Seconds, nil
}

// high is the 90th percentile.
func high(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := append([]float64(nil), x...)
	sort.Float64s(s)
	return s[len(s)*9/10]
}
