package analysis

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tarelab/tare/record"
)

// onNodes simulates the results of nodes on which the arms have these true log effects.
func onNodes(rng *rand.Rand, truth ...[]float64) []OfNode {
	var all []OfNode
	for i, arms := range truth {
		all = append(all, OfNode{Name: fmt.Sprint("n", i), Effects: draw(rng, 6, 0.02, arms...)})
	}
	return all
}

// In 95 % of the runs no node is odd in any arm where all nodes are alike.
func TestNodesAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2026))
	const runs = 1500
	named, differ := 0, 0
	for range runs {
		arms := []float64{-0.02, -0.05, -0.1}
		n := Nodes(onNodes(rng, arms, arms, arms, arms))
		odd, different := false, false
		for _, a := range n.Arms {
			odd = odd || len(a.Odd) > 0
			different = different || a.Differ
		}
		if odd {
			named++
		}
		if different {
			differ++
		}
	}
	t.Logf("named in %.1f %%, different in %.1f %% of the runs", 100*float64(named)/runs, 100*float64(differ)/runs)
	if named > runs*5/100 || differ > runs*55/1000 {
		t.Errorf("%d named, %d different, of %d", named, differ, runs)
	}
}

func TestNodesOdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 2026))
	usual := []float64{-0.02, -0.05}
	nodes := onNodes(rng, usual, usual, []float64{-0.02, -0.25}, usual)
	out := Nodes(nodes)
	if len(out.Arms) != 2 || len(out.Arms[0].Odd) > 0 || len(out.Arms[1].Odd) != 1 {
		t.Fatalf("%+v", out.Arms)
	}
	o := out.Arms[1].Odd[0]
	if o.Node != "n2" || !(o.Against.High < 1) || o.P > 0.05 || !out.Arms[1].Differ || len(out.Arms[1].Effects) != 4 {
		t.Errorf("%+v in %+v", o, out.Arms[1])
	}
	// Of two nodes that differ, nobody can say which one is odd.
	two := Nodes(nodes[1:3]).Arms[1]
	if !two.Differ || len(two.Odd) > 0 {
		t.Errorf("two nodes: %+v", two)
	}
	// An invalid effect of a node is shown and not judged.
	for i := range nodes[2].Effects.Effects {
		nodes[2].Effects.Effects[i].Verdict = record.Invalid
	}
	if left := Nodes(nodes).Arms[1]; left.Differ || len(left.Odd) > 0 || left.Effects["n2"] == nil {
		t.Errorf("without it: %+v", left)
	}
	if alone := Nodes(nodes[:1]).Arms[0]; alone.Known || alone.Differ {
		t.Errorf("one node: %+v", alone)
	}
}
