package report

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/record"
)

// TestNodesAnything makes texts of whatever nodes there could be.
func TestNodesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNodes(t)
		var b bytes.Buffer
		if err := Print(&b, english.Nodes(n), Options{Width: rapid.IntRange(20, 200).Draw(t, "width")}); err != nil {
			t.Fatal(err)
		}
	})
}

func drawNodes(t *rapid.T) *record.Nodes {
	names := rapid.SliceOfNDistinct(drawName(), 0, 4, rapid.ID[string]).Draw(t, "nodes")
	n := &record.Nodes{Experiment: drawText().Draw(t, "experiment"), Margin: drawFloat().Draw(t, "margin")}
	for _, name := range names {
		n.Nodes = append(n.Nodes, record.NodeResult{Name: name, Dir: name, Started: drawText().Draw(t, "started"), Ended: drawText().Draw(t, "ended"),
			Baselines: map[string]record.Value{"db": record.Number(drawFloat().Draw(t, "level"))},
			Dropped:   record.Dropped{Blocks: rapid.IntRange(0, 9).Draw(t, "dropped"), Of: 9},
			Trust:     []record.NodeTrust{{Workload: "db", Twin: drawRatio(t), TwinDiffers: rapid.Bool().Draw(t, "differs"), NoiseFloor: drawFloat().Draw(t, "noise")}}})
		n.Facts = append(n.Facts, record.NodeFact{Name: record.InProse(drawText().Draw(t, "fact")), Unit: rapid.SampledFrom([]string{"", "B"}).Draw(t, "unit"),
			Differs: rapid.Bool().Draw(t, "differs"), Values: map[string]string{name: drawText().Draw(t, "value")}})
	}
	arm := func(name string) record.NodeArm {
		a := record.NodeArm{Workload: "db", Metric: drawMetric().Draw(t, "metric"), Arm: name, Baseline: "host", Known: rapid.Bool().Draw(t, "known"),
			Differ: rapid.Bool().Draw(t, "differ"), F: drawFloat().Draw(t, "f"), P: drawFloat().Draw(t, "p"),
			Effects: map[string]*record.Ratio{}, Others: map[string]*record.Ratio{}, Against: map[string]*record.Ratio{}, Apart: map[string]record.Said{}}
		for _, node := range names {
			a.Effects[node], a.Others[node], a.Against[node] = drawRatio(t), drawRatio(t), drawRatio(t)
			if rapid.Bool().Draw(t, "apart") {
				a.Apart[node] = record.InProse(drawText().Draw(t, "why"))
			}
			if r := drawRatio(t); r != nil {
				a.Odd = append(a.Odd, record.OddNode{Node: node, Against: *r, P: drawFloat().Draw(t, "p")})
			}
		}
		return a
	}
	for _, name := range rapid.SliceOfN(drawName(), 0, 3).Draw(t, "arms") {
		n.Arms = append(n.Arms, arm(name))
		n.Exploratory = append(n.Exploratory, arm(name))
	}
	return n
}
