package cause

import (
	"math"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// pressure is a probe whose growth over the baseline shows what an arm waited for.
type pressure struct {
	probe string
	// neighbour is the cause beside a neighbour, own the cause of an arm by itself; empty: the probe
	// does not show one.
	neighbour, own record.LossCause
}

var pressures = []pressure{
	{"cpu.wait", record.LossNeighbourCPU, record.LossOtherWork},
	{"cpu.throttled", "", record.LossCPULimit},
	{"pressure.io.some", record.LossNeighbourDisk, record.LossVolume},
	{"pressure.memory.some", record.LossNeighbourMemory, record.LossMemoryLimit},
}

// aTwentieth of a second per second is the growth from which a probe counts.
const aTwentieth = 0.05

// limits are the counters that rise whenever a limit holds an arm back.
var limits = map[string]string{"cpus": "cpu.throttled", "burst": "cpu.throttled", "memory": "memory.limit_hits"}

// ruledOut reports whether the kernel counted nothing, or too little time, of a limit in the windows of the arm.
// A limit that holds nothing back has no part of the loss.
func (l *loss) ruledOut(factor string) bool {
	for _, k := range l.w.Kernel {
		if limits[factor] != k.Metric {
			continue
		}
		held := l.perSecond(k, l.arm.Name)
		return held == 0 || k.Unit == "s" && held < small*math.Abs(l.log())*l.received()
	}
	return false
}

// received are the CPU seconds per second of the arm; NaN if they are unknown.
func (l *loss) received() float64 {
	perCPU, ok := l.w.Arm[l.arm.Name].Values[metric.Efficiency.Name].Get()
	if !ok {
		return math.NaN()
	}
	return l.rate(l.arm.Name) / perCPU
}

// grown returns a probe value of the arm and of its baseline, and whether it grew.
func (l *loss) grown(probe string) (record.Evidence, bool) {
	e, growth := l.growth(probe)
	return e, growth >= aTwentieth
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

// besideCauses are what a neighbour may take.
func besideCauses() []record.LossCause {
	return []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk, record.LossNeighbourMemory, record.LossNeighbourCaches}
}

// waited lists what the arm waited for beside its neighbour, with the evidence: each that grew by more than a
// small part of all growth.
func (l *loss) waited() (causes []record.LossCause, evidence []record.Evidence) {
	var grown []float64
	all := 0.0
	for _, p := range pressures {
		if e, growth := l.growth(p.probe); growth >= aTwentieth && p.neighbour != "" {
			causes, evidence, grown = append(causes, p.neighbour), append(evidence, e), append(grown, growth)
			all += growth
		}
	}
	for i, growth := range slices.Backward(grown) {
		if growth < small*all {
			causes, evidence = slices.Delete(causes, i, i+1), slices.Delete(evidence, i, i+1)
		}
	}
	return causes, evidence
}

// beside are the causes of a loss beside a neighbour, which is the only difference of the two arms. CPU
// per operation is caches, memory bandwidth and the other thread of a core. The rest is what the arm
// waited for.
func (l *loss) beside() []record.CauseShare {
	if l.effect.Metric == metric.Efficiency.Name {
		return []record.CauseShare{{Causes: []record.LossCause{record.LossNeighbourCaches}, Share: all(), By: record.ByDesign}}
	}
	causes, evidence := l.waited()
	waits := record.CauseShare{Causes: causes, Evidence: evidence, Share: all(), By: record.ByDesign}
	if len(causes) == 0 {
		waits.Causes = besideCauses()[:3]
	}
	if len(waits.Causes) > 1 {
		waits.Tells = mechanisms(waits.Causes)
	}
	work, received := l.parts()
	if work == nil || received == nil {
		return []record.CauseShare{waits}
	}
	waits.Share, waits.By = received, record.ByParts
	caches := record.CauseShare{Causes: []record.LossCause{record.LossNeighbourCaches}, Share: work, By: record.ByParts}
	return lost(waits, caches)
}

// lost keeps the parts that lost. Where only one did, because the other gained or hardly changed, it has the
// whole loss: the arms differ in nothing else.
func lost(parts ...record.CauseShare) (out []record.CauseShare) {
	for _, c := range parts {
		if c.Share.Share > small {
			out = append(out, c)
		}
	}
	if len(out) == 1 {
		out[0].Share, out[0].By = all(), record.ByDesign
	}
	return out
}

// parts are the shares of CPU per operation and of CPU received; nil where the effect has no parts.
func (l *loss) parts() (work, received *record.Share) {
	p := l.effect.Parts
	if p == nil {
		return nil, nil
	}
	return l.share(p.Efficiency), l.share(p.CPU)
}

// environment are the causes of a loss in another environment, which is the only difference of the two
// arms. An arm that is throttled received less CPU for that reason; more CPU per operation is the
// environment's own.
func (l *loss) environment(f factor) []record.CauseShare {
	own := record.CauseShare{Causes: f.causes, Share: all(), By: record.ByDesign}
	if len(f.causes) > 1 {
		own.Tells = layersAlone(f.level)
	}
	e, throttled := l.grown("cpu.throttled")
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
