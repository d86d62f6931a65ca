package cause

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// layers are the causes of the layers that tare makes, by environment, bottom up: an environment has the
// causes of all rows up to its own.
var layers = []struct {
	environment string
	cause       record.LossCause
}{
	{"cgroup", record.LossGroups},
	{"namespaces", record.LossNamespaces},
	{"rootfs", record.LossOverlay},
	{"security", record.LossSeccomp},
	{"network", record.LossVeth},
	{"nat", record.LossNAT},
}

// layerOf is the cause that a layer adds; a layer that tare does not make itself is a container's runtime.
func layerOf(environment string) record.LossCause {
	for _, l := range layers {
		if l.environment == environment {
			return l.cause
		}
	}
	return record.LossRuntime
}

// steps are the causes of the top of a ladder: each layer that is shown to lose against the one below,
// and the rest. Empty where the arm is not on a ladder with several layers.
func (l *loss) steps() (out []record.CauseShare) {
	top := slices.Index(l.w.Ladder, l.arm.Name)
	if top < 2 || l.base.Name != l.w.Ladder[0] {
		return nil
	}
	var open []record.LossCause
	for _, arm := range l.w.Ladder[1 : top+1] {
		step, ok := l.w.Step[arrange.Key{Metric: l.effect.Metric, Arm: arm}]
		if !ok {
			step, ok = l.w.Remainder[arrange.Key{Metric: l.effect.Metric, Arm: arm}]
		}
		if ok && arrange.Moved(step) && step.Verdict.Worse() {
			if share := l.share(*step.Typical); share != nil {
				out = append(out, record.CauseShare{Causes: []record.LossCause{layerOf(arm)}, Share: share, By: record.ByStep})
				continue
			}
		}
		open = append(open, layerOf(arm))
	}
	if left := rest(out); len(open) > 0 && (left == nil || shown(left)) {
		out = append(out, record.CauseShare{Causes: open, Share: left, By: record.ByRest, Tells: moreTime})
	}
	return out
}
