package report

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// Nodes are the nodes of a run side by side.
func (in Language) Nodes(n *record.Nodes) Document {
	d := Document{in: in, title: in.nodesTitle(n)}
	d.add(section{blocks: []block{in.whichIsOdd(n)}})
	d.add(section{blocks: []block{in.nodesCaveats(n)}})
	for _, name := range nodeWorkloads(n) {
		d.add(section{title: name, about: in.nodesMetrics(n, name), blocks: []block{in.sideBySide(n, name)}})
	}
	d.add(section{title: in.text("nodes.trust"), blocks: []block{in.nodesTrust(n)}, fold: true})
	d.add(section{title: in.text("nodes.differ"), blocks: []block{in.differingFacts(n)}, fold: true})
	d.add(section{title: in.text("head.left"), blocks: []block{in.leftOut(&record.Effects{Left: n.Left})}})
	return d
}

func (in Language) nodesTitle(n *record.Nodes) sentence {
	return append(in.msg("title.name", "experiment", "tare "+n.Experiment), in.msg("title.host", "host", in.number("count.nodes", len(n.Nodes)))...)
}

// wordOf is how to speak of a metric of a workload.
func (in Language) wordOf(n *record.Nodes, name, metric string) metric {
	for _, w := range n.Workloads {
		if w.Name == name {
			return in.named(record.WorkloadResult{Values: w.Values}).metricWord(metric)
		}
	}
	return workload{in: in}.metricWord(metric)
}

func nodeWorkloads(n *record.Nodes) []string {
	return distinct(n.Arms, func(a record.NodeArm) string { return a.Workload })
}

// nodesMetrics says what the effects of a workload's arms are of.
func (in Language) nodesMetrics(n *record.Nodes, name string) string {
	metrics := distinct(n.Arms, func(a record.NodeArm) string {
		if a.Workload != name {
			return ""
		}
		return in.wordOf(n, name, a.Metric).of
	})
	return in.text("nodes.about", "metrics", in.list(slices.DeleteFunc(metrics, func(m string) bool { return m == "" })))
}

// nodeArm names an arm, with its metric where the workload is shown in several.
func (in Language) nodeArm(n *record.Nodes, a record.NodeArm) string {
	several := func(other record.NodeArm) bool { return other.Workload == a.Workload && other.Metric != a.Metric }
	if !slices.ContainsFunc(n.Arms, several) {
		return a.Arm
	}
	return in.text("nodes.arm", "arm", a.Arm, "metric", in.wordOf(n, a.Workload, a.Metric).head)
}

// whichIsOdd is the answer: the odd nodes, or that there is none.
func (in Language) whichIsOdd(n *record.Nodes) block {
	var b block
	known := false
	for _, a := range n.Arms {
		known = known || a.Known
		for _, o := range a.Odd {
			b.items = append(b.items, item{label: cell{o.Node, strong}, text: in.msg("odd.item", "where", in.oddIn(n, a, o)+in.inMargin(o.Against, n.Margin))})
		}
		if a.Differ && len(a.Odd) == 0 {
			key := messages.Key("odd.none")
			if len(a.Effects) == 2 {
				key = "odd.two"
			}
			b.items = append(b.items, item{label: cell{a.Workload, strong}, text: in.msg(key, "arm", in.nodeArm(n, a))})
		}
	}
	switch {
	case len(b.items) > 0:
	case known:
		b.items = []item{{label: cell{in.text("odd.word"), strong}, text: in.msg("odd.equal")}}
	default:
		b.items = []item{{label: cell{in.text("odd.word"), strong}, text: in.msg("odd.untold")}}
	}
	return b
}

// nodesCaveats are the nodes that are not in the answer, or only in part.
func (in Language) nodesCaveats(n *record.Nodes) block {
	var b block
	say := func(s sentence) { b.items = append(b.items, item{label: cell{"!", plain}, text: s}) }
	if k := len(n.Left); k > 0 {
		say(in.msg("nodes.left", "n", k))
	}
	for _, node := range n.Nodes {
		if word, torn := in.ended(node.Ended); torn {
			say(in.msg("nodes.ended", "node", node.Name, "how", word))
		}
		var apart arrange.Grouped[record.Said]
		for _, a := range n.Arms {
			if why := a.Apart[node.Name]; !why.IsZero() {
				apart.Add(why, in.text("check.of", "kind", in.nodeArm(n, a), "subject", a.Workload))
			}
		}
		for why, arms := range apart.All() {
			say(in.msg("nodes.apart", "node", node.Name, "arms", in.list(arms), "why", in.said(why)))
		}
	}
	return b
}

// oddIn says in what a node is odd, and how far.
func (in Language) oddIn(n *record.Nodes, a record.NodeArm, o record.OddNode) string {
	return in.text("odd.in", "arm", a.Arm, "load", a.Workload, "effect", quantity.Interval(&o.Against), "metric", in.wordOf(n, a.Workload, a.Metric).of)
}

func isOdd(a record.NodeArm, node string) bool {
	return slices.ContainsFunc(a.Odd, func(o record.OddNode) bool { return o.Node == node })
}

// welch is the test of whether the nodes differ.
func (in Language) welch(a record.NodeArm) string {
	return in.text("odd.test", "between", fmt.Sprintf("%.0f", a.DF1), "within", degrees(a.DF2), "f", fmt.Sprintf("%.2f", a.F), "p", fmt.Sprintf("%.2g", a.P))
}

// degrees are degrees of freedom, which need not be whole. With so many the test is that of
// a known variance.
func degrees(df float64) string {
	const many = 1e4
	if df >= many {
		return "∞"
	}
	return fmt.Sprintf("%.1f", df)
}

// inMargin says when a node is odd by less than matters.
func (in Language) inMargin(r record.Ratio, margin float64) string {
	if r.Within(margin) {
		return in.text("odd.margin", "margin", quantity.Size(margin))
	}
	return ""
}

// sideBySide is a table of the effects of one workload.
func (in Language) sideBySide(n *record.Nodes, workload string) block {
	t := table{panel: 1, columns: []column{{head: in.text("head.node"), flex: 9}, {head: in.text("head.baseline"), align: right}}}
	var arms []record.NodeArm
	var notes []sentence
	for _, a := range n.Arms {
		if a.Workload != workload {
			continue
		}
		arms = append(arms, a)
		t.columns = append(t.columns, column{head: in.nodeArm(n, a), align: interval})
		if a.Known {
			key := messages.Key("nodes.alike.note")
			if a.Differ {
				key = "nodes.differ.note"
			}
			notes = append(notes, in.msg(key, "arm", in.nodeArm(n, a), "test", in.welch(a)))
		}
	}
	for _, node := range n.Nodes {
		r := row{cell{node.Name, strong}, in.baselineCell(n, node, arms)}
		for _, a := range arms {
			t := plain
			if isOdd(a, node.Name) {
				t = bad
			}
			r = append(r, fractional(a.Effects[node.Name], t))
		}
		t.rows = append(t.rows, r)
	}
	return block{tables: []table{t}, notes: notes}
}

func (in Language) baselineCell(n *record.Nodes, node record.NodeResult, arms []record.NodeArm) cell {
	if x, ok := node.Baselines[arms[0].Workload].Get(); ok {
		return cell{in.wordOf(n, arms[0].Workload, arms[0].Metric).show(x), plain}
	}
	return cell{none, faint}
}
