package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// thaws is how often the pilot looks at each arm after a thaw.
const thaws = 2

// pilot looks at this host before anything counts: traces of the counters after
// a thaw, a long one of the baseline and short ones of every arm.
func (l *loadRun) pilot(ctx context.Context) error {
	if l.load.Stages.Windowed != nil {
		return l.pilotWindowed(ctx)
	}
	l.event(l.at("pilot"))
	o := plan.Observed{Stands: true, Launch: l.launchTime, Arms: len(l.arms), Pause: l.arms[0].session.Method(), Least: l.load.Shortest(), Settle: l.settle()}
	began, ran := time.Now(), time.Duration(0)
	look := func(a *arm, length time.Duration) (err error) {
		if err := l.watch.Ahead(lookBetween); err != nil {
			return err
		}
		t, wasted, err := l.trace(ctx, a, length)
		if err == nil {
			o.Traces, ran = append(o.Traces, t), ran+length+wasted
		} else if a.disturbed() != nil {
			err = l.revive()
		}
		return err
	}
	base := l.armCalled(l.load.Baseline)
	long, short := plan.PilotLengths(l.remaining(), len(l.arms), false)
	if err := look(base, long); err != nil {
		return err
	}
	if plan.Slow(o.Traces[0]) {
		long, short = plan.PilotLengths(l.remaining(), len(l.arms), true)
		o.Traces = nil
		if err := look(base, long); err != nil {
			return err
		}
	}
	all := slices.Clone(l.arms)
	for round := range thaws {
		for _, i := range plan.Order(l.Plan.Record.Seed, l.load.Name+"/pilot", 0, round, len(all)) {
			if !slices.Contains(l.arms, all[i]) {
				continue // with a neighbour that has ended
			}
			if err := look(all[i], short); err != nil {
				return err
			}
		}
	}
	o.Switch = (time.Since(began) - ran) / time.Duration(max(1, len(o.Traces)))
	o.Budget = l.share - time.Since(l.began) // of all passes
	fixed := plan.Lengths{Window: l.Plan.Window, Discard: l.Plan.Discard, Generations: l.Plan.Generations}
	lengths, p := plan.Tune(o, fixed)
	return l.tuned(o, lengths, p)
}

// tuned keeps what the pilot chose.
func (l *loadRun) tuned(o plan.Observed, lengths plan.Lengths, p record.Pilot) error {
	l.observed, l.lengths, l.noise = o, lengths, plan.NoiseOf(p.Slots, lengths.Window)
	p.Workload = l.load.Name
	l.warnOfLengths()
	l.lines = append(l.lines, record.Line{Pilot: &p})
	return l.append(record.Line{Pilot: &p})
}

// trace lets an arm run for a while and counts its operations each tick. Wasted is what
// tries took that do not count.
func (l *loadRun) trace(ctx context.Context, a *arm, length time.Duration) (t plan.Trace, wasted time.Duration, err error) {
	t = plan.Trace{Arm: a.Name}
	var seen wire.Sample
	wasted, err = undisturbed(func() (err error) {
		seen, err = l.measure(ctx, a, wire.WindowSpec{Seed: 1, Length: length, Tick: plan.Tick})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return t, wasted, ctx.Err()
	case err == nil:
		err = a.died()
	}
	if err != nil {
		return t, wasted, fmt.Errorf("arm %s: %w%s", a.Name, err, lastLines(a.log.Name()))
	}
	t.Ticks = seen.Ticks
	return t, wasted, nil
}

// settle is the least settle time; 0 where one was asked for, which stays.
func (l *loadRun) settle() time.Duration {
	if l.Plan.Discard > 0 {
		return 0
	}
	return l.load.Settle()
}

// warnOfLengths says that what was asked for does not go with what an arm is granted.
func (l *loadRun) warnOfLengths() {
	warn := func(text, key string, need time.Duration, of string) {
		l.warn(record.Warning{
			Workload: l.load.Name, Text: text,
			Remedy: fmt.Sprintf("leave %s: out of the experiment, or make it %s%s", key, of, need),
		})
	}
	granted, need := l.load.Granted(), l.load.Settle()
	if l.lengths.Discard < need {
		why := "beside a neighbour CPU time is divided otherwise than later on"
		if granted > 0 {
			why = "an arm with a quota has more than its share"
		}
		warn(fmt.Sprintf("discard: %s is too short: until %s after a thaw %s", l.lengths.Discard, need, why), "discard", need, "")
	}
	if granted > 0 && l.lengths.Window%granted != 0 {
		warn(fmt.Sprintf("window: %s is no multiple of %s, the period of a quota: a window holds more or less of it by chance", l.lengths.Window, granted),
			"window", granted, "a multiple of ")
	}
}
