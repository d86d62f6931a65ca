package analysis

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

const (
	// oddAt is the level, over all arms (Holm), at which a warning names launches.
	oddAt = 0.05
	// oddBy is how many standard deviations of the other arms' launches one of an arm is away
	// from the arm's median to be counted as odd, and leastOdd the least distance (log scale).
	oddBy, leastOdd = 4, 0.03
)

// addLaunches adds to effects how the launches of their arm scatter, and at which two speeds the
// arm worked.
func (t *table) addLaunches(effects []record.Effect, all map[string]*fits, found []record.ArmModes) {
	for i := range effects {
		e := &effects[i]
		if f := all[e.Metric]; f != nil && e.Typical != nil {
			e.Launches = t.armLaunches(f, e.Arm)
		}
		at := slices.IndexFunc(found, func(m record.ArmModes) bool { return m.Arm == e.Arm })
		if at >= 0 {
			e.Speeds = found[at].Modes
		}
	}
}

// armLaunches is nil after a single launch.
func (t *table) armLaunches(f *fits, arm string) *record.ArmLaunches {
	o := f.typical.OwnLaunches(t.index[arm])
	if o.Launches < 2 {
		return nil
	}
	out := &record.ArmLaunches{Count: o.Launches, SD: finite(o.SD), Odd: o.Odd}
	if !math.IsNaN(o.P) {
		out.P, out.Others = &o.P, finite(o.SD/math.Sqrt(o.F))
	}
	return out
}

// oddLaunches warns of arms whose launches differ more than those of the others (Holm 1979,
// Scand. J. Stat. 6, p. 65).
func (t *table) oddLaunches(f *fits) (ws []record.Warning) {
	if f == nil || !f.typical.Known || t.launches() < metric.LeastLaunches {
		return nil
	}
	type tested struct {
		arm string
		stat.OwnLaunches
	}
	var all []tested
	for _, a := range t.arms {
		if o := f.typical.OwnLaunches(t.index[a]); !math.IsNaN(o.P) {
			all = append(all, tested{a, o})
		}
	}
	slices.SortStableFunc(all, func(a, b tested) int {
		if a.P < b.P {
			return -1
		}
		return 1
	})
	for i, x := range all {
		if x.P*float64(len(all)-i) > oddAt {
			break
		}
		c := unsteadyLaunches(x.arm, x.SD, x.SD/math.Sqrt(x.F))
		if odd, by := outlying(x.OwnLaunches); odd > 0 {
			c = oddLaunch(x.arm, odd, x.Launches, math.Exp(by))
		}
		ws = append(ws, c.of(t.load.Name, x.arm))
	}
	return ws
}

// outlying counts the launches that are far from the arm's median launch, all on one side of it,
// and returns the median of their distances (log scale); 0 where they are half of all or more,
// or on both sides.
func outlying(o stat.OwnLaunches) (n int, by float64) {
	limit := max(oddBy*o.SD/math.Sqrt(o.F), leastOdd)
	var known, far []float64
	for _, x := range o.Effect {
		if !math.IsNaN(x) {
			known = append(known, x)
		}
	}
	mid := stat.Median(known)
	for _, x := range known {
		if math.Abs(x-mid) > limit {
			far = append(far, x-mid)
		}
	}
	if len(far) == 0 || 2*len(far) >= len(known) || slices.Min(far) < 0 && slices.Max(far) > 0 {
		return 0, 0
	}
	return len(far), stat.Median(far)
}
