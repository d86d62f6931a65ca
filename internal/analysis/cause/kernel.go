package cause

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// pressures are the observations whose growth over the baseline shows what an arm waited for.
var pressures = observe.Table(func(o observe.Observation) bool { return o.Own != "" || o.Beside != "" })

// limits are the counters that rise whenever a setting holds an arm back.
var limits = observe.Table(func(o observe.Observation) bool { return o.Excludes != "" })

// excluded is the counter that excludes a factor, if one does: the kernel counted nothing of what the setting does,
// or too little time for the loss. A throughput is lost in time; a latency in moments, which add up to little.
func (l *loss) excluded(f factor) (e record.Evidence, no bool) {
	at := slices.IndexFunc(limits, func(o observe.Observation) bool { return len(f.causes) == 1 && o.Excludes == f.causes[0] })
	if at < 0 {
		return e, false
	}
	for _, k := range l.w.Kernel {
		if k.Metric != limits[at].Name {
			continue
		}
		e = record.Evidence{Metric: k.Metric, Unit: k.Unit, Per: "second", Arm: l.perSecond(k, l.arm.Name), Against: orZero(l.perSecond(k, l.base.Name))}
		little := l.effect.Metric == metric.Throughput.Name && k.Unit == "s" && e.Arm < small*math.Abs(l.log())*l.received(l.arm.Name)
		return e, e.Arm == 0 || little
	}
	return e, false
}

// orZero is a counter of the baseline, which may have no such limit and then no reading.
func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// received are the CPU seconds per second of an arm; NaN if they are unknown.
func (l *loss) received(arm string) float64 {
	perOp, ok := l.w.Arm[arm].Values[metric.CPUPerOp.Name].Get()
	if !ok {
		return math.NaN()
	}
	return l.rate(arm) * perOp
}

// Received are the CPU seconds per second that an arm received; 0: unknown.
func Received(e *record.Effects, load, arm string) float64 {
	for _, w := range arrange.Workloads(e) {
		if l := (&loss{w: w}); w.Name == load && l.received(arm) > 0 {
			return l.received(arm)
		}
	}
	return 0
}

// grown returns an observation of the arm and of its baseline, and whether it grew by so much that it counts.
func (l *loss) grown(o observe.Observation) (record.Evidence, bool) {
	e, growth := l.growth(o.Name)
	return e, o.Counts(growth, 0)
}

// growth is how much longer the arm waited than its baseline does for as many operations, in seconds per
// second; NaN: unknown. A baseline that always waits for its disk cannot wait more of its time, but can for
// each operation. Where operations are not counted, second is compared with second.
func (l *loss) growth(probe string) (record.Evidence, float64) {
	for _, k := range l.w.Kernel {
		if k.Metric != probe {
			continue
		}
		e := record.Evidence{Metric: probe, Unit: k.Unit, Per: "second", Arm: l.perSecond(k, l.arm.Name), Against: l.perSecond(k, l.base.Name)}
		if probe == observe.Throttled {
			e.Against = orZero(e.Against)
		}
		arm, base := l.rate(l.arm.Name), l.rate(l.base.Name)
		if !(arm > 0 && base > 0) {
			return e, e.Arm - e.Against
		}
		growth := e.Arm - e.Against*arm/base
		e.Per, e.Arm, e.Against = "operation", e.Arm/arm, e.Against/base
		return e, growth
	}
	return record.Evidence{}, math.NaN()
}

// rate is an arm's operations per second; NaN if it is unknown.
func (l *loss) rate(arm string) float64 {
	rate, ok := l.w.Arm[arm].Values[metric.Throughput.Name].Get()
	if !ok {
		return math.NaN()
	}
	return rate
}

// perSecond is a probe value of an arm per second; NaN if it is unknown.
func (l *loss) perSecond(k record.Kernel, arm string) float64 {
	x, ok := k.Values[arm].Get()
	if !ok {
		return math.NaN()
	}
	if k.Per != "operation" {
		return x
	}
	return x * l.rate(arm)
}

// evidence is what the kernel counted of a factor: of a limit its own counter, of a volume the waiting for it, of
// settings of the load all that it does more for each operation, the largest growth first.
func (l *loss) evidence(f factor) (out []record.Evidence) {
	e, _ := l.excluded(f)
	switch {
	case f.name == bySet || f.name == "image":
		out = append(l.work(), l.waits()...)
		slices.SortStableFunc(out, func(a, b record.Evidence) int { return cmp.Compare(b.Arm/b.Against, a.Arm/a.Against) })
		return out[:min(len(out), 2)]
	case e.Metric != "" && !math.IsNaN(e.Arm):
		return []record.Evidence{e}
	}
	for _, p := range pressures {
		e, grew := l.grown(p)
		if own := slices.Contains(f.causes, p.Own) || f.name == "cpuset" && p.Own == record.LossOtherWork; own && grew {
			out = append(out, e)
		}
	}
	return out
}

// waits are the probes of waiting that grew.
func (l *loss) waits() (out []record.Evidence) {
	for _, p := range pressures {
		if e, grew := l.grown(p); grew {
			out = append(out, e)
		}
	}
	return out
}

// work is what the arm does more for each operation: CPU time and flushes of the disk.
func (l *loss) work() (out []record.Evidence) {
	add := func(name string, e record.Evidence) {
		if observe.Of(name).Counts(e.Arm, e.Against) && e.Arm > 0 && e.Against >= 0 && !math.IsInf(e.Arm, 0) {
			out = append(out, e)
		}
	}
	arm, base := l.arm.Name, l.base.Name
	add(observe.CPUPerOp, record.Evidence{Metric: metric.CPUPerOp.Name, Unit: "s", Per: "operation", Arm: l.received(arm) / l.rate(arm), Against: l.received(base) / l.rate(base)})
	for _, k := range l.w.Kernel {
		if k.Metric+observe.PerOp == observe.Flushes {
			add(observe.Flushes, record.Evidence{Metric: k.Metric, Unit: k.Unit, Per: "operation", Arm: l.perSecond(k, arm) / l.rate(arm), Against: l.perSecond(k, base) / l.rate(base)})
		}
	}
	return out
}

// besideCauses are what a neighbour may take.
func besideCauses() []record.LossCause {
	return []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk, record.LossNeighbourMemory, record.LossNeighbourCaches}
}

// waited lists what the arm waited for beside its neighbour, with the evidence: each that grew by more than a
// small part of all growth. Where nothing grew it is the CPU if the arm got less of it and waited for it, else what
// no probe counted.
func (l *loss) waited() (causes []record.LossCause, evidence []record.Evidence) {
	var grown []float64
	var unknown []record.LossCause
	all := 0.0
	for _, p := range pressures {
		e, growth := l.growth(p.Name)
		switch {
		case p.Beside == "":
		case math.IsNaN(growth):
			unknown = append(unknown, p.Beside)
		case p.Counts(growth, 0):
			causes, evidence, grown = append(causes, p.Beside), append(evidence, e), append(grown, growth)
			all += growth
		}
	}
	for i, growth := range slices.Backward(grown) {
		if growth < small*all {
			causes, evidence = slices.Delete(causes, i, i+1), slices.Delete(evidence, i, i+1)
		}
	}
	if e, ok := l.deprived(); len(causes) == 0 && ok {
		return []record.LossCause{record.LossNeighbourCPU}, []record.Evidence{e}
	}
	if len(causes) == 0 {
		causes = unknown
	}
	return causes, evidence
}

// deprived is the CPU time that the arm and its baseline received, and whether the arm is shown to have received
// less and waited for a CPU for at least as long as it lost. An arm whose threads always wait for a CPU does not
// wait longer when it gets less.
func (l *loss) deprived() (record.Evidence, bool) {
	e := record.Evidence{Metric: observe.CPU, Unit: "s", Per: "second", Arm: l.received(l.arm.Name), Against: l.received(l.base.Name)}
	if l.effect.Parts == nil || !shown(l.share(l.effect.Parts.CPU)) {
		return e, false
	}
	for _, k := range l.w.Kernel {
		if k.Metric == observe.Waiting {
			return e, l.perSecond(k, l.arm.Name) >= e.Against-e.Arm
		}
	}
	return e, false
}

// beside are the causes of a loss beside a neighbour, which is the only difference of the two arms. CPU
// per operation is caches, memory bandwidth and the other thread of a core. The rest is what the arm
// waited for.
func (l *loss) beside(by record.CauseBy) []record.CauseShare {
	caches := record.CauseShare{Causes: []record.LossCause{record.LossNeighbourCaches}, By: by}
	if l.effect.Metric == metric.CPUPerOp.Name {
		return []record.CauseShare{caches}
	}
	waits := record.CauseShare{By: by}
	if waits.Causes, waits.Evidence = l.waited(); len(waits.Causes) > 1 {
		waits.Tells = mechanisms(waits.Causes, nil)
	}
	work, received := l.parts()
	if work == nil || received == nil {
		return slices.DeleteFunc([]record.CauseShare{waits}, func(c record.CauseShare) bool { return len(c.Causes) == 0 })
	}
	waits.Share, waits.By = received, record.ByParts
	caches.Share, caches.By = work, record.ByParts
	return lost(waits, caches)
}

// lost keeps the parts that are shown to have lost; where none is, those that may have stand together. One that lost
// more than the whole, because the other one gained, has it all, which is no share.
func lost(parts ...record.CauseShare) (out []record.CauseShare) {
	open := record.CauseShare{By: record.ByParts, Tells: moreTime}
	for _, c := range parts {
		switch {
		case len(c.Causes) == 0 || c.Share.Share <= small:
		case shown(c.Share):
			out = append(out, c)
		default:
			open.Causes = append(open.Causes, c.Causes...)
		}
	}
	switch {
	case len(out) == 1 && out[0].Share.Share > 1:
		out[0].Share = nil
	case len(out) == 0 && len(open.Causes) > 1:
		out = append(out, open)
	}
	return out
}

// parts are the shares of CPU per operation and of CPU received; nil where the effect has no parts.
func (l *loss) parts() (work, received *record.Share) {
	p := l.effect.Parts
	if p == nil {
		return nil, nil
	}
	return l.share(p.PerOp.Inverse()), l.share(p.CPU)
}

// environment are the causes of a loss in another environment, which is the only difference of the two
// arms. An arm that is throttled received less CPU for that reason; more CPU per operation is the
// environment's own.
func (l *loss) environment(f factor, by record.CauseBy) []record.CauseShare {
	own := record.CauseShare{Causes: f.causes, By: by}
	if len(f.causes) > 1 {
		own.Tells = layersAlone(f.level)
	}
	e, throttled := l.grown(observe.Of(observe.Throttled))
	work, received := l.parts()
	if !throttled || strings.HasPrefix(f.level, "cpu-limit") || work == nil || received == nil {
		if throttled {
			own.Evidence = []record.Evidence{e}
		}
		return []record.CauseShare{own}
	}
	limit := record.CauseShare{Causes: []record.LossCause{record.LossCPULimit}, Share: received, By: record.ByParts, Evidence: []record.Evidence{e}}
	own.Share, own.By = work, record.ByParts
	return lost(limit, own)
}

// unfound fills in what is known of a loss without a cause: what the counters exclude, and what grew.
func (l *loss) unfound(out *record.AdviceLoss) {
	for _, f := range differing(l.arm, l.base) {
		if e, no := l.excluded(f); no {
			out.Excluded = append(out.Excluded, record.ExcludedCause{Cause: f.causes[0], Evidence: e})
		}
		if f.name != byNeighbour {
			continue
		}
		for _, p := range pressures {
			if e, growth := l.growth(p.Name); p.Beside != "" && growth < p.Least {
				out.Excluded = append(out.Excluded, record.ExcludedCause{Cause: p.Beside, Evidence: e})
			}
		}
	}
	out.Grown = l.waits()
}
