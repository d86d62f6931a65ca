package run

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// pilot looks at all arms before a window counts, and chooses settle time and length of the
// windows. It records traces of the counters after a thaw: a long one of the baseline, and short
// ones of every arm.
func (l *loadRun) pilot(ctx context.Context) error {
	l.run.showProgress(l.event("pilot"))
	if l.load.Stages.Windowed != nil {
		return l.pilotWindowed(ctx)
	}
	const thaws = 2 // short traces of each arm
	o := l.observed()
	began, ran := time.Now(), time.Duration(0)
	look := func(a *arm, length time.Duration) (err error) {
		if err := l.run.watch.Ahead(lookBetween); err != nil {
			return err
		}
		t, wasted, err := l.trace(ctx, a, length)
		if err == nil {
			o.Traces, ran = append(o.Traces, t), ran+length+wasted
		} else if a.neighbourTrouble() != nil {
			err = l.removeEnded()
		}
		return err
	}
	base := l.instances.arm(l.load.Baseline)
	long, short := plan.PilotLengths(l.schedule.clock.left(), len(l.instances.arms), false)
	if err := look(base, long); err != nil {
		return err
	}
	if plan.Slow(o.Traces[0]) {
		long, short = plan.PilotLengths(l.schedule.clock.left(), len(l.instances.arms), true)
		o.Traces = nil
		if err := look(base, long); err != nil {
			return err
		}
	}
	for round := range thaws {
		if err := l.eachArmOnce(round, func(a *arm) error { return look(a, short) }); err != nil {
			return err
		}
	}
	o.Switch = (time.Since(began) - ran) / time.Duration(max(1, len(o.Traces)))
	o.Budget = l.schedule.share - l.schedule.clock.spent() // of all passes
	lengths, p := plan.Tune(o, l.schedule.fixed())
	return l.takeLengths(o, lengths, p)
}

// pilotWindowed asks every arm for one window: the time that a window takes beyond its length
// decides how many windows there are.
func (l *loadRun) pilotWindowed(ctx context.Context) error {
	s, windowed := &l.schedule, *l.load.Stages.Windowed
	s.lengths = plan.Lengths{Window: windowed.Least, Discard: max(windowed.Discard, s.leastSettle())}
	o := l.observed()
	over, windows := time.Duration(0), 0 // time beyond the lengths, of so many windows
	err := l.eachArmOnce(0, func(a *arm) error {
		if err := l.run.watch.Ahead(lookBetween); err != nil {
			return err
		}
		took, err := l.askOnce(ctx, a)
		if a.neighbourTrouble() != nil {
			return l.removeEnded()
		}
		if err != nil {
			return err
		}
		over += max(0, took-s.lengths.Window-s.lengths.Discard)
		windows++
		return nil
	})
	if err != nil {
		return err
	}
	if windows > 0 { // a block has each arm once: the mean counts
		o.Switch = over / time.Duration(windows)
	}
	o.Budget = s.clock.left()
	lengths, p := plan.TuneWindowed(o, windowed, s.fixed())
	return l.takeLengths(o, lengths, p)
}

// askOnce asks an arm's tool for one window and says how long that took.
func (l *loadRun) askOnce(ctx context.Context, a *arm) (took time.Duration, err error) {
	var began time.Time
	var w record.Window
	_, err = repeatWhileSilent(func() (err error) {
		began = time.Now()
		w, _, err = l.window(ctx, a, wire.WindowSpec{Seed: 1, Discard: l.schedule.lengths.Discard, Length: l.schedule.lengths.Window})
		return err
	})
	took = time.Since(began)
	if err != nil {
		return took, armError(a, err)
	}
	if w.Errors > 0 {
		return took, armError(a, fmt.Errorf("the load reports %d errors", w.Errors))
	}
	return took, nil
}

// observed is what the pilot knows before it looks.
func (l *loadRun) observed() plan.Observed {
	arms := len(l.instances.arms)
	return plan.Observed{
		Stands: true, Launch: l.schedule.nextLaunch() + l.schedule.warmTime(arms), Arms: arms, Pause: l.instances.arms[0].instance.session.Method(),
		Least: l.load.Shortest(), Settle: l.schedule.leastSettle(), BesideWork: l.load.SettleBesideWork(),
	}
}

// eachArmOnce visits every arm in random order. It skips an arm that ended meanwhile, with its
// neighbour.
func (l *loadRun) eachArmOnce(round int, visit func(*arm) error) error {
	all := slices.Clone(l.instances.arms)
	for _, i := range plan.Order(l.schedule.plan.Record.Seed, l.load.Name+"/pilot", 0, round, len(all)) {
		if !slices.Contains(l.instances.arms, all[i]) {
			continue
		}
		if err := visit(all[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeLengths takes over the lengths that the pilot chose, and records them.
func (l *loadRun) takeLengths(o plan.Observed, lengths plan.Lengths, p record.Pilot) error {
	s := &l.schedule
	s.observed, s.lengths, s.noise = o, lengths, plan.NoiseOf(p.Slots, lengths.Window)
	p.Workload = l.load.Name
	l.warnOfLengths()
	return l.results.beginPilot(&p)
}

// otherWork is the probe of CPU time that processes used which are neither the arm's nor its
// neighbour's.
const otherWork = "cpu.foreign"

// trace lets an arm run for a while and counts its operations in each tick. wasted is the time of
// tries that do not count.
func (l *loadRun) trace(ctx context.Context, a *arm, length time.Duration) (t plan.Trace, wasted time.Duration, err error) {
	t = plan.Trace{Arm: a.planned.Name}
	var seen wire.Sample
	wasted, err = repeatWhileSilent(func() (err error) {
		seen, err = l.measure(ctx, a, wire.WindowSpec{Seed: 1, Length: length, Tick: plan.Tick})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return t, wasted, ctx.Err()
	case err == nil:
		err = a.instance.died()
	}
	if err != nil {
		return t, wasted, armError(a, err)
	}
	t.Ticks = seen.Ticks
	if x, ok := seen.Probes[otherWork].Get(); ok && seen.Seconds > 0 {
		t.OtherWork = x / seen.Seconds / float64(onlineCPUs())
	}
	return t, wasted, nil
}

// onlineCPUs is the number of the host's CPUs, which is more than runtime.NumCPU where tare is pinned.
func onlineCPUs() int {
	n, err := proc.FS("/").OnlineCPUs()
	if err != nil {
		return runtime.NumCPU()
	}
	return n
}

// armError names the arm of an error and adds the end of its log.
func armError(a *arm, err error) error {
	return fmt.Errorf("arm %s: %w%s", a.planned.Name, err, lastLines(a.instance.log.Name()))
}

// warnOfLengths warns of lengths in the experiment that do not suit what the kernel grants an arm.
func (l *loadRun) warnOfLengths() {
	lengths, granted, need := l.schedule.lengths, l.load.Granted(), l.load.Settle()
	if lengths.Discard < need {
		l.run.rec.warn(shortDiscard(lengths.Discard, need, granted > 0).of(l.load.Name, ""))
	}
	if granted > 0 && lengths.Window%granted != 0 {
		l.run.rec.warn(partialPeriod(lengths.Window, granted).of(l.load.Name, ""))
	}
}
