package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// firstShare is the part of a load's error for the metric that is asked first. The other judged metrics have the rest. An
// effect that is shown passes its part on to the other metrics of its arm (Wiens 2003, Pharm. Stat. 2, p. 211, and as a graph
// Bretz et al. 2009, Stat. Med. 28, p. 586). So throughput has nearly the interval that it would have alone, and a load that
// costs nothing but CPU time has a verdict on that.
const firstShare = 0.8

// share is the part of the error that a metric has.
type share struct {
	all float64            // for steps, and arms that are not in of; 0: the metric is not judged
	of  map[string]float64 // for arms of which other metrics are shown
}

// arm is the share for an arm's effect against the baseline.
func (s share) arm(name string) float64 { return max(s.all, s.of[name]) }

// firstShares is the part of the error of each judged metric while nothing is shown.
func (t *table) firstShares(judged []string, all map[string]*fits) map[string]float64 {
	first := t.askedFirst(judged, all)
	out := map[string]float64{}
	for _, name := range judged {
		switch {
		case len(judged) == 1:
			out[name] = 1
		case name == first:
			out[name] = firstShare
		default:
			out[name] = (1 - firstShare) / float64(len(judged)-1)
		}
	}
	return out
}

// shares is the part of the error of each judged metric. order has the metric that is asked first before the others.
func (c compared) shares(judged []string, all map[string]*fits) (shares map[string]share, order []string) {
	first, shown := c.firstShares(judged, all), map[string]map[string]bool{} // by metric and arm
	order = slices.Clone(judged)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(first[b], first[a]) })
	for {
		shares = passedOn(first, shown)
		more := false
		for _, name := range judged {
			if all[name] == nil {
				continue
			}
			c.fits, c.share = all[name], shares[name]
			effects, _ := c.effects()
			now := map[string]bool{everyArm: allDiffer(effects)}
			for _, e := range effects {
				now[e.Arm] = e.Verdict.Differs()
			}
			for arm, is := range now {
				more = more || is && !shown[name][arm]
				now[arm] = is || shown[name][arm]
			}
			shown[name] = now
		}
		if !more {
			return shares, order
		}
	}
}

// everyArm stands for all arms of a load.
const everyArm = ""

// passedOn is what each metric has once the effects that are shown have passed theirs on.
func passedOn(first map[string]float64, shown map[string]map[string]bool) map[string]share {
	out := map[string]share{}
	for name, own := range first {
		left := map[string]float64{everyArm: 1}
		for other, its := range first {
			for arm, is := range shown[other] {
				if other != name && is {
					left[arm] = cmp.Or(left[arm], 1) - its
				}
			}
		}
		s := share{all: own / left[everyArm], of: map[string]float64{}}
		for arm, l := range left {
			if arm != everyArm {
				s.of[arm] = own / l
			}
		}
		out[name] = s
	}
	return out
}

// allDiffer reports whether every effect that has an estimate is shown.
func allDiffer(effects []record.Effect) bool {
	known := slices.DeleteFunc(slices.Clone(effects), func(e record.Effect) bool { return e.Typical == nil })
	return len(known) > 0 && !slices.ContainsFunc(known, func(e record.Effect) bool { return !e.Verdict.Differs() })
}

// busyHost is the part of the host's CPU time that others take, from which on a host counts as busy: other processes, and
// the hypervisor.
const busyHost = 0.05

// askedFirst is the judged metric that is asked first: the primary one; on a busy host CPU time per operation where its
// interval is narrower. It depends on the first launches alone, and on widths, never on what the effects are.
func (t *table) askedFirst(judged []string, all map[string]*fits) string {
	primary, cpu := all[t.load.Primary], all[metric.CPUPerOp.Name]
	if !slices.Contains(judged, metric.CPUPerOp.Name) || primary == nil || cpu == nil || !(t.othersShare() >= busyHost) {
		return t.load.Primary
	}
	if t.firstWidth(cpu) < t.firstWidth(primary) {
		return metric.CPUPerOp.Name
	}
	return t.load.Primary
}

// isFirst reports whether a row is of the first launches, as many as a verdict needs.
func (t *table) isFirst(i int) bool { return !t.single && t.rows[i].unit < metric.LeastLaunches }

// othersShare is the part of the CPU time that others took during the first launches.
func (t *table) othersShare() float64 {
	taken, of := 0.0, 0.0
	for i := range t.rows {
		for _, w := range t.rows[i].windows {
			if w == nil || !t.isFirst(i) {
				continue
			}
			of += float64(t.cpus) * w.seconds
			for _, name := range []string{observe.Stolen, observe.Foreign} {
				if x := t.value(w, name); x > 0 {
					taken += x
				}
			}
		}
	}
	return taken / of
}

// firstWidth is the half-width of the subject's interval after the first launches, in logs; +Inf without.
func (t *table) firstWidth(f *fits) float64 {
	w := stat.Windows{Control: t.control()}
	for i := range t.rows {
		if t.isFirst(i) {
			w.Y, w.Launch = append(w.Y, f.y[i]), append(w.Launch, t.rows[i].launch)
		}
	}
	subject := t.subject(f)
	if subject == "" {
		return math.Inf(1)
	}
	fit := stat.FitWindows(w, true)
	return fit.Interval(t.contrast(fit, subject, t.load.Baseline), 1-t.alpha).Half()
}
