package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// OfNode is the result of one node.
type OfNode struct {
	Name, Dir string
	Effects   *record.Effects
}

// Nodes puts the effects of several nodes side by side, and names those that do
// not belong to the others. Only the primary metric of each workload is judged,
// all its arms together at 5 % (Bonferroni's over the arms: the nodes do not
// share a control, but a node's arms do).
func Nodes(nodes []OfNode) *record.Nodes {
	out := &record.Nodes{Schema: record.NodesSchema, Nodes: []record.NodeResult{}, Arms: []record.NodeArm{}}
	for _, n := range nodes {
		out.Experiment, out.Margin = n.Effects.Experiment, n.Effects.Margin
		out.Nodes = append(out.Nodes, record.NodeResult{
			Name: n.Name, Dir: n.Dir, Ended: n.Effects.Ended, Host: n.Effects.Host, Baselines: baselines(n.Effects),
		})
	}
	asked := primaryEffects(nodes)
	for _, a := range asked {
		out.Arms = append(out.Arms, a.judge(nodes, stat.Groups(0).Alpha/float64(len(asked))))
	}
	return out
}

// baselines is the level of the baseline of each workload.
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

// nodeArm is an arm that at least one node has an effect of.
type nodeArm struct{ workload, metric, arm, baseline string }

func primaryEffects(nodes []OfNode) []nodeArm {
	var all []nodeArm
	seen := map[nodeArm]bool{}
	for _, n := range nodes {
		for _, x := range n.Effects.Effects {
			a := nodeArm{x.Workload, x.Metric, x.Arm, x.Baseline}
			if !x.Exploratory && !seen[a] {
				seen[a] = true
				all = append(all, a)
			}
		}
	}
	return all
}

// judge compares the nodes in one arm, at level alpha.
func (a nodeArm) judge(nodes []OfNode, alpha float64) record.NodeArm {
	out := record.NodeArm{Workload: a.workload, Metric: a.metric, Arm: a.arm, Baseline: a.baseline, Effects: map[string]*record.Ratio{}, P: 1}
	estimates := make([]stat.Estimate, len(nodes))
	for i, n := range nodes {
		estimates[i] = stat.Estimate{Mean: math.NaN(), SE: math.NaN()}
		for _, x := range n.Effects.Effects {
			if (nodeArm{x.Workload, x.Metric, x.Arm, x.Baseline}) != a || x.Typical == nil {
				continue
			}
			out.Effects[n.Name] = x.Typical
			if x.Verdict != record.Invalid {
				estimates[i] = estimate(x)
			}
		}
	}
	s := stat.Differ(estimates)
	if math.IsNaN(s.P) {
		return out
	}
	out.Known, out.Differ = true, s.P <= alpha
	out.F, out.DF1, out.DF2, out.P = s.F, s.DF1, math.Min(s.DF2, mostDF), s.P
	for _, o := range stat.Outliers(estimates, alpha) {
		// For all places together, as the p-value is.
		r := shown(o.From, o.From.At(1-alpha/float64(len(nodes))))
		if r != nil {
			out.Odd = append(out.Odd, record.OddNode{Node: nodes[o.Index].Name, Against: *r, P: math.Min(1, o.P*stat.Groups(0).Alpha/alpha)})
		}
	}
	return out
}
