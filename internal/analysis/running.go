package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Progress is the state of a workload between two launches.
type Progress struct {
	// Done: in the metric that is asked first the half-width of every interval is at most the precision, or a tenth of its
	// effect.
	Done bool
	// Opaque: the transparency check failed; Why is its text.
	Opaque bool
	Why    record.Said
	Arms   []Standing
	// LaunchSD is the likely standard deviation of an arm's launch effect in the primary metric, in logs;
	// 0: windows of a single process have none.
	LaunchSD float64
	// Shown has what the question is found to change so far, of the metrics that are judged.
	Shown []Found
}

// Found is a metric in which the question differs: the size of its effect, and the standard deviations of the log ratio of
// two windows of a block and of an arm's launch effect, all in logs.
type Found struct{ Effect, Pair, LaunchSD float64 }

// Standing is an arm's effect on the primary metric so far.
type Standing struct {
	Arm   string
	Ratio float64 // arm over control
	Half  float64 // half-width of the simultaneous interval, in logs; +Inf when unknown
	Noise float64 // standard error by the windows alone, without launch effects, in logs; 0: unknown
	// Pair is the standard deviation of the log ratio of two windows of a block, by Noise; 0: unknown.
	Pair float64
}

// relative is the half-width that is narrow enough, as a part of the effect.
const relative = 0.1

// Kept returns the part of a line that Running reads. A window takes some kilobytes, most of
// them probes, which a run of many short windows would hold until its end.
func Kept(load record.Workload, line record.Line) record.Line {
	if line.Block == nil {
		return line
	}
	judged := metric.Judged(load, true)
	quantile := slices.ContainsFunc(judged, func(name string) bool {
		m, ok := metric.Find(load.Values, name)
		return ok && m.Quantile > 0
	})
	b := *line.Block
	b.Windows = slices.Clone(b.Windows)
	for i := range b.Windows {
		w := &b.Windows[i]
		w.Detail, w.Neighbour = "", nil
		w.Probes, w.Values = only(w.Probes, cpuMetric, observe.Stolen, observe.Foreign), only(w.Values, judged...)
		if !quantile {
			w.Latency = record.Histogram{}
		}
	}
	line.Block = &b
	return line
}

// only returns the values of some names; nil without any.
func only(all map[string]record.Value, names ...string) (some map[string]record.Value) {
	for _, name := range names {
		if x, ok := all[name]; ok {
			if some == nil {
				some = map[string]record.Value{}
			}
			some[name] = x
		}
	}
	return some
}

// Running analyses the lines of a workload so far, as Analyse would if the run stopped here. plan has the half-width to
// reach, and cpus is the number of the host's CPUs; 0: unknown.
func Running(plan *record.Plan, cpus int, load record.Workload, lines []record.Line) Progress {
	t := tabulate(load, cpus, lines)
	t.alpha = 1 - t.level(true)
	out := Progress{Done: t.mayStop()}
	judged := t.judged() // with CPU time per operation: Kept drops the probes of cpuTimeCheck
	all, ok := t.fitJudged(judged)
	if !ok {
		return Progress{} // a metric of a later version of tare
	}
	shares := t.firstShares(judged, all)
	for _, name := range judged {
		list := t.standings(all[name], shares[name])
		out.Done = out.Done && (len(list) > 0 && narrow(list, plan.Precision) || shares[name] < firstShare)
		if name == load.Primary {
			out.Arms = list
			if !t.single {
				out.LaunchSD = all[name].typical.LaunchSD()
			}
		}
		if t.questionShown(all[name], shares[name], plan.Margin) {
			out.Shown = append(out.Shown, t.found(all[name]))
		}
	}
	if c := t.transparency(); c.Known && !c.OK && len(t.checks) >= 3 {
		out.Opaque, out.Why = true, c.Text
	}
	return out
}

// fitJudged estimates the judged metrics; !ok: tare does not know one of them.
func (t *table) fitJudged(judged []string) (all map[string]*fits, ok bool) {
	all = map[string]*fits{}
	var pools []*pooled
	for _, name := range judged {
		m, ok := t.measureOf(name)
		if !ok {
			return nil, false
		}
		if m.parts == nil && pools == nil {
			pools = t.pools()
		}
		all[name] = t.fit(m, pools)
	}
	return all, true
}

// narrow reports whether the half-width of every interval is at most the precision (a ratio), or a tenth of its effect.
func narrow(list []Standing, precision float64) bool {
	return !slices.ContainsFunc(list, func(s Standing) bool {
		return !(s.Half <= math.Max(math.Log1p(precision), relative*math.Abs(math.Log(s.Ratio))))
	})
}

// questionShown reports whether the question is found to differ in a metric with a part of the error.
func (t *table) questionShown(f *fits, of, margin float64) bool {
	if f.question == "" {
		return false
	}
	c := compared{table: t, fits: f, share: share{all: of}, margin: margin}
	return c.judgeAll([]pair{{f.question, t.load.Baseline}})[0].Verdict.Differs()
}

// found is what the question is found to change in a metric.
func (t *table) found(all *fits) Found {
	f, _ := t.between(all, all.question, t.load.Baseline)
	c := t.contrast(f, all.question, t.load.Baseline)
	return Found{math.Abs(f.Contrast(c).Mean), t.pairOf(all, all.question, f.WindowsSE(c)), f.LaunchSD()}
}

// pairOf is the standard deviation of the log ratio of two windows of a block, by the standard error of an arm's windows.
func (t *table) pairOf(all *fits, arm string, noise float64) float64 {
	return noise * math.Sqrt(2/(1+1/float64(len(t.control())))*float64(len(t.blocksOf(all, arm))))
}

// standings returns the arms that are compared, in the order of the plan. share is the metric's part of the error.
func (t *table) standings(all *fits, share float64) (out []Standing) {
	for _, group := range all.groups {
		f, _ := t.between(all, group[0], t.load.Baseline)
		cs := t.against(f, group)
		for i, interval := range f.Family(cs, 1-share*t.alpha) {
			s := Standing{Arm: group[i], Ratio: 1, Half: math.Inf(1)}
			if mean := f.Contrast(cs[i]).Mean; !math.IsNaN(mean) {
				s.Ratio, s.Half = math.Exp(mean), interval.Half()
				if noise := f.WindowsSE(cs[i]); noise > 0 {
					s.Noise, s.Pair = noise, t.pairOf(all, group[i], noise)
				}
			}
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Standing) int { return cmp.Compare(t.index[a.Arm], t.index[b.Arm]) })
	return out
}

// mayStop reports whether there are enough launches for a run to stop on width: with fewer it would end
// without a verdict.
func (t *table) mayStop() bool {
	for _, a := range t.arms {
		if t.inLastLaunch(a) && t.launchesOf(a) < metric.LeastLaunches {
			return false
		}
	}
	return t.launches() >= metric.LeastLaunches
}

// inLastLaunch reports whether an arm has a window in the last launch: an arm that was given up has not.
func (t *table) inLastLaunch(arm string) bool {
	for i := len(t.rows) - 1; i >= 0 && t.rows[i].launch == t.rows[len(t.rows)-1].launch; i-- {
		if t.at(&t.rows[i], arm) != nil {
			return true
		}
	}
	return false
}
