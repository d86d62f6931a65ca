package export

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// OpenMetrics prints the effects as OpenMetrics text, version 1.0, which
// Prometheus and its node exporter's textfile collector read: gauges in base
// units, ratios with 1.0 for equal. No label names the run, so that a series
// of an experiment continues from run to run. An unknown value has no sample.
func OpenMetrics(w io.Writer, e *record.Effects) error {
	var out strings.Builder
	for _, f := range families(e) {
		f.write(&out)
	}
	out.WriteString("# EOF\n")
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write the effects as OpenMetrics: %w", err)
	}
	return nil
}

// family is a metric family of type gauge.
type family struct {
	name, unit, help string // if unit is not empty, name must end in it
	samples          []sample
	seen             map[string]bool // label sets: none may come twice
}

type sample struct {
	labels string
	value  float64
}

// labels are pairs of name and value, in the order in which they are printed.
type labels [][2]string

func (l labels) with(name, value string) labels {
	return append(slices.Clone(l), [2]string{name, value})
}

func (f *family) add(l labels, x float64) {
	set := l.String()
	if !quantity.Finite(x) || f.seen[set] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[set] = true
	f.samples = append(f.samples, sample{set, x})
}

func (l labels) String() string {
	pairs := make([]string, len(l))
	for i, p := range l {
		pairs[i] = p[0] + `="` + escapeLabel(p[1]) + `"`
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func (f *family) write(out *strings.Builder) {
	if len(f.samples) == 0 {
		return
	}
	fmt.Fprintf(out, "# TYPE %s gauge\n", f.name)
	if f.unit != "" {
		fmt.Fprintf(out, "# UNIT %s %s\n", f.name, f.unit)
	}
	fmt.Fprintf(out, "# HELP %s %s\n", f.name, f.help)
	for _, s := range f.samples {
		fmt.Fprintf(out, "%s%s %s\n", f.name, s.labels, number(s.value))
	}
}

// escapeLabel escapes the characters that the exposition format reserves in a label or a help
// text.
func escapeLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(Clean(s))
}

func families(e *record.Effects) []*family {
	out := ratioFamilies("effect", helpEffect, e, slices.Concat(e.Effects, e.Twin))
	out = append(out, verdictFamily(e), withheldFamily(e))
	out = append(out, ratioFamilies("step", helpStep, e, slices.Concat(e.Steps, e.Remainder))...)
	out = append(out, levelFamilies(e)...)
	return append(out, runFamilies(e)...)
}

func effectLabel(e *record.Effects, x record.Effect) labels {
	l := labels{{"experiment", e.Experiment}, {"workload", x.Workload}, {"metric", x.Metric}, {"arm", x.Arm}, {"baseline", x.Baseline}}
	if !x.Unequal.IsZero() {
		return l.with("unequal", "true")
	}
	return l
}

// ratioFamilies are three families: the ratio, and the lower and the upper end of its 95 % interval.
func ratioFamilies(what, help string, e *record.Effects, effects []record.Effect) []*family {
	name := "tare_" + what + "_ratio"
	ratio := &family{name: name, unit: "ratio", help: help}
	low := &family{name: name + "_low", help: helpLow(name)}
	high := &family{name: name + "_high", help: helpHigh(name)}
	for _, x := range effects {
		for _, r := range []struct {
			estimate string
			*record.Ratio
		}{{"typical", x.Typical}, {"total", x.Total}, {"bound", x.Bound}} {
			if r.Ratio == nil {
				continue
			}
			l := effectLabel(e, x).with("estimate", r.estimate)
			ratio.add(l, r.Ratio.Ratio)
			low.add(l, r.Low)
			high.add(l, r.High)
		}
	}
	return []*family{ratio, low, high}
}

// verdictFamily has a sample for every possible verdict of an effect, 1 or 0, so that no series ends when
// the verdict changes.
func verdictFamily(e *record.Effects) *family {
	f := &family{name: "tare_effect_verdict", help: helpVerdict}
	for _, x := range e.Effects {
		for v := record.Undecided; v <= record.LessCPU; v++ {
			is := 0.0
			if x.Verdict == v {
				is = 1
			}
			f.add(effectLabel(e, x).with("verdict", v.String()), is)
		}
	}
	return f
}

// withheldFamily has a sample for every effect without a ratio, with the reason.
func withheldFamily(e *record.Effects) *family {
	f := &family{name: "tare_effect_withheld", help: helpWithheld}
	for _, x := range slices.Concat(e.Effects, e.Twin) {
		if x.Typical == nil {
			f.add(effectLabel(e, x).with("reason", code(x.Reason)), 1)
		}
	}
	return f
}

// levelFamilies are the values of each arm in the metrics' own units, one family per metric and unit.
func levelFamilies(e *record.Effects) []*family {
	var order []string
	byName := map[string]*family{}
	for _, a := range e.Arms {
		for _, metric := range slices.Sorted(maps.Keys(a.Values)) {
			x, ok := a.Values[metric].Get()
			if !ok {
				continue
			}
			l := labels{{"experiment", e.Experiment}, {"workload", a.Workload}, {"arm", a.Arm}}
			f := levelFamily(metric, baseUnit(e, record.Effect{Workload: a.Workload, Metric: metric}))
			if m, ok := catalogue.Find(nil, metric); ok && f.name == latencyFamily {
				l = l.with("quantile", strconv.FormatFloat(m.Quantile, 'g', -1, 64))
			}
			if byName[f.name] == nil {
				byName[f.name], order = &f, append(order, f.name)
			}
			byName[f.name].add(l, x)
		}
	}
	slices.Sort(order)
	var out []*family
	for _, name := range order {
		out = append(out, byName[name])
	}
	return out
}

const latencyFamily = "tare_arm_latency_seconds"

func levelFamily(metric, unit string) family {
	m, ok := catalogue.Find(nil, metric)
	switch {
	case !ok || m.Unit != unit:
	case metric == catalogue.Throughput.Name:
		return family{name: "tare_arm_operations_per_second", unit: "operations_per_second", help: helpThroughput}
	case metric == catalogue.CPUPerOp.Name:
		return family{name: "tare_arm_cpu_seconds_per_operation", help: helpCPUPerOp}
	case m.Quantile > 0:
		return family{name: latencyFamily, unit: "seconds", help: helpLatency}
	}
	word := map[string]string{"s": "seconds", "B": "bytes", "1/s": "per_second", "B/s": "bytes_per_second", "ratio": "ratio"}[unit]
	name := "tare_arm_" + metricName(metric)
	if word != "" && !strings.HasSuffix(name, "_"+word) {
		name += "_" + word
	}
	return family{name: name, unit: word, help: helpValue(escapeLabel(metric))}
}

// metricName replaces characters that a metric name may not contain.
func metricName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, s)
}

// runFamilies are values of the whole run: noise floors, margin, start and host.
func runFamilies(e *record.Effects) []*family {
	noise := &family{name: "tare_noise_floor_ratio", unit: "ratio", help: helpNoise}
	for _, w := range e.Workloads {
		if w.NoiseFloor > 0 {
			noise.add(labels{{"experiment", e.Experiment}, {"workload", w.Name}}, w.NoiseFloor)
		}
	}
	all := labels{{"experiment", e.Experiment}}
	margin := &family{name: "tare_margin_ratio", unit: "ratio", help: helpMargin}
	margin.add(all, e.Margin)
	started := &family{name: "tare_run_started_timestamp_seconds", unit: "seconds", help: helpStarted}
	if t, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		started.add(all, float64(t.UnixMilli())/1e3)
	}
	host := &family{name: "tare_host_info", help: helpHost}
	host.add(labels{{"experiment", e.Experiment}, {"host", e.Host.Name}, {"kernel", e.Host.Kernel},
		{"cpu_model", e.Host.CPUModel}, {"cpus", strconv.Itoa(e.Host.CPUs)}}, 1)
	return []*family{noise, margin, started, host}
}
