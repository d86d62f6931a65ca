package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/tarelab/tare/record"
)

// NodesText prints the nodes of a run side by side, for a terminal or a plain
// file.
func NodesText(w io.Writer, n *record.Nodes, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	r.document(nodesDocument(n))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// NodesMarkdown prints them for a pull request.
func NodesMarkdown(w io.Writer, n *record.Nodes) error {
	var r markdownRenderer
	r.document(nodesDocument(n))
	_, err := io.WriteString(w, r.out.String())
	return err
}

// NodesJSON prints them as one indented object, schema tare/nodes/v1.
func NodesJSON(w io.Writer, n *record.Nodes) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(n); err != nil {
		return fmt.Errorf("write the nodes as JSON: %w", err)
	}
	return nil
}

func nodesDocument(n *record.Nodes) document {
	d := document{title: nodesTitle(n)}
	d.add(section{blocks: []block{whichIsOdd(n)}})
	d.add(section{blocks: []block{nodesCaveats(n)}})
	for _, name := range nodeWorkloads(n) {
		d.add(section{title: name, about: "an arm's effect against its baseline, on each node", blocks: []block{sideBySide(n, name)}})
	}
	d.add(section{title: "can it be trusted", blocks: []block{nodesTrust(n)}, fold: true})
	d.add(section{title: "what differs between the nodes", blocks: []block{differingFacts(n)}, fold: true})
	d.add(section{title: "left out", blocks: []block{leftOut(&record.Effects{Left: n.Left})}})
	return d
}

func nodesTitle(n *record.Nodes) sentence {
	return sentence{{"tare " + n.Experiment, strong}, {" on " + plural(len(n.Nodes), "node"), plain}}
}

// wordOf is how to speak of a metric of a workload.
func wordOf(n *record.Nodes, name, metric string) metric {
	for _, w := range n.Workloads {
		if w.Name == name {
			return workload{WorkloadResult: record.WorkloadResult{Values: w.Values}}.metricWord(metric)
		}
	}
	return workload{}.metricWord(metric)
}

func nodeWorkloads(n *record.Nodes) []string {
	var names ordered
	for _, a := range n.Arms {
		names.add(a.Workload)
	}
	return names
}

// whichIsOdd is the answer: the odd nodes, or that there is none.
func whichIsOdd(n *record.Nodes) block {
	var b block
	known := false
	for _, a := range n.Arms {
		known = known || a.Known
		for _, o := range a.Odd {
			b.items = append(b.items, item{cell{o.Node, strong}, sentence{
				{"is odd", bad}, {" in " + oddIn(n, a, o) + inMargin(o.Against, n.Margin), plain},
			}})
		}
		if a.Differ && len(a.Odd) == 0 {
			text := fmt.Sprintf("the nodes differ in %s, and no single one stands out", a.Arm)
			if len(a.Effects) == 2 {
				text = fmt.Sprintf("the two nodes differ in %s; of two nobody can say which one is odd", a.Arm)
			}
			b.items = append(b.items, item{cell{a.Workload, strong}, sentence{{text, unsure}}})
		}
	}
	switch {
	case len(b.items) > 0:
	case known:
		b.items = []item{{cell{"odd", strong}, say("no node: what they show differs by no more than its noise. That is not to say that they are equal.")}}
	default:
		b.items = []item{{cell{"odd", strong}, say("it cannot be told: fewer than two nodes have an effect with an interval.")}}
	}
	return b
}

// oddIn says in what a node is odd, and how far.
func oddIn(n *record.Nodes, a record.NodeArm, o record.OddNode) string {
	return fmt.Sprintf("%s of %s: %s of %s against the other nodes", a.Arm, a.Workload, Interval(&o.Against), wordOf(n, a.Workload, a.Metric).of)
}

func isOdd(a record.NodeArm, node string) bool {
	return slices.ContainsFunc(a.Odd, func(o record.OddNode) bool { return o.Node == node })
}

// welch is the test of whether the nodes differ.
func welch(a record.NodeArm) string {
	return fmt.Sprintf("Welch's F(%.0f, %.1f) = %.2f, p = %.2g", a.DF1, a.DF2, a.F, a.P)
}

// inMargin says when a node is odd by less than matters.
func inMargin(r record.Ratio, margin float64) string {
	if r.Low > 1/(1+margin) && r.High < 1+margin {
		return ", which is less than the margin of " + size(margin)
	}
	return ""
}

// sideBySide is a table of the effects of one workload.
func sideBySide(n *record.Nodes, workload string) block {
	t := table{columns: []column{{head: "node", flex: 9}, {head: "baseline", align: right}}}
	narrow := table{columns: []column{{head: "arm", flex: 9}, {head: "node", flex: 9}, {head: "effect", align: interval}}}
	var arms []record.NodeArm
	var notes []sentence
	for _, a := range n.Arms {
		if a.Workload != workload {
			continue
		}
		arms = append(arms, a)
		t.columns = append(t.columns, column{head: a.Arm, align: interval})
		if a.Known {
			verb := "do not differ by more than their errors"
			if a.Differ {
				verb = "differ"
			}
			notes = append(notes, say(fmt.Sprintf("%s: the nodes %s (%s).", a.Arm, verb, welch(a))))
		}
	}
	for _, node := range n.Nodes {
		r := row{{node.Name, strong}, baselineCell(n, node, arms)}
		for _, a := range arms {
			c := cell{Interval(a.Effects[node.Name]), plain}
			if isOdd(a, node.Name) {
				c.tone = bad
			}
			r = append(r, c)
			narrow.rows = append(narrow.rows, row{{a.Arm, plain}, {node.Name, strong}, c})
		}
		t.rows = append(t.rows, r)
	}
	slices.SortStableFunc(narrow.rows, func(a, b row) int {
		return slices.Index(armNames(arms), a[0].text) - slices.Index(armNames(arms), b[0].text)
	})
	return block{forms: [][]table{{t}, {t.tightly()}, {narrow}}, notes: notes}
}

func armNames(arms []record.NodeArm) []string {
	var names []string
	for _, a := range arms {
		names = append(names, a.Arm)
	}
	return names
}

func baselineCell(n *record.Nodes, node record.NodeResult, arms []record.NodeArm) cell {
	if x, ok := node.Baselines[arms[0].Workload].Get(); ok {
		return cell{wordOf(n, arms[0].Workload, arms[0].Metric).show(x), plain}
	}
	return cell{none, faint}
}
