package cause

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// factor is one thing in which an arm differs from its baseline.
type factor struct {
	name  string
	level string // of the arm that lost
	// causes are what the factor may be; more than one cannot be told apart by the factor alone.
	causes []record.LossCause
}

// causesOf are the causes of the factors of record.Arm.Chosen but the environment and the network. A small
// weight loses by what other work gets instead.
var causesOf = map[string]record.LossCause{
	"volume": record.LossVolume, "seccomp": record.LossSeccomp, "capabilities": record.LossSeccomp, "apparmor": record.LossSeccomp,
	"selinux": record.LossSeccomp, "image": record.LossImage, "cpus": record.LossCPULimit, "burst": record.LossCPULimit,
	"memory": record.LossMemoryLimit, "cpuset": record.LossCPUSet, "weight": record.LossOtherWork,
}

// The factors that need a closer look.
const (
	byNeighbour   = "neighbour"
	byEnvironment = "environment"
	byNetwork     = "network"
	bySet         = "set"
)

// networks are the words for a network, each with what it adds to the one before.
var networks = []struct {
	word  string
	cause record.LossCause
}{{"host", ""}, {"bridge", record.LossVeth}, {"published", record.LossNAT}}

// networkCauses are what one network has and another one has not. The port is published where the word is
// not one of the others: by the engine or by default.
func networkCauses(arm, base string) (out []record.LossCause) {
	rank := func(word string) int {
		for i, n := range networks {
			if n.word == word {
				return i
			}
		}
		return len(networks) - 1
	}
	from, to := rank(base), rank(arm)
	if from >= to { // both have all, or the arm has less
		from = 0
	}
	for _, n := range networks[from+1 : max(to, 1)+1] {
		out = append(out, n.cause)
	}
	return out
}

// differing lists the factors in which an arm differs from another one.
func differing(arm, base record.Arm) (out []factor) {
	if arm.Neighbour != base.Neighbour && arm.Neighbour != "" {
		out = append(out, factor{byNeighbour, arm.Neighbour, besideCauses()})
	}
	was := base.Chosen()
	for i, f := range arm.Chosen() {
		switch {
		case f.Got == was[i].Got:
		case f.Name == byEnvironment:
			out = append(out, factor{f.Name, f.Got, environmentCauses(arm)})
		case f.Name == byNetwork:
			out = append(out, factor{f.Name, f.Got, networkCauses(f.Got, was[i].Got)})
		default:
			out = append(out, factor{f.Name, f.Got, []record.LossCause{causesOf[f.Name]}})
		}
	}
	if !maps.Equal(arm.Set, base.Set) {
		out = append(out, factor{bySet, "", []record.LossCause{record.LossServer}})
	}
	return out
}

// environmentCauses are what an environment may lose by.
func environmentCauses(a record.Arm) (out []record.LossCause) {
	name, _, _ := strings.Cut(a.Environment, ":")
	if a.Pod {
		return []record.LossCause{record.LossPod}
	}
	if name == "cpu-limit" {
		return []record.LossCause{record.LossCPULimit}
	}
	for _, l := range layers {
		out = append(out, l.cause)
		if l.environment == name {
			return out
		}
	}
	return append(out, record.LossRuntime)
}

// factors are the causes of an arm beside the ladder.
func (l *loss) factors() []record.CauseShare {
	differ := differing(l.arm, l.base)
	switch len(differ) {
	case 0:
		return nil
	case 1:
		return l.alone(differ[0])
	}
	var out []record.CauseShare
	var open []factor
	for _, f := range differ {
		if c, ok := l.byArm(f); ok {
			out = append(out, c)
		} else {
			open = append(open, f)
		}
	}
	if len(open) == 0 {
		return out
	}
	if open = l.possible(open); len(open) == 1 && len(out) == 0 {
		return byKernel(l.alone(open[0]))
	}
	left := record.CauseShare{Share: rest(out), By: record.ByRest}
	var names []string
	for _, f := range open {
		left.Causes, names = append(left.Causes, f.causes...), append(names, f.name)
	}
	if len(open) > 1 {
		left.Tells = oneAlone(names)
	}
	if left.Share.Share > small {
		out = append(out, left)
	}
	return out
}

// possible are the factors that the kernel's counters do not rule out; all where these leave none.
func (l *loss) possible(all []factor) []factor {
	open := slices.DeleteFunc(slices.Clone(all), func(f factor) bool { return l.ruledOut(f.name) })
	if len(open) == 0 {
		return all
	}
	return open
}

// byKernel are the causes of a factor beside others that the kernel's counters rule out.
func byKernel(causes []record.CauseShare) []record.CauseShare {
	for i, c := range causes {
		if c.By == record.ByDesign {
			causes[i].By = record.ByParts
		}
	}
	return causes
}

// alone are the causes of a single factor.
func (l *loss) alone(f factor) []record.CauseShare {
	switch f.name {
	case byNeighbour:
		return l.beside()
	case byEnvironment:
		return l.environment(f)
	}
	c := record.CauseShare{Causes: f.causes, Share: all(), By: record.ByDesign}
	for _, p := range pressures {
		if e, grown := l.grown(p.probe); grown {
			c.Evidence = append(c.Evidence, e)
		}
	}
	return []record.CauseShare{c}
}

// byArm is the share of a factor by an arm that differs from the baseline in that factor alone.
func (l *loss) byArm(f factor) (c record.CauseShare, ok bool) {
	for _, arm := range slices.Sorted(maps.Keys(l.w.Arm)) {
		own := differing(armOf(l.load, arm), l.base)
		x := l.w.Effect[arrange.Key{Metric: l.effect.Metric, Arm: arm}]
		if len(own) != 1 || own[0].name != f.name || own[0].level != f.level || x.Typical == nil || x.Baseline != l.base.Name {
			continue
		}
		if share := l.share(*x.Typical); share != nil {
			return record.CauseShare{Causes: f.causes, Share: share, By: record.ByArm}, true
		}
	}
	return c, false
}
