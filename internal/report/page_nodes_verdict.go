package report

import (
	"github.com/tarelab/tare/internal/arrange"
	"github.com/tarelab/tare/record"
)

// nodesVerdict is the answer in one sentence: which node is odd, or that the
// nodes differ and nobody can say which, or that nothing is seen, or that it
// cannot be told.
func nodesVerdict(n *record.Nodes) sentence {
	if s := oddOnes(n); s != nil {
		return s
	}
	return differing(n)
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

// oddOnes says of every odd node where it is farthest from the others.
func oddOnes(n *record.Nodes) sentence {
	var order arrange.Ordered
	in := map[string][]record.NodeArm{}
	for _, a := range n.Arms {
		for _, o := range a.Odd {
			order.Add(o.Node)
			in[o.Node] = append(in[o.Node], a)
		}
	}
	var s sentence
	for _, node := range order {
		a, o := farthest(in[node], node)
		if s != nil {
			s = append(s, cell{" ", plain})
		}
		others := ""
		if more := len(in[node]) - 1; more > 0 {
			others = text("odd.more", "n", more)
		}
		s = append(s, msg("odd.node", "node", node, "where", oddIn(n, a, o)+inMargin(o.Against, n.Margin), "others", others)...)
		if doubtful(n, node, a.Workload) {
			s = joined(" ", s, msg("odd.doubt"))
		}
	}
	return s
}

// farthest is the arm in which a node is farthest from the others.
func farthest(arms []record.NodeArm, node string) (in record.NodeArm, by record.OddNode) {
	for _, a := range arms {
		for _, o := range a.Odd {
			if o.Node == node && (by.Node == "" || away(o.Against) > away(by.Against)) {
				in, by = a, o
			}
		}
	}
	return in, by
}

// away is how far a ratio is from 1, the same for a half and for the double.
func away(r record.Ratio) float64 { return max(r.Ratio, 1/r.Ratio) }

func doubtful(n *record.Nodes, node, workload string) bool {
	for _, x := range n.Nodes {
		for _, t := range x.Trust {
			if x.Name == node && t.Workload == workload && t.TwinDiffers {
				return true
			}
		}
	}
	return false
}

// differing is the answer where no node is odd.
func differing(n *record.Nodes) sentence {
	var where []string
	known, most := false, 0
	for _, a := range n.Arms {
		known = known || a.Known
		most = max(most, len(a.Against))
		if a.Differ {
			where = append(where, text("check.of", "kind", nodeArm(n, a), "subject", a.Workload))
		}
	}
	nodes := text("nodes.some")
	if most == 2 {
		nodes = text("nodes.two")
	}
	if most == 2 && len(n.Nodes) > 2 {
		nodes = text("nodes.two.of")
	}
	switch {
	case !known:
		return msg("nodes.untold.all")
	case len(where) == 0:
		return msg("nodes.equal", "nodes", nodes)
	case most == 2:
		return msg("nodes.two.differ", "nodes", nodes, "where", list(where))
	}
	return msg("nodes.all.differ", "nodes", nodes, "where", list(where))
}
