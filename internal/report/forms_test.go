package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/analysis/gate"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// evidence is what a generated record holds.
type evidence struct {
	seed              uint64
	launches, blocks  int
	noise, launchSD   float64 // standard deviations of logarithms
	effect, cpu       float64 // of the container, log ratios: throughput, CPU time per operation
	twin              float64 // log ratio of the twin
	stalls            float64 // share of the container's windows without an operation
	idle              float64 // the same of the baseline's
	odd               bool    // one launch of the container is at half speed
	drops             float64 // share of the container's windows that are dropped
	integers          bool    // all windows of an arm are equal
	operations, spell int     // of a window; blocks of a spell in which the container is 30 % slower, 0: none
}

// drawEvidence draws records from plain ones to hostile ones.
func drawEvidence(t *rapid.T) evidence {
	some := func(name string, values ...float64) float64 { return rapid.SampledFrom(values).Draw(t, name) }
	return evidence{
		seed: rapid.Uint64().Draw(t, "seed"), launches: rapid.IntRange(1, 8).Draw(t, "launches"), blocks: rapid.IntRange(1, 20).Draw(t, "blocks"),
		noise: some("noise", 0.003, 0.01, 0.05, 0.3), launchSD: some("launch SD", 0, 0.002, 0.05),
		effect: some("effect", 0, 0, -0.002, -0.03, -0.3, 0.05), cpu: some("cpu", 0, 0, 0.04, -0.05), twin: some("twin", 0, 0, 0, -0.05),
		stalls: some("stalls", 0, 0, 0.03, 0.2, 0.6), idle: some("idle", 0, 0, 0, 0.1, 1), odd: rapid.IntRange(0, 4).Draw(t, "odd") == 0,
		drops: some("drops", 0, 0, 0.25), integers: rapid.IntRange(0, 9).Draw(t, "equal") == 0,
		operations: rapid.SampledFrom([]int{2000, 2000, 100, 3}).Draw(t, "operations"), spell: rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "spell"),
	}
}

// result is the record with this evidence.
func (g evidence) result() *record.Result {
	rng := rand.New(rand.NewPCG(g.seed, 40))
	names := []string{"host", "twin", "container"}
	load := record.Workload{Name: "oltp", Kind: "oltp", Primary: "throughput", Baseline: "host", Metrics: []string{"throughput", "cpu_per_op"}, Question: "container"}
	for _, n := range names {
		load.Arms = append(load.Arms, record.Arm{Name: n, Environment: n, Twin: n == "twin"})
	}
	r := &record.Result{Dir: "generated", Manifest: record.Manifest{Schema: record.ManifestSchema},
		Plan: record.Plan{Schema: record.PlanSchema, Experiment: "quick", Seed: g.seed, Margin: 0.05, Precision: 0.05, Workloads: []record.Workload{load}}}
	at := 0.0
	add := func(l record.Line) {
		l.Time = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(at * 1e9))
		r.Lines = append(r.Lines, l)
	}
	add(record.Line{Run: &record.Run{Schema: record.RecordSchema, Seed: g.seed}})
	for launch := range g.launches {
		own := []float64{g.launchSD * rng.NormFloat64(), g.launchSD * rng.NormFloat64(), g.launchSD * rng.NormFloat64()}
		for b := range g.blocks {
			block := &record.Block{Workload: "oltp", Generation: launch, Number: b}
			for _, i := range rng.Perm(len(names)) {
				block.Windows = append(block.Windows, g.window(rng, names[i], own[i], at, launch, b))
				at += 0.22
			}
			add(record.Line{Block: block})
		}
	}
	add(record.Line{End: &record.End{Reason: "budget"}})
	return r
}

func (g evidence) window(rng *rand.Rand, arm string, launch, at float64, generation, block int) record.Window {
	y, cpu := launch+g.noise*rng.NormFloat64(), 100e-6
	idle := g.idle
	switch arm {
	case "twin":
		y += g.twin
	case "container":
		idle = g.stalls
		y, cpu = y+g.effect, cpu*math.Exp(g.cpu)
		if g.odd && generation == 0 {
			y -= math.Ln2
		}
		if g.spell > 0 && block%(2*g.spell) < g.spell {
			y -= 0.35
		}
	}
	if g.integers {
		y = 0
	}
	ops := uint64(float64(g.operations)*math.Exp(y) + rng.Float64())
	if g.integers {
		ops = uint64(g.operations)
	}
	if rng.Float64() < idle {
		ops = 0
	}
	w := record.Window{Arm: arm, Start: at, Seconds: 0.2, Ops: ops, First: ops / 2, FirstSeconds: 0.1,
		Probes: map[string]record.Value{"cpu.time": record.Number(cpu * float64(ops+1) * (1 + g.noise*rng.NormFloat64()/10))}}
	if arm == "container" && rng.Float64() < g.drops {
		w.Dropped = record.DropError
	}
	return w
}

// No form says less than another: text, Markdown, page, list, JSON, CSV and OpenMetrics have one word and one bound for a
// row, and tare check passes no limit that the bound exceeds. Check and JUnit find invalid what the text does.
func TestFormsAgree(t *testing.T) {
	words := map[record.Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		e, err := analysis.SoFar(drawEvidence(t).result())
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(e.Effects, func(x record.Effect) bool { return x.Metric == "throughput" && x.Arm == "container" })
		x := e.Effects[at]
		words[x.Verdict]++
		if len(e.Answer.Tables) != 1 || len(e.Answer.Tables[0].Rows) != 1 {
			t.Fatalf("%+v", e.Answer.Tables)
		}
		agree(t, e, x, e.Answer.Tables[0].Rows[0].Says)
		gateAgrees(t, e, x)
	})
	for _, v := range []record.Verdict{record.Undecided, record.Slower, record.Faster, record.NoDifference, record.NoLoss, record.Invalid} {
		if words[v] == 0 {
			t.Logf("no generated record is %v", v)
		}
	}
}

// markup matches a tag of HTML, and the bold and faint marks of Markdown.
var markup = regexp.MustCompile(`<[^>]*>|[*_]{2}`)

// unspaced is a text without white space.
func unspaced(s string) string { return strings.Join(strings.Fields(s), "") }

// agree compares what the forms print of one effect.
func agree(t *rapid.T, e *record.Effects, x record.Effect, says record.Says) {
	if string(says.Word) != x.Verdict.String() || says.Bound != x.AtMost || says.Seconds != x.Needed {
		t.Fatalf("row %+v, effect %v at most %v, %v s more", says, x.Verdict, x.AtMost, x.Needed)
	}
	row := english.answerCell(e.Answer.Tables[0].Rows[0]).text
	bound := ""
	if x.AtMost > 0 && (!x.Verdict.Differs() && x.Verdict != record.Invalid || x.Farther()) {
		bound = percentUp(x.AtMost)
	}
	if !strings.Contains(row, bound) {
		t.Fatalf("%q is without %q", row, bound)
	}
	for _, form := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return english.Text(b, e, Options{Width: 160}) },
		func(b *bytes.Buffer) error { return english.Text(b, e, Options{Width: 160, Verbose: true}) },
		func(b *bytes.Buffer) error { return english.Markdown(b, e, nil) },
		func(b *bytes.Buffer) error { return english.HTML(b, e, Source{}) },
	} {
		if got := unspaced(html.UnescapeString(markup.ReplaceAllString(printed(t, form), ""))); !e.Answer.Busy && !strings.Contains(got, unspaced(row)) {
			t.Fatalf("no %q in a form: %.900s", row, got[max(0, strings.Index(got, "95%")):])
		}
	}
	list := english.Sentence(e)
	if word := strings.ReplaceAll(x.Verdict.String(), "_", " "); !strings.Contains(list, word) || x.AtMost > 0 && !x.Verdict.Differs() && x.Verdict != record.Invalid && !strings.Contains(list, percentUp(x.AtMost)) {
		t.Fatalf("%v at most %v in %q", x.Verdict, x.AtMost, list)
	}
	var asJSON struct {
		Effects []struct {
			Verdict string  `json:"verdict"`
			AtMost  float64 `json:"at_most"`
		} `json:"effects"`
	}
	at := slices.IndexFunc(e.Effects, func(y record.Effect) bool { return y.Metric == x.Metric && y.Arm == x.Arm })
	b, err := json.Marshal(e)
	if err != nil || json.Unmarshal(b, &asJSON) != nil || asJSON.Effects[at].Verdict != x.Verdict.String() || asJSON.Effects[at].AtMost != x.AtMost {
		t.Fatalf("JSON %+v, %v", asJSON, err)
	}
	records, err := csv.NewReader(strings.NewReader(printed(t, func(b *bytes.Buffer) error { return export.CSV(b, e) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) string { return records[1+at][slices.Index(records[0], name)] }
	if most, _ := strconv.ParseFloat(column("at_most"), 64); column("verdict") != x.Verdict.String() || math.Abs(most-x.AtMost) > 1e-8 {
		t.Fatalf("CSV %v", records[1+at])
	}
	metrics := printed(t, func(b *bytes.Buffer) error { return export.OpenMetrics(b, e) })
	if want := fmt.Sprintf(`metric="throughput",arm="container",baseline="host",verdict=%q} 1`, x.Verdict); !strings.Contains(metrics, want) {
		t.Fatalf("no %s", want)
	}
}

// gateAgrees asks tare check with limits around the bound.
func gateAgrees(t *rapid.T, e *record.Effects, x record.Effect) {
	for _, most := range []float64{0, x.AtMost * 0.99, min(x.AtMost*1.01+1e-9, 0.999), 0.9} {
		g, err := gate.Judge(e, []record.Limit{{Metric: "throughput", Most: most}}, gate.Selection{Arms: []string{"container"}})
		if errors.Is(err, gate.ErrNothing) && x.Typical == nil {
			continue // it has an exit code of its own, and is no pass
		} else if err != nil {
			t.Fatal(err)
		}
		loss := math.Inf(1)
		if x.Bound != nil {
			loss = 1 - x.Bound.Low
		}
		switch {
		case (x.Verdict == record.Invalid) != (g.Answer == record.AnswerInvalid):
			t.Fatalf("check %v of %v", g.Answer, x.Verdict)
		case (g.Answer == record.AnswerPass) != (x.Verdict != record.Invalid && loss <= most):
			t.Fatalf("check %v of limit %v where %v at most %v", g.Answer, most, x.Verdict, loss)
		case g.Answer == record.AnswerExceeded && x.Bound.High > 1-most && !(x.Intermittent && x.Total.High < 1-most):
			t.Fatalf("check %v of limit %v, bound %+v", g.Answer, most, x.Bound)
		}
		junit := printed(t, func(b *bytes.Buffer) error { return JUnit(b, g) })
		if green := !strings.Contains(junit, "<failure") && !strings.Contains(junit, "<error"); green != (g.Answer == record.AnswerPass) {
			t.Fatalf("JUnit is green: %v, check %v", green, g.Answer)
		}
	}
}
