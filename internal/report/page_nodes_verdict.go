package report

import (
	"fmt"

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
	say := func(s ...cell) { b.items = append(b.items, item{cell{"!", plain}, s}) }
	if k := len(n.Left); k > 0 {
		say(cell{fmt.Sprintf("%s %s not measured, see “left out”.", plural(k, "node"), verb(k, "was", "were")), plain})
	}
	for _, node := range n.Nodes {
		if word, torn := ended(node.Ended); torn {
			say(cell{node.Name, strong}, cell{": ", plain}, cell{word, broken}, cell{".", plain})
		}
		var whys ordered
		in := map[string][]string{}
		for _, a := range n.Arms {
			if why := a.Apart[node.Name]; why != "" {
				whys.add(why)
				in[why] = append(in[why], a.Arm+" of "+a.Workload)
			}
		}
		for _, why := range whys {
			say(cell{node.Name, strong}, cell{" is not compared", unsure}, cell{" in " + list(in[why]) + ": " + why + ".", plain})
		}
	}
	return b
}

// oddOnes says of every odd node where it is farthest from the others.
func oddOnes(n *record.Nodes) sentence {
	var order ordered
	in := map[string][]record.NodeArm{}
	for _, a := range n.Arms {
		for _, o := range a.Odd {
			order.add(o.Node)
			in[o.Node] = append(in[o.Node], a)
		}
	}
	var s sentence
	for _, node := range order {
		a, o := farthest(in[node], node)
		if s != nil {
			s = append(s, cell{" ", plain})
		}
		s = append(s, cell{node, strong}, cell{" is odd", bad}, cell{" in " + oddIn(n, a, o) + inMargin(o.Against, n.Margin), plain})
		if more := len(in[node]) - 1; more > 0 {
			s = append(s, cell{fmt.Sprintf(", and in %s", plural(more, "other arm")), plain})
		}
		s = append(s, cell{".", plain})
		if doubtful(n, node, a.Workload) {
			s = append(s, cell{" There the host differs from itself", broken}, cell{": do not trust it.", plain})
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
			where = append(where, a.Arm+" of "+a.Workload)
		}
	}
	nodes := "The nodes"
	if most == 2 {
		nodes = "The two nodes"
	}
	if most == 2 && len(n.Nodes) > 2 {
		nodes = "The two nodes that can be compared"
	}
	switch {
	case !known:
		return sentence{{"It cannot be told whether the nodes differ", unsure}, {": fewer than two have an effect with an interval.", plain}}
	case len(where) == 0:
		return sentence{{nodes + " do not differ by more than their errors", plain}, {". That is not to say that they are equal.", plain}}
	case most == 2:
		return sentence{{nodes + " differ by more than their errors", unsure}, {" in " + list(where) + "; of two nobody can say which one is odd.", plain}}
	}
	return sentence{{nodes + " differ by more than their errors", unsure}, {" in " + list(where) + ", and no single one stands out.", plain}}
}
