package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// colocationRun is a database beside hogs, with mechanisms that help, harm and do not help for sure.
func colocationRun() *record.Effects {
	e := frame()
	e.Experiment, e.Command = "colocation", []string{"run", "colocation"}
	l := load{name: "oltp", title: record.InProse("oltp"), rate: 4620, half: 2.4, p50: 312e-6, cpu: 313e-6, rungs: []rung{
		{name: "host", title: record.InProse("the host itself")},
		{name: "none", title: record.InProse("beside hogs"), tput: -24, p50: 11, p95: 205, p99: 122, beside: true},
		{name: "cpu-idle", title: record.InProse("cpu.idle, beside hogs"), tput: -1.1, p50: 0.4, p95: 2, p99: 8, beside: true},
		{name: "pinned", title: record.InProse("cpuset.pinned, beside hogs"), tput: -50, p50: 40, p95: 310, p99: 290, beside: true},
		{name: "quota", title: record.InProse("cpu.quota, beside hogs"), tput: -15, p50: 6, p95: 112, p99: 114, beside: true},
		{name: "twin", twin: true, tput: 0.2},
	}}
	l.into(e)
	e.Workloads = []record.WorkloadResult{l.result(checks(true)...)}
	share := func(x, half float64) *record.Share { return &record.Share{Share: x, Low: x - half, High: x + half} }
	row := func(arm, isolation string, work float64, tput, p99 *record.Share) record.PriceRow {
		r := record.PriceRow{Arm: arm, Isolation: []string{}, Work: record.Number(work)}
		if isolation != "" {
			r.Isolation = []string{isolation}
			r.Kept = &record.Ratio{Ratio: work / 31900, Low: work/31900 - 0.04, High: work/31900 + 0.04}
		}
		for metric, s := range map[string]*record.Share{"throughput": tput, "p99": p99} {
			back := record.Regained{Metric: metric, Share: s}
			for _, x := range e.Effects {
				if x.Arm == arm && x.Metric == metric {
					back.Effect = &x
				}
			}
			if s == nil && isolation != "" {
				back.Reason = record.Say("noise_hides_share")
			}
			r.Back = append(r.Back, back)
		}
		return r
	}
	e.Prices = []record.Price{{
		Workload: "oltp", Alone: "host", Unprotected: "none", Primary: "throughput", Metrics: []string{"throughput", "p99"},
		Neighbour: record.Neighbour{Name: "hogs", Kind: "spin", Work: record.NeighbourOps, Unit: "1/s"},
		Rows: []record.PriceRow{
			row("none", "", 31900, nil, nil),
			row("cpu-idle", "cpu.idle", 15100, share(0.95, 0.1), share(0.93, 0.12)),
			row("pinned", "cpuset.pinned", 29200, share(-1.08, 0.3), nil),
			row("quota", "cpu.quota", 21400, share(0.38, 0.4), nil),
		},
		Explained: []record.Explanation{{Arm: "pinned", Against: "none", Rule: "pinning concentrates the neighbour's weight",
			Text:     record.InProse("slower than without isolation although the neighbour took no more CPU time (0.92 CPUs, 0.98 CPUs without)"),
			Evidence: []record.Evidence{{Metric: "neighbour cpu.time", Unit: "s", Per: "second", Arm: 0.92, Against: 0.98}}}},
	}}
	return e
}

// The answer is the loss, and the mechanism that gives most of it back.
func TestPricedHeadline(t *testing.T) {
	var b bytes.Buffer
	if err := english.Text(&b, answered(colocationRun()), Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"oltp beside hogs, throughput against host", "none -24.0 % ±2.4* +122 %* slower",
		"cpu-idle -1.1 % ±2.4 95 % [85, 105] 47 % +8 % ±20 protects: at most 4.1 % slower", "quota -15.0 % ±2.4* 38 % [-2, 78] 67 % +114 %* slower",
		"causes, by the probes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// Every row is in the CSV: what it regains of each metric, and what the
// neighbour keeps.
func TestPriceCSV(t *testing.T) {
	var b bytes.Buffer
	if err := export.CSV(&b, colocationRun()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	seen := map[string]int{}
	for _, r := range rows[1:] {
		seen[r[at["kind"]]]++
		switch {
		case r[at["kind"]] == "regained" && r[at["arm"]] == "cpu-idle" && r[at["metric"]] == "throughput":
			if r[at["typical_ratio"]] != "0.95" || r[at["verdict"]] != "" || r[at["baseline"]] != "host" {
				t.Errorf("%q", r)
			}
		case r[at["kind"]] == "neighbour" && r[at["arm"]] == "pinned":
			if r[at["arm_value"]] != "29200" || r[at["baseline_value"]] != "31900" || r[at["verdict"]] != "" || r[at["total_low"]] == "" || r[at["blocks"]] != "" {
				t.Errorf("%q", r)
			}
		}
	}
	if seen["regained"] != 8 || seen["neighbour"] != 4 {
		t.Errorf("lines by kind: %v", seen)
	}
}

// Whatever numbers there are, they are printed without NaN and within the width.
func TestAnyPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := colocationRun()
		p := &e.Prices[0]
		for i := range p.Rows {
			r := &p.Rows[i]
			r.Arm, r.Reason = drawName().Draw(t, "arm"), record.InProse(drawText().Draw(t, "reason"))
			r.Kept = drawRatio(t)
			r.Work = record.Number(drawFloat().Draw(t, "work"))
			for j := range r.Back {
				b := &r.Back[j]
				b.Effect, b.Reason = &record.Effect{Typical: drawRatio(t), Bound: drawRatio(t)}, record.InProse(drawText().Draw(t, "why"))
				if b.Share = nil; rapid.Bool().Draw(t, "share") {
					b.Share = &record.Share{Share: drawFloat().Draw(t, "x"), Low: drawFloat().Draw(t, "low"), High: drawFloat().Draw(t, "high")}
				}
			}
		}
		p.Invalid, p.Explained[0].Text = record.InProse(drawText().Draw(t, "invalid")), record.InProse(drawText().Draw(t, "text"))
		w := rapid.IntRange(40, 140).Draw(t, "width")
		text := printed(t, func(b *bytes.Buffer) error { return english.Text(b, answered(e), Options{Width: w}) })
		for _, s := range []string{text, printed(t, func(b *bytes.Buffer) error { return english.Markdown(b, answered(e), nil) }), printed(t, func(b *bytes.Buffer) error { return export.CSV(b, e) })} {
			if m := notNumbers.FindString(s); m != "" {
				t.Fatalf("prints %s:\n%s", m, s)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if Width(line) > w {
				t.Fatalf("%d columns, want at most %d: %q", Width(line), w, line)
			}
		}
	})
}

func TestParts(t *testing.T) {
	for want, x := range map[string][3]float64{
		"85 % [56, 139]": {0.85, 0.56, 1.394}, "0 % [0, 0]": {0, -0.001, 0}, "-108 % [-138, -78]": {-1.08, -1.38, -0.78},
		none: {math.NaN(), 0, 1},
	} {
		if got := parts100(x[0], x[1], x[2]); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}
