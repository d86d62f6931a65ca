package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tarelab/tare/record"
)

// hostRuns has the deviations of the public data set of the same code on several machines: about 1 % between machines,
// 0.2 % between the runs of one.
func hostRuns(rng *rand.Rand, hosts, runs int, arm func(host, run int) string) []record.Observed {
	var out []record.Observed
	numbers := map[string]int{}
	for h := range hosts {
		machine := 1 + 0.01*rng.NormFloat64()
		for r := range runs {
			o := importedRun(arm(h, r), 0, nil)
			o.Number, o.Host = numbers[o.Arm], string(rune('a'+h))
			numbers[o.Arm]++
			o.Figures[0].Total = record.Number(100 * machine * (1 + 0.002*rng.NormFloat64()))
			o.Figures[0].Mean = o.Figures[0].Total
			out = append(out, o)
		}
	}
	return out
}

func importedEffect(t *testing.T, runs []record.Observed) record.Effect {
	t.Helper()
	r := &record.Result{Manifest: record.Manifest{Imported: &record.Imported{}}, Plan: record.Plan{Margin: 0.001, Workloads: []record.Workload{{Name: "x", Kind: "table",
		Primary: "throughput", Metrics: []string{"throughput"}, Baseline: "host", Arms: []record.Arm{{Name: "host"}, {Name: "pod"}}}}}}
	for i := range runs {
		r.Lines = append(r.Lines, record.Line{Observed: &runs[i]})
	}
	e, err := Analyse(r)
	if err != nil || len(e.Effects) != 1 {
		t.Fatal(err, e)
	}
	return e.Effects[0]
}

// The number of machines decides, not that of their runs: the same code on other machines is no difference.
func TestMachinesAreALevelAboveRuns(t *testing.T) {
	const draws = 2000
	rng := rand.New(rand.NewPCG(39, 4))
	for name, c := range map[string]struct {
		hosts, runs int
		arm         func(host, run int) string
		least, most float64 // share of intervals that miss 1
		none        bool    // there is no interval
	}{
		"runs of each machine dealt to both arms": {6, 6, func(_, r int) string { return []string{"host", "pod"}[r%2] }, 0.03, 0.07, false},
		"dealt at random":                         {6, 6, func(_, r int) string { return []string{"host", "pod"}[rng.IntN(2)] }, 0.02, 0.07, false},
		"two machines, one of each arm":           {2, 5, func(h, _ int) string { return []string{"host", "pod"}[h] }, 0, 0, true},
		"two machines with both arms":             {2, 10, func(_, r int) string { return []string{"host", "pod"}[r%2] }, 0, 0, true},
		"four machines, two of each arm":          {4, 5, func(h, _ int) string { return []string{"host", "pod"}[h%2] }, 0, 0, true},
		"twelve machines, six of each arm":        {12, 5, func(h, _ int) string { return []string{"host", "pod"}[h%2] }, 0.03, 0.07, false},
		"one machine":                             {1, 12, func(_, r int) string { return []string{"host", "pod"}[r%2] }, 0.03, 0.07, false},
	} {
		missed, verdicts := 0, 0
		for range draws {
			e := importedEffect(t, hostRuns(rng, c.hosts, c.runs, c.arm))
			if e.Typical != nil && (e.Typical.Low > 1 || e.Typical.High < 1) {
				missed++
			}
			if e.Verdict.Differs() {
				verdicts++
			}
			if c.none && (e.Typical != nil || e.Verdict != record.Undecided || e.Reason.IsZero() || math.Abs(e.Observed-1) > 0.2) {
				t.Fatalf("%s: %+v", name, e)
			}
		}
		if share := float64(missed) / draws; share < c.least || share > c.most || float64(verdicts) > c.most*draws {
			t.Errorf("%s: %.3f of the intervals miss 1, %d verdicts", name, share, verdicts)
		}
	}
}
