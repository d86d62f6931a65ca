package cause

import (
	"cmp"
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

// networkCauses are the layers that one network has and another one lacks. Every word but host and bridge is a network
// whose port is published.
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
	if len(changed(arm, base)) > 0 {
		out = append(out, factor{bySet, strings.Join(changed(arm, base), ", "), []record.LossCause{record.LossServer}})
	}
	return out
}

// defaultLevel is the level of what only the baseline sets.
const defaultLevel = "default"

// changed are the parameters of the load that an arm has otherwise than another one, each "name=value".
func changed(arm, base record.Arm) (out []string) {
	both := maps.Clone(base.Set)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, arm.Set)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		value, has := arm.Set[name]
		if was, had := base.Set[name]; has != had || value != was {
			if !has {
				value = defaultLevel
			}
			out = append(out, name+"="+value)
		}
	}
	return out
}

// differs are the factors in words.
func (l *loss) differs() (out []string) {
	for _, f := range differing(l.arm, l.base) {
		if f.name == bySet {
			out = append(out, changed(l.arm, l.base)...)
		} else {
			out = append(out, f.name+"="+cmp.Or(f.level, defaultLevel))
		}
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

// factors are the causes of an arm beside the ladder, among what differs and no counter excludes. One that is left
// alone has the whole loss, and no share: that would be its definition.
func (l *loss) factors() (out []record.CauseShare) {
	all := differing(l.arm, l.base)
	possible := l.possible(all)
	if len(possible) == 1 {
		by := record.ByDesign
		if len(all) > 1 {
			by = record.ByParts
		}
		return l.alone(possible[0], by)
	}
	var open []factor
	for _, f := range possible {
		share, ok := l.byArm(f)
		switch {
		case ok && shown(share):
			out = append(out, record.CauseShare{Causes: f.causes, Share: share, By: record.ByArm})
		case !ok || !share.Below(small):
			open = append(open, f)
		}
	}
	if len(open) == 0 {
		return out
	}
	left := record.CauseShare{Share: rest(out), By: record.ByRest}
	var names []string
	for _, f := range open {
		left.Causes, names = append(left.Causes, f.causes...), append(names, f.name)
	}
	if len(open) > 1 {
		left.Tells = oneAlone(names)
	}
	if left.Share == nil || shown(left.Share) {
		out = append(out, left)
	}
	return out
}

// possible are the factors that no counter excludes, a neighbour's with the causes that none does.
func (l *loss) possible(all []factor) (out []factor) {
	for _, f := range all {
		if f.name == byNeighbour {
			f.causes, _ = l.waited()
			if work, _ := l.parts(); work == nil || !work.Below(small) {
				f.causes = append(slices.Clone(f.causes), record.LossNeighbourCaches)
			}
		}
		if _, no := l.excluded(f); !no && len(f.causes) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// alone are the causes of a single factor.
func (l *loss) alone(f factor, by record.CauseBy) []record.CauseShare {
	switch f.name {
	case byNeighbour:
		return l.beside(by)
	case byEnvironment:
		return l.environment(f, by)
	}
	return []record.CauseShare{{Causes: f.causes, By: by, Evidence: l.evidence(f)}}
}

// byArm is the share of a factor by an arm that differs from the baseline in that factor alone.
func (l *loss) byArm(f factor) (*record.Share, bool) {
	for _, arm := range slices.Sorted(maps.Keys(l.w.Arm)) {
		own := differing(armOf(l.load, arm), l.base)
		x := l.w.Effect[arrange.Key{Metric: l.effect.Metric, Arm: arm}]
		if len(own) != 1 || own[0].name != f.name || own[0].level != f.level || x.Typical == nil || x.Baseline != l.base.Name {
			continue
		}
		if share := l.share(*x.Typical); share != nil {
			return share, true
		}
	}
	return nil, false
}
