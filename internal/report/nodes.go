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
func Nodes(n *record.Nodes) Document {
	d := Document{title: nodesTitle(n)}
	d.add(section{blocks: []block{whichIsOdd(n)}})
	d.add(section{blocks: []block{nodesCaveats(n)}})
	for _, name := range nodeWorkloads(n) {
		d.add(section{title: name, about: nodesMetrics(n, name), blocks: []block{sideBySide(n, name)}})
	}
	d.add(section{title: text("nodes.trust"), blocks: []block{nodesTrust(n)}, fold: true})
	d.add(section{title: text("nodes.differ"), blocks: []block{differingFacts(n)}, fold: true})
	d.add(section{title: text("head.left"), blocks: []block{leftOut(&record.Effects{Left: n.Left})}})
	return d
}

func nodesTitle(n *record.Nodes) sentence {
	return joined("", msg("title.name", "experiment", "tare "+n.Experiment), msg("title.host", "host", number("count.nodes", len(n.Nodes))))
}

// wordOf is how to speak of a metric of a workload.
func wordOf(n *record.Nodes, name, metric string) metric {
	for _, w := range n.Workloads {
		if w.Name == name {
			return named(record.WorkloadResult{Values: w.Values}).metricWord(metric)
		}
	}
	return workload{}.metricWord(metric)
}

func nodeWorkloads(n *record.Nodes) []string {
	return distinct(n.Arms, func(a record.NodeArm) string { return a.Workload })
}

// nodesMetrics says what the effects of a workload's arms are of.
func nodesMetrics(n *record.Nodes, name string) string {
	metrics := distinct(n.Arms, func(a record.NodeArm) string {
		if a.Workload != name {
			return ""
		}
		return wordOf(n, name, a.Metric).of
	})
	return text("nodes.about", "metrics", list(slices.DeleteFunc(metrics, func(m string) bool { return m == "" })))
}

// nodeArm names an arm, with its metric where the workload is shown in several.
func nodeArm(n *record.Nodes, a record.NodeArm) string {
	several := func(other record.NodeArm) bool { return other.Workload == a.Workload && other.Metric != a.Metric }
	if !slices.ContainsFunc(n.Arms, several) {
		return a.Arm
	}
	return text("nodes.arm", "arm", a.Arm, "metric", wordOf(n, a.Workload, a.Metric).head)
}

// whichIsOdd is the answer: the odd nodes, or that there is none.
func whichIsOdd(n *record.Nodes) block {
	var b block
	known := false
	for _, a := range n.Arms {
		known = known || a.Known
		for _, o := range a.Odd {
			b.items = append(b.items, item{label: cell{o.Node, strong}, text: msg("odd.item", "where", oddIn(n, a, o)+inMargin(o.Against, n.Margin))})
		}
		if a.Differ && len(a.Odd) == 0 {
			key := messages.Key("odd.none")
			if len(a.Effects) == 2 {
				key = "odd.two"
			}
			b.items = append(b.items, item{label: cell{a.Workload, strong}, text: msg(key, "arm", nodeArm(n, a))})
		}
	}
	switch {
	case len(b.items) > 0:
	case known:
		b.items = []item{{label: cell{text("odd.word"), strong}, text: msg("odd.equal")}}
	default:
		b.items = []item{{label: cell{text("odd.word"), strong}, text: msg("odd.untold")}}
	}
	return b
}

// nodesCaveats are the nodes that are not in the answer, or only in part.
func nodesCaveats(n *record.Nodes) block {
	var b block
	say := func(s sentence) { b.items = append(b.items, item{label: cell{"!", plain}, text: s}) }
	if k := len(n.Left); k > 0 {
		say(msg("nodes.left", "n", k))
	}
	for _, node := range n.Nodes {
		if word, torn := ended(node.Ended); torn {
			say(msg("nodes.ended", "node", node.Name, "how", word))
		}
		var apart arrange.Grouped[string]
		for _, a := range n.Arms {
			if why := a.Apart[node.Name]; why != "" {
				apart.Add(why, text("check.of", "kind", nodeArm(n, a), "subject", a.Workload))
			}
		}
		for why, arms := range apart.All() {
			say(msg("nodes.apart", "node", node.Name, "arms", list(arms), "why", why))
		}
	}
	return b
}

// oddIn says in what a node is odd, and how far.
func oddIn(n *record.Nodes, a record.NodeArm, o record.OddNode) string {
	return text("odd.in", "arm", a.Arm, "load", a.Workload, "effect", quantity.Interval(&o.Against), "metric", wordOf(n, a.Workload, a.Metric).of)
}

func isOdd(a record.NodeArm, node string) bool {
	return slices.ContainsFunc(a.Odd, func(o record.OddNode) bool { return o.Node == node })
}

// welch is the test of whether the nodes differ.
func welch(a record.NodeArm) string {
	return text("odd.test", "between", fmt.Sprintf("%.0f", a.DF1), "within", degrees(a.DF2), "f", fmt.Sprintf("%.2f", a.F), "p", fmt.Sprintf("%.2g", a.P))
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
func inMargin(r record.Ratio, margin float64) string {
	if r.Low > 1/(1+margin) && r.High < 1+margin {
		return text("odd.margin", "margin", quantity.Size(margin))
	}
	return ""
}

// sideBySide is a table of the effects of one workload.
func sideBySide(n *record.Nodes, workload string) block {
	t := table{panel: 1, columns: []column{{head: text("head.node"), flex: 9}, {head: text("head.baseline"), align: right}}}
	var arms []record.NodeArm
	var notes []sentence
	for _, a := range n.Arms {
		if a.Workload != workload {
			continue
		}
		arms = append(arms, a)
		t.columns = append(t.columns, column{head: nodeArm(n, a), align: interval})
		if a.Known {
			key := messages.Key("nodes.alike.note")
			if a.Differ {
				key = "nodes.differ.note"
			}
			notes = append(notes, msg(key, "arm", nodeArm(n, a), "test", welch(a)))
		}
	}
	for _, node := range n.Nodes {
		r := row{{node.Name, strong}, baselineCell(n, node, arms)}
		for _, a := range arms {
			c := cell{quantity.Interval(a.Effects[node.Name]), plain}
			if isOdd(a, node.Name) {
				c.tone = bad
			}
			r = append(r, c)
		}
		t.rows = append(t.rows, r)
	}
	return block{tables: []table{t}, notes: notes}
}

func baselineCell(n *record.Nodes, node record.NodeResult, arms []record.NodeArm) cell {
	if x, ok := node.Baselines[arms[0].Workload].Get(); ok {
		return cell{wordOf(n, arms[0].Workload, arms[0].Metric).show(x), plain}
	}
	return cell{none, faint}
}
