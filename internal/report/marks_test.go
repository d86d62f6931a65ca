package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// markedRun is a run with every mark on its first screen: more CPU per operation, a cost within the noise, an arm that
// of weaker durability, a load without a figure.
func markedRun() *record.Effects {
	e := richRun()
	for i := range e.Effects {
		x := &e.Effects[i]
		switch {
		case x.Arm != "container":
		case x.Metric == "cpu_per_op" && x.Workload != "commit":
			x.Exploratory = false
			if x.Verdict == record.Slower {
				x.Verdict = record.MoreCPU
			}
		case x.Metric == "throughput" && x.Workload == "oltp-read-write":
			x.Typical, x.Verdict = ratio(-1.5, 1.2), record.Slower
		case x.Metric == "throughput" && x.Workload == "commit":
			x.Typical, x.Verdict, x.Reason = nil, record.Undecided, record.InProse("no window of this arm counts")
		case x.Metric == "throughput" && x.Workload == "oltp-read-only":
			x.Unequal = record.InProse("its data is in memory")
		}
	}
	return answered(e)
}

// The column that decides and the marks that the legend explains are there in every width; p99 goes first.
func TestWidths(t *testing.T) {
	for _, width := range []int{60, 80, 100, 160} {
		var b bytes.Buffer
		if err := english.Text(&b, markedRun(), Options{Width: width, Dir: "r"}); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("marked.%d.txt", width), b.Bytes())
		for _, want := range []string{"+12 %*", "-14.3 % ±0.9*", "-1.5 % ±1.2~", "-3.1 % ±0.7≠"} {
			if !strings.Contains(strings.ReplaceAll(b.String(), "\u00a0", " "), want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, b.String())
			}
		}
		if hasP99 := strings.Contains(b.String(), "p99"); hasP99 != (width >= 80) {
			t.Errorf("%d columns: p99 %v", width, hasP99)
		}
	}
}

// explainedIn are the marks that a legend explains.
func explainedIn(notes []sentence) (all []mark) {
	for _, n := range notes {
		for _, part := range strings.Split(n.String(), "; ") {
			first, _, _ := strings.Cut(part, " ")
			all = append(all, mark(first))
		}
	}
	return all
}

// A legend explains what the figures are marked as, and nothing else: no sign in a name, and no mark of a column that is dropped.
func TestLegend(t *testing.T) {
	columns := []column{{head: "arm"}, {head: "p99", drop: 1}, {head: "answer"}}
	line := func(f figure) table {
		return table{columns: columns, rows: []row{{cell{"prod*", strong}, f, cell{"~ ≠", plain}}}}
	}
	for _, m := range []mark{"", moved, inNoise, unequal} {
		x := line(figure{cell{"-3 %", plain}, "±1", m})
		if got := explainedIn(english.legend(nil, x)); m == "" && len(got) > 0 || m != "" && !slices.Equal(got, []mark{m}) {
			t.Errorf("mark %q: legend %q", m, got)
		}
		if got := english.legend(nil, x.dropped(1)); len(got) > 0 {
			t.Errorf("mark %q is explained without its column: %v", m, got)
		}
		for _, size := range []int{20, 12} {
			if laid := x.laid(1, x.rows[0][1], size); !strings.HasSuffix(laid, "-3 % ±1"+string(m)) || Width(laid) < 7 {
				t.Errorf("%q in %d columns", laid, size)
			}
		}
	}
	missing := line(figure{cell: cell{none, faint}})
	if got := explainedIn(english.legend(nil, missing)); !slices.Equal(got, []mark{none}) {
		t.Errorf("no figure: legend %q", got)
	}
	if got := english.legend([]sentence{say(none + " p99: too few operations")}, missing); len(got) > 0 {
		t.Errorf("a note says it, and the legend too: %v", got)
	}
}

// Text, Markdown and page explain the same marks, each below its table.
func TestMarksInForms(t *testing.T) {
	e := markedRun()
	var text, markdown bytes.Buffer
	if err := english.Text(&text, e, Options{Width: 160}); err != nil {
		t.Fatal(err)
	}
	if err := english.Markdown(&markdown, e, nil); err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]string{"text": text.String(), "Markdown": strings.ReplaceAll(markdown.String(), "\\", ""), "page": pageOf(t, e, Source{})} {
		got = strings.ReplaceAll(strings.ReplaceAll(got, "&#39;", "'"), "\u00a0", " ")
		for _, want := range []string{"* shown to differ", "~ shown, but not larger than the host's own differences", "≠ weaker durability", "– no figure"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q", form, want)
			}
		}
	}
}

// A comparison names the loads of a geometric mean, and no change of a level: between two runs it has no interval.
func TestComparedLevelsAndMeans(t *testing.T) {
	change := func(load, arm string) record.Change {
		return record.Change{Workload: load, Metric: "throughput", Arm: arm, Baseline: "host", Primary: true, Subject: true, Change: ratio(-8, 2), Verdict: record.Slower}
	}
	c := &record.Comparison{
		Changes: []record.Change{change("oltp", "container"), change("rpc", "container"), change("commit", "nat")},
		Means:   []record.Change{{Metric: "throughput", Arm: "container", Baseline: "host", Change: ratio(-8, 2), Verdict: record.Slower}},
		Levels:  []record.Level{{Workload: "oltp", Metric: "throughput", Unit: "1/s", Arm: "host", Before: record.Number(1000), After: record.Number(1234), Ratio: 1.234}},
	}
	for _, details := range []bool{false, true} {
		r := textRenderer{in: english, width: 100}
		r.document(english.Comparison(c, details))
		text := r.out.String()
		if !strings.Contains(text, "geometric mean of container: oltp and rpc") || strings.Contains(text, "23.4") || !strings.Contains(text, "1.23k/s") {
			t.Error(text)
		}
	}
}
