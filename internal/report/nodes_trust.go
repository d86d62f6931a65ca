package report

import (
	"fmt"
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// nodesTrust is what a sceptic asks of every node, side by side.
func (in Language) nodesTrust(n *record.Nodes) block {
	t := table{columns: []column{
		{head: in.text("head.workload"), flex: 9}, {head: in.text("head.node"), flex: 9}, {head: in.text("trust.blocks"), align: right}, {head: in.text("trust.launches"), align: right},
		{head: in.text("nodes.twin"), align: interval}, {head: in.text("matrix.noise"), align: right}, {head: in.text("label.checks")},
	}}
	var notes []sentence
	for _, name := range nodeWorkloads(n) {
		for _, node := range n.Nodes {
			i := slices.IndexFunc(node.Trust, func(t record.NodeTrust) bool { return t.Workload == name })
			if i < 0 {
				continue
			}
			x := node.Trust[i]
			t.rows = append(t.rows, row{cell{name, plain}, cell{node.Name, strong}, cell{fmt.Sprint(x.Blocks), plain}, cell{fmt.Sprint(x.Generations), plain},
				twinCell(x), noiseCell(x), in.checksCell(x)})
			notes = append(notes, in.trustNote(node.Name, x)...)
		}
	}
	if len(t.rows) == 0 {
		return block{}
	}
	if len(nodeWorkloads(n)) == 1 {
		t = t.without(0)
	}
	for _, node := range n.Nodes {
		if node.Dropped.Blocks > 0 {
			notes = append(notes, in.msg("nodes.dropped", "node", node.Name, "blocks", in.dropped(node.Dropped)))
		}
	}
	return block{tables: []table{t}, notes: notes}
}

func twinCell(x record.NodeTrust) figure {
	if x.TwinDiffers {
		return fractional(x.Twin, broken)
	}
	return fractional(x.Twin, plain)
}

func noiseCell(x record.NodeTrust) cell {
	if x.NoiseFloor > 0 {
		return cell{quantity.PlusMinus(x.NoiseFloor), plain}
	}
	return cell{none, faint}
}

func (in Language) checksCell(x record.NodeTrust) cell {
	switch failed, open, held := len(x.Failed), len(x.Untold), len(x.Held); {
	case failed > 0:
		return cell{in.text("nodes.failed", "n", failed, "of", failed+open+held), broken}
	case open > 0:
		return cell{in.text("nodes.untold", "n", held, "open", open), unsure}
	case held > 0:
		return cell{in.text("nodes.ok"), calm}
	}
	return cell{none, faint}
}

// trustNote spells out what the table only counts.
func (in Language) trustNote(node string, x record.NodeTrust) []sentence {
	var notes []sentence
	if x.TwinDiffers {
		notes = append(notes, in.msg("nodes.twin.note", "node", node, "load", x.Workload))
	}
	if len(x.Failed) > 0 {
		notes = append(notes, in.msg("nodes.failed.note", "node", node, "load", x.Workload, "checks", in.list(in.saidAll(x.Failed))))
	}
	return notes
}

// factName is what a fact is about.
func (in Language) factName(f record.NodeFact) string {
	switch {
	case f.Workload == "":
		return in.said(f.Name)
	case f.All:
		return in.text("fact.all", "fact", in.said(f.Name), "load", f.Workload)
	}
	return in.text("fact.arms", "fact", in.said(f.Name), "arms", in.list(f.Arms), "load", f.Workload)
}

// factText is a value with its unit.
func factText(f record.NodeFact, node string) string {
	text, ok := f.Values[node]
	if !ok {
		return none
	}
	var bytes float64
	if f.Unit == "B" {
		if _, err := fmt.Sscan(text, &bytes); err == nil {
			return quantity.Bytes(bytes)
		}
	}
	return text
}

// differingFacts says of each fact that differs which nodes have what.
func (in Language) differingFacts(n *record.Nodes) block {
	var b block
	for _, f := range n.Facts {
		if !f.Differs {
			continue
		}
		var having arrange.Grouped[string]
		for _, node := range n.Nodes {
			having.Add(factText(f, node.Name), node.Name)
		}
		var parts []string
		for text, nodes := range having.All() {
			parts = append(parts, in.colon(in.list(nodes), text))
		}
		b.items = append(b.items, item{label: cell{in.factName(f), plain}, text: say(in.semicolons(parts...))})
	}
	if len(b.items) == 0 && len(n.Facts) > 0 {
		b.items = []item{{text: in.msg("nodes.nothing")}}
	}
	return b
}
