// Package analysis turns a record into effects, the ladder and verdicts. It is
// pure: the files of a result are enough. It prints nothing.
//
// The unit that varies independently is the generation (one launch of all
// arms), or the block where there was only one. Every estimate is a mean of
// jackknife pseudo-values per unit, see pseudo.
package analysis

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Analyse computes everything that a report shows.
func Analyse(r *record.Result) (*record.Effects, error) {
	if len(r.Plan.Workloads) == 0 {
		return nil, fmt.Errorf("%s: the plan has no workload", r.Dir)
	}
	out := &record.Effects{
		Schema: record.EffectsSchema, Experiment: r.Plan.Experiment, Command: r.Plan.Command, Seed: r.Plan.Seed,
		Margin: r.Plan.Margin, Precision: r.Plan.Precision, Host: r.Manifest.Host,
		Left: r.Manifest.Left, Ended: "killed", Dropped: record.Dropped{Reasons: map[string]int{}},
	}
	if !r.Manifest.Started.IsZero() {
		out.Started = r.Manifest.Started.UTC().Format(time.RFC3339)
	}
	general(out, r)
	if r.Manifest.Imported != nil {
		analyseImported(out, r)
		return out, nil
	}
	if out.Self != (record.Self{}) {
		out.Self.Pods = podSwitches(r)
	}
	for _, load := range r.Plan.Workloads {
		t := tabulate(load, r.Lines)
		out.Dropped.Blocks += t.dropped
		out.Dropped.Of += t.dropped + len(t.rows)
		for reason, n := range t.reasons {
			out.Dropped.Reasons[reason] += n
		}
		analyseLoad(out, t, r)
	}
	return out, nil
}

// general takes over what the record says about the run as a whole.
func general(out *record.Effects, r *record.Result) {
	for _, l := range r.Lines {
		switch {
		case l.Warning != nil:
			out.Warnings = append(out.Warnings, *l.Warning)
		case l.End != nil:
			out.Ended, out.Self = l.End.Reason, l.End.Self
		}
	}
	if n := len(r.Lines); n > 0 {
		out.Seconds = r.Lines[n-1].Time.Sub(r.Lines[0].Time).Seconds()
	}
	if r.Torn {
		out.Warnings = append(out.Warnings, record.Warning{
			Text:   "the last line of the record is cut off, as a kill leaves it; it was left out",
			Remedy: "tare cleanup removes what the killed run left on the host",
		})
	}
}

func analyseLoad(out *record.Effects, t *table, r *record.Result) {
	arms(out, t, r.Manifest)
	out.Kernel = append(out.Kernel, kernel(t, r.Manifest.Probes)...)
	pairs := t.pairs()
	invalid := ""
	if n := t.dropped + len(t.rows); n > 0 && float64(t.dropped) > maxDropped*float64(n) && t.dropped > 1 {
		invalid = fmt.Sprintf("%d of %d blocks had to be dropped", t.dropped, n)
	}
	for i, name := range t.load.Metrics {
		m, ok := metricOf(t.load, name)
		if !ok {
			continue
		}
		c := compared{table: t, metric: m, pairs: pairs[name], primary: i == 0, margin: out.Margin, invalid: invalid, unequal: r.Manifest.Unequal}
		effects, twin := c.effects()
		out.Effects = append(out.Effects, effects...)
		out.Twin = append(out.Twin, twin...)
		steps, remainder := c.steps()
		out.Steps = append(out.Steps, steps...)
		out.Remainder = append(out.Remainder, remainder...)
	}
	out.Modes = append(out.Modes, modes(t)...)
	out.Prices = append(out.Prices, prices(t, pairs, out, invalid)...)
	out.Workloads = append(out.Workloads, result(out, t, pairs))
	out.Warnings = append(out.Warnings, unequalWarnings(r.Manifest.Unequal, t.load.Name)...)
	out.Warnings = append(out.Warnings, warnings(t, out)...)
}

// arms says what each arm did in the metrics' own units.
func arms(out *record.Effects, t *table, m record.Manifest) {
	for _, name := range t.arms {
		ws := t.windowsOf(name)
		a := record.ArmResult{
			Workload: t.load.Name, Arm: name, Title: t.arm(name).Title, Windows: len(ws),
			Values: map[string]record.Value{}, Settings: m.Settings[t.load.Name+"/"+name],
		}
		for _, w := range ws {
			a.Errors += w.Errors
			a.Cut += w.Cut
		}
		maps.Copy(a.Values, levels(t, name, ws))
		out.Arms = append(out.Arms, a)
	}
}

// levels is the metrics of an arm over all its windows.
func levels(t *table, arm string, ws []*record.Window) map[string]record.Value {
	out := map[string]record.Value{}
	if len(ws) == 0 {
		for _, name := range t.load.Metrics {
			out[name] = record.Missing("no window of this arm counts")
		}
		return out
	}
	ops, seconds, cpu := 0.0, 0.0, 0.0
	for _, w := range ws {
		ops += float64(w.Ops)
		seconds += w.Seconds
		x, ok := w.Probes[CPUMetric].Get()
		if !ok {
			x = math.NaN()
		}
		cpu += x
	}
	p := pool(t, arm)
	for _, name := range t.load.Metrics {
		m, _ := metricOf(t.load, name)
		switch {
		case metrics[name].one == nil:
			out[name] = meanSaid(name, ws)
		case name == "throughput":
			out[name] = record.Number(ops / seconds)
		case name == "cpu_per_op" && math.IsNaN(cpu):
			out[name] = record.Missing(t.whyNone(arm, m))
		case name == "cpu_per_op":
			out[name] = record.Number(cpu / ops)
		case float64(p.total)*(1-m.quantile) < tail:
			out[name] = record.Missing("too few operations beyond the quantile")
		default:
			out[name] = record.Number(p.quantiles([]float64{m.quantile}, -1, nil)[0])
		}
	}
	return out
}

// meanSaid is the mean over the windows of what the load said.
func meanSaid(name string, ws []*record.Window) record.Value {
	sum := 0.0
	for _, w := range ws {
		x, ok := w.Values[name].Get()
		if !ok {
			return w.Values[name]
		}
		sum += x
	}
	return record.Number(sum / float64(len(ws)))
}

// result is what holds for the workload as a whole.
func result(out *record.Effects, t *table, pairs map[string]map[string]pair) record.WorkloadResult {
	w := record.WorkloadResult{
		Name: t.load.Name, Title: t.load.Kind, Primary: t.load.Primary, Baseline: t.load.Baseline, Values: t.load.Values,
		Blocks: len(t.rows), Generations: t.generations(), Seconds: t.seconds, Pilot: t.pilot,
	}
	if d := pairs[t.load.Primary][twinOf(t.load)].d; len(d) > 1 {
		e := stat.Mean(d)
		w.WindowNoise = finite(e.SE * math.Sqrt(float64(e.N)))
	}
	for _, e := range out.Twin {
		if e.Workload == t.load.Name && e.Metric == t.load.Primary && e.Own != nil {
			w.NoiseFloor = math.Log(e.Own.High/e.Own.Low) / 2
		}
	}
	w.Checks = checks(t, pairs[t.load.Primary], out.Margin)
	return w
}

func twinOf(load record.Workload) string {
	for _, a := range load.Arms {
		if a.Twin {
			return a.Name
		}
	}
	return ""
}

// finite replaces what is not a number by 0, for fields where 0 means unknown.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
