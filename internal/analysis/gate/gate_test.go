package gate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// effect makes an effect of the workload "db" with this ratio and interval.
func effect(metric, arm string, ratio, low, high float64) record.Effect {
	r := &record.Ratio{Ratio: ratio, Low: low, High: high, DF: 9}
	r.SE = math.Log(high/low) / 2 / 2.262 // Student's t, 95 %, 9 degrees of freedom
	return record.Effect{Workload: "db", Metric: metric, Arm: arm, Baseline: "host",
		Typical: r, Total: r, Own: r, Bound: r, Blocks: 40, Generations: 10}
}

func effects(list ...record.Effect) *record.Effects {
	return &record.Effects{
		Experiment: "quick", Seed: 7, Started: "2026-11-21T08:00:00Z", Ended: "budget",
		Workloads: []record.WorkloadResult{{Name: "db", Primary: "throughput", Baseline: "host", Seconds: 60, Generations: 10,
			Values: []record.Metric{{Name: "hits", Unit: "ratio", Better: +1}, {Name: "stalls", Unit: "1/s", Better: -1}}}},
		Effects: list,
		Twin:    []record.Effect{effect("throughput", "twin", 1, 0.99, 1.01)},
		Left:    []record.Left{{Arm: "nat", Reason: record.InProse("no nftables"), Remedy: record.InProse("run as root")}},
	}
}

func limit(metric string, most float64) record.Limit { return record.Limit{Metric: metric, Most: most} }

// The bound of the interval decides, in the direction of the metric.
func TestTheBoundDecides(t *testing.T) {
	for _, c := range []struct {
		name   string
		effect record.Effect
		limit  float64
		want   record.Answer
	}{
		{"throughput, all below", effect("throughput", "a", 0.90, 0.88, 0.94), 0.05, record.AnswerExceeded},
		{"throughput, estimate below, bound not", effect("throughput", "a", 0.90, 0.84, 0.96), 0.05, record.AnswerUndecided},
		{"throughput, estimate above, bound not", effect("throughput", "a", 0.97, 0.94, 0.99), 0.05, record.AnswerUndecided},
		{"throughput, all above", effect("throughput", "a", 0.97, 0.96, 0.98), 0.05, record.AnswerPass},
		{"throughput, a gain passes", effect("throughput", "a", 1.30, 1.20, 1.40), 0, record.AnswerPass},
		{"throughput, bound on the limit", effect("throughput", "a", 0.97, 0.95, 0.99), 0.05, record.AnswerPass},
		{"latency, all above", effect("p99", "a", 1.30, 1.20, 1.40), 0.1, record.AnswerExceeded},
		{"latency, holds the limit", effect("p99", "a", 1.30, 1.05, 1.60), 0.1, record.AnswerUndecided},
		{"latency, all below", effect("p99", "a", 1.02, 0.98, 1.06), 0.1, record.AnswerPass},
		{"latency, lower passes", effect("p50", "a", 0.5, 0.4, 0.6), 0, record.AnswerPass},
		{"latency may more than double", effect("p50", "a", 3.5, 3.2, 3.8), 1.5, record.AnswerExceeded},
		{"CPU, all above", effect("cpu_per_op", "a", 1.2, 1.1, 1.3), 0.05, record.AnswerExceeded},
		{"said, more is better", effect("hits", "a", 0.8, 0.7, 0.9), 0.05, record.AnswerExceeded},
		{"said, less is better", effect("stalls", "a", 0.8, 0.7, 0.9), 0.05, record.AnswerPass},
	} {
		g, err := Judge(effects(c.effect), []record.Limit{limit(c.effect.Metric, c.limit)}, Selection{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if j := g.Judgements[0]; j.Answer != c.want || g.Answer != c.want || len(g.Judgements) != 1 {
			t.Errorf("%s: %+v of %+v, want %v", c.name, j, j.Cost, c.want)
		}
	}
}

// An effect without a bound, as with fewer than four launches, decides nothing; its time is the effect's.
func TestWithoutABound(t *testing.T) {
	for _, high := range []float64{0.9, 1.01} { // exceeded and pass
		x := effect("throughput", "a", high-0.01, high-0.02, high)
		x.Bound, x.Reason, x.Needed = nil, record.InProse("a verdict needs 4 launches, 2 were made"), 30
		g, err := Judge(effects(x), []record.Limit{limit("throughput", 0.05)}, Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if j := g.Judgements[0]; g.Answer != record.AnswerUndecided || j.Needed != 30 || j.Reason != x.Reason || g.Needed != 30 {
			t.Errorf("%+v, needed %v", j, g.Needed)
		}
	}
}

// A limit passes only where the whole interval is within it.
func TestPassIsOnlyWhatIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(0.3, 2).Draw(t, "low")
		high := low + rapid.Float64Range(0, 1).Draw(t, "width")
		most := rapid.Float64Range(0, 0.99).Draw(t, "most")
		metric := rapid.SampledFrom([]string{"throughput", "p95"}).Draw(t, "metric")
		x := effect(metric, "a", (low+high)/2, low, high)
		x.Verdict = record.Verdict(rapid.IntRange(0, int(record.NoLoss)).Draw(t, "verdict"))
		x.Intermittent = rapid.Bool().Draw(t, "intermittent")
		g, err := Judge(effects(x), []record.Limit{limit(metric, most)}, Selection{})
		if err != nil {
			t.Fatal(err)
		}
		within := low >= 1-most
		if metric == "p95" {
			within = high <= 1+most
		}
		if want := within && x.Verdict != record.Invalid; (g.Answer == record.AnswerPass) != want {
			t.Fatalf("%v for [%g, %g] of %s, limit %g, verdict %v", g.Answer, low, high, metric, most, x.Verdict)
		}
	})
}

// Invalid data and missing numbers never pass, and one of them is enough.
func TestWhatIsNotKnownNeverPasses(t *testing.T) {
	good := effect("throughput", "a", 1, 0.99, 1.01)
	invalid := effect("throughput", "b", 1, 0.99, 1.01)
	invalid.Verdict, invalid.Reason = record.Invalid, record.InProse("9 of 40 blocks had to be dropped")
	missing := record.Effect{Workload: "db", Metric: "throughput", Arm: "c", Baseline: "host", Reason: record.Say("no_window"), Needed: 30}
	strange := effect("throughput", "d", 1, math.NaN(), math.NaN())
	unknown := effect("colour", "e", 1, 0.99, 1.01)
	for name, c := range map[string]struct {
		x    record.Effect
		want record.Answer
	}{
		"invalid": {invalid, record.AnswerInvalid}, "missing": {missing, record.AnswerUndecided},
		"not a number": {strange, record.AnswerUndecided}, "unknown direction": {unknown, record.AnswerUndecided},
	} {
		limits := []record.Limit{limit("throughput", 0.5)}
		if c.x.Metric != "throughput" {
			limits = append(limits, limit(c.x.Metric, 0.5))
		}
		g, err := Judge(effects(good, c.x), limits, Selection{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if j := g.Judgements[1]; g.Answer != c.want || j.Answer != c.want || j.Reason.IsZero() {
			t.Errorf("%s: %v, %+v", name, g.Answer, j)
		}
	}
}

// A loss in bursts is not in the typical effect; the total one is judged too.
func TestBurstsCount(t *testing.T) {
	x := effect("throughput", "a", 0.99, 0.98, 1.0)
	x.Total = effect("throughput", "a", 0.80, 0.75, 0.85).Total
	x.Bound = effect("throughput", "a", 0.99, 0.75, 1.0).Total
	limits := []record.Limit{limit("throughput", 0.05)}
	g, err := Judge(effects(x), limits, Selection{})
	if err != nil || g.Answer != record.AnswerUndecided {
		t.Fatalf("not intermittent: %v, %v", g, err)
	}
	x.Intermittent = true
	g, err = Judge(effects(x), limits, Selection{})
	if err != nil || g.Answer != record.AnswerExceeded || !g.Judgements[0].Total {
		t.Fatalf("intermittent: %+v, %v", g, err)
	}
	x.Total = nil
	if g, err = Judge(effects(x), limits, Selection{}); err != nil || g.Answer != record.AnswerUndecided {
		t.Fatalf("intermittent, total not known: %+v, %v", g, err)
	}
}

// The worst answer is the answer of all, in any order.
func TestTheWorstAnswerCounts(t *testing.T) {
	for answers, want := range map[string]record.Answer{
		"pp": record.AnswerPass, "pu": record.AnswerUndecided, "pi": record.AnswerInvalid, "ui": record.AnswerInvalid,
		"pe": record.AnswerExceeded, "ie": record.AnswerExceeded, "ue": record.AnswerExceeded, "eupi": record.AnswerExceeded,
	} {
		for range 2 {
			var js []record.Judgement
			for _, r := range answers {
				js = append(js, record.Judgement{Answer: record.Answer(strings.IndexRune("upei", r))})
			}
			if got := overall(js); got != want {
				t.Errorf("%s: %v, want %v", answers, got, want)
			}
			answers = answers[1:] + answers[:1]
		}
	}
}

// The time to decide grows as the estimate nears the limit, and suffices for an interval of this
// scatter.
func TestTimeToDecide(t *testing.T) {
	last := 0.0
	for _, most := range []float64{0.10, 0.08, 0.06, 0.055} {
		x := effect("throughput", "a", 0.95, 0.88, 1.03)
		g, err := Judge(effects(x), []record.Limit{limit("throughput", most)}, Selection{})
		if err != nil {
			t.Fatal(err)
		}
		needed := g.Judgements[0].Needed
		if g.Answer != record.AnswerUndecided || !(needed > last) || g.Needed != needed {
			t.Errorf("limit %g: %v s after %v s for a farther one (%v)", most, needed, last, g.Answer)
		}
		// By the square root: never less than what the width alone asks for
		// when degrees of freedom are many, and of the same order.
		half, want := math.Log(1.03/0.88)/2, 0.8*math.Abs(math.Log(0.95/(1-most)))
		root := 60 * (math.Pow(half/want, 2) - 1)
		if needed < 0.6*root || needed > 1.1*root+6 {
			t.Errorf("limit %g: %v s, the square root law says %v s", most, needed, root)
		}
		last = needed
	}
}

func TestAnEmptySetNeverPasses(t *testing.T) {
	whole := effects(effect("throughput", "a", 1, 0.99, 1.01), effect("p50", "container", 1, 0.99, 1.01))
	bare := effects()
	lost := effects(record.Effect{Workload: "db", Metric: "throughput", Arm: "a", Baseline: "host", Reason: record.Say("no_window")})
	for name, c := range map[string]struct {
		e      *record.Effects
		limits []record.Limit
		s      Selection
		is     error
		text   string
		remedy string
	}{
		"no limit":             {whole, nil, Selection{}, ErrAsked, "no limit", "--max-cost throughput=5%"},
		"no such metric":       {whole, []record.Limit{limit("thruoghput", 0.1)}, Selection{}, ErrAsked, `did you mean "throughput"?`, ""},
		"no such arm":          {whole, []record.Limit{limit("p50", 0.1)}, Selection{Arms: []string{"contaner"}}, ErrAsked, `did you mean "container"?`, ""},
		"no such workload":     {whole, []record.Limit{limit("p50", 0.1)}, Selection{Workloads: []string{"dd"}}, ErrAsked, `did you mean "db"?`, ""},
		"arm left out":         {whole, []record.Limit{limit("p50", 0.1)}, Selection{Arms: []string{"nat"}}, ErrAsked, "skipped: no nftables", "run as root"},
		"baseline":             {whole, []record.Limit{limit("p50", 0.1)}, Selection{Arms: []string{"host"}}, ErrAsked, "is the baseline", ""},
		"twin":                 {whole, []record.Limit{limit("p50", 0.1)}, Selection{Arms: []string{"twin"}}, ErrAsked, "noise", ""},
		"metric of other arms": {whole, []record.Limit{limit("p50", 0.1)}, Selection{Arms: []string{"a"}}, ErrAsked, "valid: throughput", ""},
		"negative":             {whole, []record.Limit{limit("p50", -0.1)}, Selection{}, ErrAsked, "negative", ""},
		"not a number":         {whole, []record.Limit{limit("p50", math.NaN())}, Selection{}, ErrAsked, "negative", ""},
		"passes everything":    {whole, []record.Limit{limit("throughput", 1)}, Selection{}, ErrAsked, "pass everything", ""},
		"twice":                {whole, []record.Limit{limit("p50", 0.1), limit("p50", 0.2)}, Selection{}, ErrAsked, "two limits", ""},
		"no effect":            {bare, []record.Limit{limit("p50", 0.1)}, Selection{}, ErrNothing, "no effect", "tare report"},
		"nothing measured":     {lost, []record.Limit{limit("throughput", 0.1)}, Selection{}, ErrNothing, "no window of this arm counts", "--budget"},
	} {
		g, err := Judge(c.e, c.limits, c.s)
		if g != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || !strings.Contains(hint.Of(err), c.remedy) {
			t.Errorf("%s: %v, %v (hint %q)", name, g, err, hint.Of(err))
		}
	}
}

// Skipped arms, metrics that a workload lacks, failed checks and a single launch are in the result.
func TestWhatIsMissingIsSaid(t *testing.T) {
	e := effects(effect("throughput", "a", 1, 0.99, 1.01))
	second := effect("p50", "a", 1, 0.99, 1.01)
	second.Workload = "other"
	e.Effects = append(e.Effects, second)
	e.Workloads = append(e.Workloads, record.WorkloadResult{Name: "other", Generations: 1,
		Checks: []record.Checks{{Kind: "halves", Known: true, Text: record.InProse("-4 %")}, {Kind: "order", Known: false}}})
	g, err := Judge(e, []record.Limit{limit("throughput", 0.1), limit("p50", 0.1)}, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range g.Warnings {
		texts = append(texts, w.Workload+": "+said.English(w.Text))
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"db: no effect on p50", "other: no effect on throughput", "other: one launch only", "other: the check “halves” failed: -4 %"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if len(g.Left) != 1 || len(g.Warnings) != 4 {
		t.Errorf("%d left out, warnings\n%s", len(g.Left), all)
	}
}

// Where noise hides every interval the answer is undecided, with the time that would decide.
func TestNoiseIsNoAbsence(t *testing.T) {
	e := &record.Effects{
		Workloads: []record.WorkloadResult{{Name: "db", Baseline: "host", Primary: "throughput"}},
		Effects: []record.Effect{{Workload: "db", Metric: "throughput", Arm: "container", Baseline: "host",
			Verdict: record.Undecided, Reason: record.InProse("the noise is too large"), Blocks: 24, Needed: 60}},
	}
	g, err := Judge(e, []record.Limit{limit("throughput", 0.1)}, Selection{})
	if err != nil || g.Answer != record.AnswerUndecided || g.Needed != 60 {
		t.Errorf("%+v, %v", g, err)
	}
}

// In a metric in which the question has no interval, as with too few operations, an arm exceeds a
// limit whatever the question does.
func TestAQuestionWithoutAnInterval(t *testing.T) {
	unknown := effect("p99", "container", 1, 1, 1)
	unknown.Typical, unknown.Bound, unknown.Reason = nil, nil, record.Say("few_beyond_quantile")
	e := effects(effect("p99", "rung", 1.3, 1.2, 1.4), unknown, effect("throughput", "container", 0.99, 0.98, 1.00))
	e.Workloads[0].Question, e.Workloads[0].Judged = "container", []string{"throughput", "p99"}
	g, err := Judge(e, []record.Limit{limit("throughput", 0.05), limit("p99", 0.1)}, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if j := g.Judgements[0]; j.Answer != record.AnswerExceeded || j.Unjudged || g.Answer != record.AnswerExceeded {
		t.Errorf("the rung is %v, unjudged %v (%s); in all %v", j.Answer, j.Unjudged, j.Reason, g.Answer)
	}
}

// A limit within the interval that is widened by dropped windows is undecided.
func TestDroppedWindowsMayHideIt(t *testing.T) {
	for name, c := range map[string]struct {
		typical, bound [3]float64
		want           record.Answer
	}{
		"a pass":         {[3]float64{0.97, 0.96, 0.98}, [3]float64{0.97, 0.93, 0.98}, record.AnswerUndecided},
		"that it is not": {[3]float64{0.92, 0.90, 0.94}, [3]float64{0.92, 0.90, 0.97}, record.AnswerUndecided},
		"nothing":        {[3]float64{0.92, 0.90, 0.94}, [3]float64{0.92, 0.88, 0.945}, record.AnswerExceeded},
	} {
		x := effect("throughput", "a", c.typical[0], c.typical[1], c.typical[2])
		x.Bound = effect("throughput", "a", c.bound[0], c.bound[1], c.bound[2]).Typical
		g, err := Judge(effects(x), []record.Limit{limit("throughput", 0.05)}, Selection{})
		if err != nil || g.Answer != c.want {
			t.Errorf("hides %s: %+v, %v", name, g, err)
		}
	}
}

// Where the question of the workload is judged too, another arm exceeds a limit only if the
// question does. Selected alone, an arm is judged by itself.
func TestTheQuestionComesFirst(t *testing.T) {
	for _, c := range []struct {
		question [3]float64
		arms     []string
		want     record.Answer
	}{
		{[3]float64{0.90, 0.88, 0.93}, nil, record.AnswerExceeded},
		{[3]float64{0.97, 0.92, 1.02}, nil, record.AnswerUndecided},
		{[3]float64{0.99, 0.98, 1.00}, nil, record.AnswerUndecided},
		{[3]float64{0.97, 0.92, 1.02}, []string{"rung"}, record.AnswerExceeded},
	} {
		e := effects(effect("throughput", "rung", 0.88, 0.84, 0.92), effect("throughput", "container", c.question[0], c.question[1], c.question[2]),
			effect("p99", "rung", 1.3, 1.2, 1.4))
		e.Workloads[0].Question, e.Workloads[0].Judged = "container", []string{"throughput"}
		g, err := Judge(e, []record.Limit{limit("throughput", 0.05), limit("p99", 0.1)}, Selection{Arms: c.arms})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range g.Judgements {
			switch {
			case j.Metric == "p99" && j.Answer != record.AnswerExceeded:
				t.Errorf("what is not judged with it is %v", j.Answer)
			case j.Metric == "throughput" && j.Arm == "rung" && (j.Answer != c.want || j.Unjudged != (c.want == record.AnswerUndecided)):
				t.Errorf("question %v: the rung is %v, unjudged %v (%s)", c.question, j.Answer, j.Unjudged, j.Reason)
			}
		}
	}
}
