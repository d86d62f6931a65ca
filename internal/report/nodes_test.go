package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// threeNodes is a run over three nodes, of which one may be odd.
func threeNodes(odd bool) *record.Nodes {
	effects := map[string]*record.Ratio{"a": ratio(-2, 1), "b": ratio(-2.2, 1), "c": ratio(-2.1, 1)}
	arm := record.NodeArm{Workload: "db", Metric: "throughput", Arm: "pod", Baseline: "host", Effects: effects, Known: true, F: 0.4, DF1: 2, DF2: 8.3, P: 0.68}
	if odd {
		effects["c"] = ratio(-25, 2)
		arm.Differ, arm.F, arm.P = true, 91, 0.0001
		arm.Odd = []record.OddNode{{Node: "c", Against: *ratio(-23, 3), P: 0.001}}
	}
	n := &record.Nodes{Schema: record.NodesSchema, Experiment: "mine", Margin: 0.01, Arms: []record.NodeArm{arm}}
	for _, name := range []string{"a", "b", "c"} {
		n.Nodes = append(n.Nodes, record.NodeResult{Name: name, Dir: name, Ended: "budget", Baselines: map[string]record.Value{"db": record.Number(1200)}})
	}
	return n
}

func nodesText(t *testing.T, n *record.Nodes, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, english.Nodes(n), Options{Width: width}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The odd node is named with what it does and how that is known; every node
// stands beside the others at every width.
func TestNodes(t *testing.T) {
	for _, width := range []int{40, 80, 140} {
		text := nodesText(t, threeNodes(true), width)
		said := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"differs in pod of db", "Welch's F(2, 8.3) = 91.00", "-25.0 %", "-2.2 %"} {
			if !strings.Contains(said, want) {
				t.Errorf("width %d does not say %q:\n%s", width, want, text)
			}
		}
		for line := range strings.Lines(text) {
			if got := len([]rune(strings.TrimRight(line, "\n"))); got > width {
				t.Errorf("width %d: a line of %d: %q", width, got, line)
			}
		}
	}
}

// An arm that is shown in two metrics has a column for each, and says which; a test whose
// variance is as good as known has no number of degrees that nobody counts.
func TestNodesInTwoMetrics(t *testing.T) {
	n := threeNodes(true)
	second := n.Arms[0]
	second.Metric, second.Odd, second.DF2 = "cpu_per_op", nil, 1e7
	n.Arms = append(n.Arms, second)
	for _, width := range []int{40, 80, 140} {
		said := strings.Join(strings.Fields(nodesText(t, n, width)), " ")
		for _, want := range []string{"pod, throughput", "pod, CPU/op", "Welch's F(2, ∞) = 91.00"} {
			if !strings.Contains(said, want) {
				t.Errorf("width %d does not say %q:\n%s", width, want, said)
			}
		}
	}
	one := strings.Join(strings.Fields(nodesText(t, threeNodes(true), 140)), " ")
	if strings.Contains(one, "pod, ") || !strings.Contains(one, "effects on throughput,") {
		t.Errorf("in one metric:\n%s", one)
	}
}

// That nothing is seen is not called equal, two that differ are not judged, and
// one node alone is no comparison.
func TestNodesWithoutAnOddOne(t *testing.T) {
	none, two, alone := threeNodes(false), threeNodes(true), threeNodes(false)
	two.Arms[0].Odd = nil
	delete(two.Arms[0].Effects, "a")
	alone.Arms[0].Known = false
	for _, c := range []struct {
		n    *record.Nodes
		want string
	}{
		{none, "which does not show that they are equal"}, {two, "of two, neither is the outlier"}, {alone, "undecided: fewer than two nodes"},
	} {
		if text := strings.Join(strings.Fields(nodesText(t, c.n, 100)), " "); !strings.Contains(text, c.want) || strings.Contains(text, " differs in ") {
			t.Errorf("does not say %q:\n%s", c.want, text)
		}
	}
}

func TestNodesForPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := export.Object(&b, threeNodes(true)); err != nil {
		t.Fatal(err)
	}
	var back record.Nodes
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Arms[0].Odd[0].Node != "c" || back.Schema != record.NodesSchema {
		t.Errorf("%v: %+v", err, back)
	}
	b.Reset()
	if err := PrintMarkdown(&b, english.Nodes(threeNodes(true))); err != nil || !strings.Contains(b.String(), "| c |") && !strings.Contains(b.String(), "| **c** |") {
		t.Errorf("%v: %s", err, b.String())
	}
}
