package analysis

import (
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// leastRuns is the least number of runs of an arm for a verdict: from three on Welch's
// interval keeps its coverage (simulated in package stat).
const leastRuns = 3

// imported is one workload of an imported record. The run is the unit of the statistics:
// the reports inside a run are correlated, and the host's load was the same for all of them.
type imported struct {
	out    *record.Effects
	load   record.Workload
	runs   map[string][]*record.Observed // by arm
	series []single
	differ map[string]record.Said // by arm: the reason why its load is not the baseline's
}

// analyseImported is Analyse for a record of other tools' figures.
func analyseImported(out *record.Effects, r *record.Result) {
	out.Imported = r.Manifest.Imported
	for _, load := range r.Plan.Workloads {
		t := &imported{out: out, load: load, runs: map[string][]*record.Observed{}, differ: map[string]record.Said{}}
		for _, l := range r.Lines {
			if o := l.Observed; o != nil && o.Workload == load.Name {
				t.runs[o.Arm] = append(t.runs[o.Arm], o)
			}
		}
		t.arms()
		t.single()
		checks := t.checks()
		t.effects()
		checks = append(checks, t.claims()...)
		out.Workloads = append(out.Workloads, record.WorkloadResult{Name: load.Name, Title: t.title(), Primary: load.Primary,
			Values: load.Values, Baseline: load.Baseline, Checks: checks})
	}
	caveats(out, r)
	unmatched(out)
}

func (t *imported) title() record.Said {
	runs, seconds, hosts := 0, 0.0, map[string]bool{}
	for _, list := range t.runs {
		for _, o := range list {
			runs++
			hosts[o.Host] = true
			seconds += o.Seconds
		}
	}
	return importedTitle(runs, seconds, len(hosts))
}

// value is a metric of a run: of its summary (total), or the mean of its reports; NaN without.
func value(o *record.Observed, metric string, total bool) float64 {
	for _, f := range o.Figures {
		if f.Metric != metric {
			continue
		}
		v := f.Mean
		if total {
			v = f.Total
		}
		if x, ok := v.Get(); ok {
			return x
		}
	}
	return math.NaN()
}

// values returns a metric of all runs of some arms, by arm: from the summaries where every
// run has one, else from the reports. why is the reason for none.
func (t *imported) values(metric string, arms ...string) (out [][]float64, total bool, why record.Said) {
	for _, total = range []bool{true, false} {
		out, why = nil, record.Said{}
		for _, arm := range arms {
			var list []float64
			for _, o := range t.runs[arm] {
				x := value(o, metric, total)
				if math.IsNaN(x) {
					why = notInOutput(o.File)
				}
				list = append(list, x)
			}
			if len(list) == 0 {
				why = noRun(arm)
			}
			out = append(out, list)
		}
		if why.IsZero() {
			return out, total, record.Said{}
		}
	}
	return nil, false, why
}

// arms adds the level of each arm: from summaries or from reports, for all arms alike where
// possible.
func (t *imported) arms() {
	for _, a := range t.load.Arms {
		res := record.ArmResult{Workload: t.load.Name, Arm: a.Name, Title: a.Title, Values: map[string]record.Value{}}
		for _, o := range t.runs[a.Name] {
			res.Errors += o.Errors
			for _, s := range slices.Concat(o.Load, o.Other) {
				if !slices.Contains(res.Settings, s) {
					res.Settings = append(res.Settings, s)
				}
			}
		}
		for _, m := range t.load.Metrics {
			res.Values[m] = t.level(a.Name, m)
		}
		if v, _, why := t.values(t.load.Primary, a.Name); why.IsZero() && len(v[0]) > 1 {
			res.Title = runsFromTo(len(v[0]), slices.Min(v[0]), slices.Max(v[0]))
		}
		t.out.Arms = append(t.out.Arms, res)
	}
}

func (t *imported) level(arm, metric string) record.Value {
	var names []string
	for _, a := range t.load.Arms {
		names = append(names, a.Name)
	}
	list, _, why := t.values(metric, names...)
	if !why.IsZero() {
		if list, _, why = t.values(metric, arm); !why.IsZero() {
			return record.Missing(why)
		}
		return record.Number(stat.Mean(list[0]).Mean)
	}
	return record.Number(stat.Mean(list[slices.Index(names, arm)]).Mean)
}

// effects compares every arm with the baseline in every metric.
func (t *imported) effects() {
	for _, name := range t.load.Metrics {
		m, ok := metric.Find(t.load.Values, name)
		if !ok {
			continue
		}
		var list []record.Effect
		var ests []stat.Estimate
		for _, a := range t.load.Arms {
			if a.Name == t.load.Baseline {
				continue
			}
			e, est := t.effect(a.Name, m)
			list, ests = append(list, e), append(ests, est)
		}
		t.judge(list, ests, m)
		t.out.Effects = append(t.out.Effects, list...)
	}
}

// effect returns the effect of an arm in one metric, before it is judged. The estimate is
// unknown unless both arms have leastRuns runs.
func (t *imported) effect(arm string, m metric.Metric) (record.Effect, stat.Estimate) {
	e := record.Effect{Workload: t.load.Name, Metric: m.Name, Arm: arm, Baseline: t.load.Baseline,
		Exploratory: m.Name != t.load.Primary, Generations: min(len(t.runs[arm]), len(t.runs[t.load.Baseline]))}
	v, total, why := t.values(m.Name, arm, t.load.Baseline)
	if !why.IsZero() {
		e.Reason = why
		return e, stat.Estimate{}
	}
	a, b := logs(v[0]), logs(v[1])
	d, hosts := difference(a, b), record.Said{}
	if manyHosts(t.runs[arm], t.runs[t.load.Baseline]) {
		d, hosts = acrossHosts(byHost(t.runs[arm], a), byHost(t.runs[t.load.Baseline], b))
	}
	if math.IsNaN(d.Mean) {
		e.Reason = notPositive
		return e, stat.Estimate{}
	}
	e.Observed = math.Exp(d.Mean)
	switch {
	case e.Generations == 1:
		e.Reason = onlyRun
		t.within(&e, m.Name, total)
	case e.Generations < leastRuns:
		e.Reason = runsNeeded(leastRuns, len(b), len(a))
	case !hosts.IsZero():
		e.Reason = hosts
	case !d.Known():
		e.Reason = sameInAllRuns
	default:
		return e, d
	}
	return e, stat.Estimate{}
}

// difference is Welch's difference of means. Where all runs of an arm have the same figure, as
// tools round, it takes the scatter of the other arm.
func difference(x, base []float64) stat.Estimate {
	a, b := stat.Mean(x), stat.Mean(base)
	switch {
	case !a.Known() && b.Known():
		a = scattered(a, b)
	case !b.Known() && a.Known():
		b = scattered(b, a)
	}
	return stat.Difference(a, b)
}

// scattered gives an estimate the scatter of another.
func scattered(e, like stat.Estimate) stat.Estimate {
	if e.N > 1 {
		e.SE, e.DF = like.SE*math.Sqrt(float64(like.N)/float64(e.N)), float64(e.N-1)
	}
	return e
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = stat.LogRatio(v, 1)
	}
	return out
}

// judge gives the verdicts on the arms of one metric.
func (t *imported) judge(list []record.Effect, ests []stat.Estimate, m metric.Metric) {
	s := standard{judged: m.Name == t.load.Primary, better: m.Better, margin: t.out.Margin, cpu: m.Name == metric.CPUPerOp.Name}
	f, proofs := ofEstimates(ests, 0.05, 1), slices.Repeat([]proof{enoughRuns}, len(ests))
	for i := range list {
		proofs[i].invalid = t.differ[list[i].Arm]
	}
	for i, r := range f.judge(f, proofs, s) {
		switch e := &list[i]; {
		case ests[i].Known():
			r.fill(e, ests[i])
		case r.verdict == record.Invalid:
			e.Verdict, e.Reason = r.verdict, r.reason
		}
	}
}
