package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// word draws names that a plan could give, some of which the reports know.
func drawName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"host", "cgroup", "rootfs", "container", "cpu-limit", "twin"}),
		rapid.StringMatching(`[a-hj-m][a-hj-m0-9-]{0,10}`))
}

// drawText draws what tools and kernels may say, hostile to a layout.
func drawText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-hj-m |*<>\[\]_.\x60]{0,60}`),
		rapid.SampledFrom([]string{"", "a\nb", "\x1b[31mred", "日本語の名前", "e\u0301", "\xff\xfe", strings.Repeat("x", 300), "\t", "\u202e"}))
}

func drawFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64Range(0.5, 1.5), rapid.Float64(),
		rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}))
}

func drawRatio(t *rapid.T) *record.Ratio {
	if !rapid.Bool().Draw(t, "known") {
		return nil
	}
	return &record.Ratio{Ratio: drawFloat().Draw(t, "ratio"), Low: drawFloat().Draw(t, "low"), High: drawFloat().Draw(t, "high")}
}

func drawMetric() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"throughput", "p50", "p99", "cpu_per_op", "other"})
}

func drawEffects(t *rapid.T, workloads []string, label string) []record.Effect {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Effect {
		return record.Effect{
			Workload: rapid.SampledFrom(workloads).Draw(t, "workload"), Metric: drawMetric().Draw(t, "metric"),
			Arm: drawName().Draw(t, "arm"), Baseline: drawName().Draw(t, "baseline"),
			Typical: drawRatio(t), Total: drawRatio(t), Own: drawRatio(t),
			Verdict: record.Verdict(rapid.IntRange(-1, 6).Draw(t, "verdict")), Reason: record.InProse(drawText().Draw(t, "reason")),
			Exploratory: rapid.Bool().Draw(t, "exploratory"), P: drawP(t),
			Detectable: drawFloat().Draw(t, "detectable"), Needed: drawFloat().Draw(t, "needed"),
			Slow: drawFloat().Draw(t, "slow"), Intermittent: rapid.Bool().Draw(t, "intermittent"),
		}
	}), 0, 8).Draw(t, label)
}

func drawValues(t *rapid.T, key *rapid.Generator[string]) map[string]record.Value {
	value := rapid.Custom(func(t *rapid.T) record.Value {
		if rapid.Bool().Draw(t, "missing") {
			return record.Missing(record.InProse(drawText().Draw(t, "why")))
		}
		return record.Number(drawFloat().Draw(t, "value"))
	})
	return rapid.MapOfN(key, value, 0, 5).Draw(t, "values")
}

func drawAll(t *rapid.T) *record.Effects {
	names := rapid.SliceOfN(drawName(), 1, 3).Draw(t, "workloads")
	e := &record.Effects{
		Experiment: drawText().Draw(t, "experiment"), Started: drawText().Draw(t, "started"),
		Command: rapid.SliceOfN(drawText(), 0, 3).Draw(t, "command"),
		Seconds: drawFloat().Draw(t, "seconds"), Ended: drawText().Draw(t, "ended"),
		Margin: drawFloat().Draw(t, "margin"), Precision: drawFloat().Draw(t, "precision"),
		Host:    record.Host{Name: drawText().Draw(t, "host"), CPUs: rapid.Int().Draw(t, "cpus")},
		Effects: drawEffects(t, names, "effects"), Steps: drawEffects(t, names, "steps"),
		Remainder: drawEffects(t, names, "remainder"), Twin: drawEffects(t, names, "twin"),
		Self: record.Self{CPURatio: drawFloat().Draw(t, "cpu"), SwitchP99: drawFloat().Draw(t, "switch"), Switches: 1},
		Dropped: record.Dropped{Blocks: rapid.IntRange(0, 9).Draw(t, "dropped"),
			Reasons: map[string]int{drawText().Draw(t, "why"): 1}},
	}
	for _, n := range names {
		if rapid.Bool().Draw(t, "listed") {
			e.Workloads = append(e.Workloads, record.WorkloadResult{Name: n, Title: record.InProse(drawText().Draw(t, "title")),
				Primary: drawMetric().Draw(t, "primary"), Baseline: drawName().Draw(t, "base"),
				Blocks: rapid.IntRange(0, 99).Draw(t, "blocks"), Seconds: drawFloat().Draw(t, "length"),
				NoiseFloor: drawFloat().Draw(t, "noise"), Checks: []record.Checks{{
					Kind: drawText().Draw(t, "kind"), OK: rapid.Bool().Draw(t, "ok"), Known: rapid.Bool().Draw(t, "tell"),
					Text: record.InProse(drawText().Draw(t, "text")), Ratio: drawRatio(t), Remedy: record.InProse(drawText().Draw(t, "remedy"))}},
				Pilot: &record.Pilot{Window: drawFloat().Draw(t, "window"), Why: record.InProse(drawText().Draw(t, "pilot"))}})
		}
		e.Arms = append(e.Arms, record.ArmResult{Workload: n, Arm: drawName().Draw(t, "arm"),
			Title: record.InProse(drawText().Draw(t, "adds")), Values: drawValues(t, drawMetric())})
		for range rapid.IntRange(0, 3).Draw(t, "probes") {
			e.Kernel = append(e.Kernel, record.Kernel{Workload: n, Metric: drawText().Draw(t, "probe"),
				Unit: rapid.SampledFrom([]string{"s", "1", "B", "ratio", "", "Hz"}).Draw(t, "unit"),
				Per:  rapid.SampledFrom([]string{"second", "operation", ""}).Draw(t, "per"), Values: drawValues(t, drawName())})
		}
	}
	e.Left = []record.Left{{Arm: drawName().Draw(t, "left"), Reason: record.InProse(drawText().Draw(t, "reason")), Remedy: record.InProse(drawText().Draw(t, "remedy"))}}
	e.Warnings = []record.Warning{{Text: record.InProse(drawText().Draw(t, "warning")), Arm: drawName().Draw(t, "warned")}}
	return e
}

var notNumbers = regexp.MustCompile(`NaN|Inf|inf`)

// TestAnything prints whatever effects there could be: no panic, no NaN, no
// line wider than asked for, no arm lost, no control character.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, in := drawAll(t), rapid.SampledFrom([]Language{english, chinese}).Draw(t, "language")
		o := Options{Width: rapid.IntRange(40, 140).Draw(t, "width"), Verbose: true}
		plainText := printed(t, func(b *bytes.Buffer) error { return in.Text(b, answered(e), o) })
		markdown := printed(t, func(b *bytes.Buffer) error { return in.Markdown(b, answered(e), nil) })
		table := printed(t, func(b *bytes.Buffer) error { return export.CSV(b, e) })
		o.Verbose = false
		short := printed(t, func(b *bytes.Buffer) error { return in.Text(b, answered(e), o) })
		for _, s := range []string{plainText, short, markdown, table} {
			if m := notNumbers.FindString(s); m != "" {
				t.Fatalf("prints %s:\n%s", m, s)
			}
		}
		for _, line := range strings.Split(plainText+short, "\n") {
			if Width(line) > o.Width {
				t.Fatalf("%d columns, want at most %d: %q", Width(line), o.Width, line)
			}
		}
		if strings.ContainsAny(plainText+short+markdown, "\x1b\t\r\x00") {
			t.Fatal("a control character came through")
		}
		wantArms(t, e, plainText, "text", func(arm string) string { return arm })
		wantArms(t, e, markdown, "Markdown", export.Markdown)
		if rows, err := csv.NewReader(strings.NewReader(table)).ReadAll(); err != nil {
			t.Fatalf("CSV is not RFC 4180: %v", err)
		} else if want := 1 + len(e.Effects) + len(e.Steps) + len(e.Remainder) + len(e.Twin); len(rows) != want {
			t.Fatalf("CSV has %d rows, want %d", len(rows), want)
		}
	})
}

func printed(t *rapid.T, print func(*bytes.Buffer) error) string {
	var b bytes.Buffer
	if err := print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantArms wants every arm in the report, but those of a workload that is not
// measured at all, which is one sentence. door is how the form writes a name.
func wantArms(t *rapid.T, e *record.Effects, s, form string, door func(string) string) {
	silent := map[string]bool{}
	for _, w := range english.workloads(e) {
		silent[w.Name] = w.Unmeasured()
	}
	for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder, e.Twin} {
		for _, x := range list {
			if !silent[x.Workload] && !strings.Contains(s, door(x.Arm)) {
				t.Fatalf("%s: arm %q is nowhere in\n%s", form, x.Arm, s)
			}
		}
	}
}

// TestColor is only paint: without the codes the text is the same.
func TestColor(t *testing.T) {
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, e := range fixtures() {
		for _, w := range []int{60, 80, 100} {
			var bare, painted bytes.Buffer
			if err := english.Text(&bare, answered(e), Options{Width: w}); err != nil {
				t.Fatal(err)
			}
			if err := english.Text(&painted, answered(e), Options{Width: w, Color: true}); err != nil {
				t.Fatal(err)
			}
			if got := codes.ReplaceAllString(painted.String(), ""); got != bare.String() {
				t.Errorf("%s at %d: colour changes the text", name, w)
			}
		}
	}
}

var answers = regexp.MustCompile(`no difference|within 1 %|\b(costs|gains|raises|lowers)\b|无差异|差异不超过|损失不超过`)

// TestUndecided makes sure that an open question is never printed as an
// answer: whatever the numbers are, the words of "negligible" do not occur.
func TestUndecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, in := richRun(), rapid.SampledFrom([]Language{english, chinese}).Draw(t, "language")
		for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder, e.Twin} {
			for i := range list {
				list[i].Verdict = record.Undecided
				list[i].Typical = drawRatio(t)
				list[i].Intermittent = rapid.Bool().Draw(t, "intermittent")
			}
		}
		for i := range e.Workloads {
			e.Workloads[i].Checks = nil
		}
		for form, s := range map[string]string{
			"text":     printed(t, func(b *bytes.Buffer) error { return in.Text(b, answered(e), Options{}) }),
			"Markdown": printed(t, func(b *bytes.Buffer) error { return in.Markdown(b, answered(e), nil) }),
		} {
			if words := answers.FindString(s); words != "" {
				t.Fatalf("%s says %q of undecided effects:\n%s", form, words, s)
			}
			if !strings.Contains(s, in.text("verdict.undecided")) {
				t.Fatalf("%s does not say that it is undecided", form)
			}
		}
	})
}

var withheld = regexp.MustCompile(`(?m)^ *"(typical|total|own|p_value|p_adjusted)": null,?$`)

// TestJSON reads back what was written, with lists instead of null; null is for numbers alone
// that are withheld.
func TestJSON(t *testing.T) {
	for name, e := range fixtures() {
		var b bytes.Buffer
		if err := export.JSON(&b, answered(e)); err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^ *"(\w+)": null`).FindStringSubmatch(withheld.ReplaceAllString(b.String(), "")) != nil {
			t.Errorf("%s: null in\n%s", name, b.String())
		}
		var back record.Effects
		if err := json.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		if back.Schema != record.EffectsSchema || len(back.Effects) != len(e.Effects) {
			t.Errorf("%s: read back %q with %d effects", name, back.Schema, len(back.Effects))
		}
		for _, key := range []string{"workloads", "arms", "effects", "steps", "remainder", "twin", "kernel", "left_out", "warnings"} {
			if !regexp.MustCompile(`(?m)^  "` + key + `": \[`).MatchString(b.String()) {
				t.Errorf("%s: %s is no list", name, key)
			}
		}
	}
	e := richRun()
	e.Effects[0].Typical.Ratio = math.NaN()
	if err := export.JSON(&bytes.Buffer{}, answered(e)); err == nil {
		t.Error("a NaN must be an error: JSON has no word for it")
	}
}

func drawP(t *rapid.T) *float64 {
	if rapid.Bool().Draw(t, "no test") {
		return nil
	}
	return new(drawFloat().Draw(t, "p"))
}
