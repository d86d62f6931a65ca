package analysis

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/observe"
	"github.com/tarelab/tare/record"
)

// lossRules explain the loss without isolation.
var lossRules = append([]rule{{ruleWaiting, []string{observe.Waiting, observe.NeighbourCPU}, func(rc *ruleContext) record.Said {
	w, n := rc.deltas[observe.Waiting], rc.deltas[observe.NeighbourCPU]
	if !rc.slower || !w.grows() {
		return record.Said{}
	}
	return saysWaiting(w, n)
}}}, observed(func(o observe.Observation) observe.Sentence { return o.Alone })...)

// mechanismRules explain a mechanism that makes the load slower, or changes nothing.
var mechanismRules = append([]rule{
	{rulePinning, []string{observe.Waiting, observe.NeighbourCPU}, func(rc *ruleContext) record.Said {
		w, n := rc.deltas[observe.Waiting], rc.deltas[observe.NeighbourCPU]
		if !rc.has("cpuset.pinned") || !rc.slower || !w.more || n.more {
			return record.Said{}
		}
		return saysPinned(w, n)
	}},
	{ruleWaitsLonger, []string{observe.Waiting, observe.NeighbourCPU}, func(rc *ruleContext) record.Said {
		w, n := rc.deltas[observe.Waiting], rc.deltas[observe.NeighbourCPU]
		if rc.has("cpuset.pinned") || !rc.slower || !w.grows() {
			return record.Said{}
		}
		return saysWaitsLonger(w, n)
	}},
	{rulePriority, []string{observe.Waiting, observe.NeighbourCPU}, func(rc *ruleContext) record.Said {
		w, n := rc.deltas[observe.Waiting], rc.deltas[observe.NeighbourCPU]
		if !rc.only("nice", "sched.idle", "sched.batch") || !besideGroups(rc.group.arm(rc.arm)) || rc.faster || rc.slower || w.more || w.less {
			return record.Said{}
		}
		return saysPriority(w, n)
	}},
	{ruleFewerCPUs, []string{observe.Waiting, observe.NeighbourCPU}, func(rc *ruleContext) record.Said {
		w, n := rc.deltas[observe.Waiting], rc.deltas[observe.NeighbourCPU]
		if !rc.has("cpuset.split") || !rc.slower || !w.grows() {
			return record.Said{}
		}
		return saysFewerCPUs(w, n)
	}},
}, observed(func(o observe.Observation) observe.Sentence { return o.Isolated })...)

// remainingRules explain the loss that remains with a mechanism.
var remainingRules = []rule{
	{observe.Of(observe.CPUPerOp).Alone.Rule, []string{observe.WaitPerOp, observe.CPUPerOp}, func(rc *ruleContext) record.Said {
		if rc.deltas[observe.WaitPerOp].more { // the load waits, too
			return record.Said{}
		}
		return rc.observed(observe.Of(observe.CPUPerOp), observe.Of(observe.CPUPerOp).Alone)
	}},
}

// observed are the rules of the table's rows that have a sentence.
func observed(sentence func(observe.Observation) observe.Sentence) (all []rule) {
	for _, o := range observe.Table(func(o observe.Observation) bool { return !sentence(o).None() }) {
		all = append(all, rule{sentence(o).Rule, []string{o.Name}, func(rc *ruleContext) record.Said { return rc.observed(o, sentence(o)) }})
	}
	return all
}

// observed says an observation that is shown to be more by so much that it counts, in an arm that is slower.
func (rc *ruleContext) observed(o observe.Observation, s observe.Sentence) record.Said {
	x := rc.deltas[o.Name]
	if !rc.slower || !x.more || !o.Counts(x.arm, x.against) {
		return record.Said{}
	}
	return s.Say(x.arm, x.against)
}

// besideGroups says whether arm and neighbour compete as two cpu groups: the arm is a container or a
// service. In older records the host is a process in the root group.
func besideGroups(a record.Arm) bool {
	return a.RunsAs == record.AsService || a.RunsAs == "" && a.Environment != "host"
}

// grows reports whether the arm is shown to wait so much longer that it counts.
func (x delta) grows() bool { return x.more && x.arm-x.against >= observe.ATwentieth }

// has reports whether a mechanism is among those of the arm, at any level.
func (rc *ruleContext) has(name string) bool { return slices.Contains(rc.names(), name) }

// only reports whether the arm has mechanisms, and all of them are among names.
func (rc *ruleContext) only(names ...string) bool {
	own := rc.names()
	return len(own) > 0 && !slices.ContainsFunc(own, func(n string) bool { return !slices.Contains(names, n) })
}

func (rc *ruleContext) names() []string {
	var all []string
	for _, text := range rc.group.arm(rc.arm).Isolation {
		name, _, _ := strings.Cut(text, "=")
		all = append(all, name)
	}
	return all
}
