package cause

import (
	"math"
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

// ruledOut reports whether the kernel counted nothing of a limit in the windows of the arm. A limit that holds
// nothing back has no part of the loss.
func (l *loss) ruledOut(factor string) bool {
	for _, k := range l.w.Kernel {
		if limits[factor] == k.Metric {
			return l.perSecond(k, l.arm.Name) == 0
		}
	}
	return false
}

// grown returns a probe value of the arm and of its baseline, per second, and whether it grew.
func (l *loss) grown(probe string) (record.Evidence, bool) {
	for _, k := range l.w.Kernel {
		if k.Metric != probe {
			continue
		}
		arm, base := l.perSecond(k, l.arm.Name), l.perSecond(k, l.base.Name)
		return record.Evidence{Metric: probe, Unit: k.Unit, Per: "second", Arm: arm, Against: base}, arm-base >= aTwentieth
	}
	return record.Evidence{}, false
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
	rate, ok := l.w.Arm[arm].Values[metric.Throughput.Name].Get()
	if !ok {
		return math.NaN()
	}
	return x * rate
}

// besideCauses are what a neighbour may take.
func besideCauses() []record.LossCause {
	return []record.LossCause{record.LossNeighbourCPU, record.LossNeighbourDisk, record.LossNeighbourMemory, record.LossNeighbourCaches}
}

// waited lists what the arm waited for beside its neighbour, with the evidence.
func (l *loss) waited() (causes []record.LossCause, evidence []record.Evidence) {
	for _, p := range pressures {
		if e, grown := l.grown(p.probe); grown && p.neighbour != "" {
			causes, evidence = append(causes, p.neighbour), append(evidence, e)
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
