package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// OfNode is the result of one node.
type OfNode struct {
	Name, Dir string
	Manifest  record.Manifest
	Effects   *record.Effects
}

// Nodes puts the effects of several nodes side by side, and names the nodes that differ from
// the others. Only the primary metric of each workload is judged, all its arms together at
// 5 % (Bonferroni over the arms: the nodes do not share a control, but a node's arms do).
func Nodes(nodes []OfNode) *record.Nodes {
	out := &record.Nodes{Schema: record.NodesSchema, Nodes: []record.NodeResult{}, Arms: []record.NodeArm{}}
	for _, n := range nodes {
		out.Experiment, out.Margin = n.Effects.Experiment, n.Effects.Margin
		out.Nodes = append(out.Nodes, record.NodeResult{
			Name: n.Name, Dir: n.Dir, Started: n.Effects.Started, Ended: n.Effects.Ended, Host: n.Effects.Host,
			Baselines: baselines(n.Effects), Dropped: n.Effects.Dropped, Trust: nodeTrust(n.Effects),
		})
	}
	out.Workloads = nodeWorkloads(nodes)
	asked := nodeArms(nodes, false)
	alpha := bothStopped
	for _, a := range asked {
		out.Arms = append(out.Arms, a.judge(nodes, alpha/float64(len(asked))))
	}
	for _, a := range nodeArms(nodes, true) {
		side, _ := a.beside(nodes)
		out.Exploratory = append(out.Exploratory, side)
	}
	out.Facts = nodeFacts(nodes)
	return out
}

// baselines returns the level of the baseline of each workload.
func baselines(e *record.Effects) map[string]record.Value {
	levels := map[string]record.Value{}
	for _, w := range e.Workloads {
		for _, a := range e.Arms {
			if a.Workload == w.Name && a.Arm == w.Baseline {
				levels[w.Name] = a.Values[w.Primary]
			}
		}
	}
	return levels
}

func nodeWorkloads(nodes []OfNode) []record.NodeWorkload {
	all := []record.NodeWorkload{}
	for _, n := range nodes {
		for _, w := range n.Effects.Workloads {
			if !slices.ContainsFunc(all, func(x record.NodeWorkload) bool { return x.Name == w.Name }) {
				all = append(all, record.NodeWorkload{Name: w.Name, Title: w.Title, Primary: w.Primary, Values: w.Values})
			}
		}
	}
	return all
}

// nodeArm is an arm in one metric that has an effect on at least one node.
type nodeArm struct{ workload, metric, arm, baseline string }

func nodeArmOf(x record.Effect) nodeArm { return nodeArm{x.Workload, x.Metric, x.Arm, x.Baseline} }

// nodeArms returns the arms with their primary metric, or with their exploratory metrics.
func nodeArms(nodes []OfNode, exploratory bool) []nodeArm {
	var all []nodeArm
	seen := map[nodeArm]bool{}
	for _, n := range nodes {
		for _, x := range n.Effects.Effects {
			if a := nodeArmOf(x); x.Exploratory == exploratory && !seen[a] {
				seen[a] = true
				all = append(all, a)
			}
		}
	}
	return all
}

// beside puts the nodes side by side in one arm. The estimates of nodes that cannot be
// compared are unknown; Apart has the reasons.
func (a nodeArm) beside(nodes []OfNode) (record.NodeArm, []stat.Estimate) {
	out := record.NodeArm{Workload: a.workload, Metric: a.metric, Arm: a.arm, Baseline: a.baseline,
		Effects: map[string]*record.Ratio{}, Apart: map[string]record.Said{}, P: 1}
	estimates := make([]stat.Estimate, len(nodes))
	for i, n := range nodes {
		estimates[i] = stat.Estimate{Mean: math.NaN(), SE: math.NaN()}
		at := slices.IndexFunc(n.Effects.Effects, func(x record.Effect) bool { return nodeArmOf(x) == a })
		if at < 0 {
			out.Apart[n.Name] = noSuchArm(leftFor(n.Effects, a))
			continue
		}
		x := n.Effects.Effects[at]
		if x.Typical != nil {
			out.Effects[n.Name] = x.Typical
		}
		switch {
		case x.Typical == nil:
			out.Apart[n.Name] = cmp.Or(x.Reason, noInterval)
		case x.Verdict == record.Invalid:
			out.Apart[n.Name] = invalidBecause(x.Reason)
		default:
			if estimates[i] = estimateOf(x); !estimates[i].Known() {
				out.Apart[n.Name] = errorUnknown
			}
		}
	}
	return out, estimates
}

// leftFor is the reason why an arm was skipped on a node; nothing where it was not.
func leftFor(e *record.Effects, a nodeArm) record.Said {
	for _, l := range e.Left {
		if l.Arm == a.arm && (l.Workload == "" || l.Workload == a.workload) {
			return l.Reason
		}
	}
	return record.Said{}
}

// judge compares the nodes in one arm, at level alpha.
func (a nodeArm) judge(nodes []OfNode, alpha float64) record.NodeArm {
	out, estimates := a.beside(nodes)
	s := stat.Differ(estimates)
	if math.IsNaN(s.P) {
		return out
	}
	out.Known, out.Differ = true, s.P <= alpha
	out.F, out.DF1, out.DF2, out.P = s.F, s.DF1, math.Min(s.DF2, mostDF), s.P
	odd := stat.Outliers(estimates, alpha)
	for _, o := range odd {
		// At the level of all nodes together, as the p-value.
		r := shown(o.From, o.From.At(1-alpha/float64(len(nodes))))
		if r != nil {
			out.Odd = append(out.Odd, record.OddNode{Node: nodes[o.Index].Name, Against: *r, P: math.Min(1, o.P*bothStopped/alpha)})
		}
	}
	compareWithOthers(&out, nodes, estimates, odd, alpha)
	return out
}

// compareWithOthers adds, for each node, the mean of the others and the node's difference from
// it. Odd nodes are compared in the order in which they were found, the farthest first, each
// without those before it; the other nodes are compared without any odd one.
func compareWithOthers(out *record.NodeArm, nodes []OfNode, estimates []stat.Estimate, odd []stat.Outlier, alpha float64) {
	out.Others, out.Against = map[string]*record.Ratio{}, map[string]*record.Ratio{}
	rest := slices.Clone(estimates)
	note := func(i int) {
		others := stat.LeaveOneOutMean(rest, i)
		from := stat.Difference(rest[i], others)
		if r := shown(others, others.At(1-bothStopped)); r != nil {
			out.Others[nodes[i].Name] = r
		}
		if r := shown(from, from.At(1-alpha/float64(len(nodes)))); r != nil {
			out.Against[nodes[i].Name] = r
		}
	}
	for _, o := range odd {
		note(o.Index)
		rest[o.Index] = stat.Estimate{Mean: math.NaN(), SE: math.NaN()}
	}
	for i, e := range rest {
		if e.Known() {
			note(i)
		}
	}
}

// nodeTrust returns the quality of the data of each workload on one node.
func nodeTrust(e *record.Effects) []record.NodeTrust {
	var all []record.NodeTrust
	for _, w := range e.Workloads {
		var untold, held arrange.Ordered
		var failed []record.Said
		t := record.NodeTrust{Workload: w.Name, Blocks: w.Blocks, Generations: w.Generations, NoiseFloor: w.NoiseFloor}
		for _, x := range e.Twin {
			if x.Workload == w.Name && x.Metric == w.Primary {
				t.Twin = x.Typical
				t.TwinDiffers = x.Verdict.Differs()
			}
		}
		for _, c := range w.Checks {
			switch {
			case !c.Known:
				untold.Add(c.Kind)
			case !c.OK:
				if name := checkOf(c); !slices.Contains(failed, name) {
					failed = append(failed, name)
				}
			}
		}
		for _, c := range w.Checks {
			if c.Known && c.OK && !slices.Contains(untold, c.Kind) && !slices.Contains(failed, checkOf(c)) {
				held.Add(c.Kind)
			}
		}
		t.Untold, t.Failed, t.Held = untold, failed, held
		all = append(all, t)
	}
	return all
}
