package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Progress is where a workload stands between two generations.
type Progress struct {
	// Done says that every arm's interval is as narrow as asked for, or a tenth
	// of its effect.
	Done bool
	// Opaque says that the transparency check failed, Why how.
	Opaque bool
	Why    string
	Arms   []Standing
}

// Standing is an arm's effect on the primary metric so far.
type Standing struct {
	Arm   string
	Ratio float64 // arm over baseline
	Half  float64 // half-width of the simultaneous interval, in logs; +Inf when unknown
}

// Kept is what Running needs of a line. A window in the record is some kilobytes,
// most of them probes; a run of many short ones would grow by all of them.
func Kept(load record.Workload, line record.Line) record.Line {
	if line.Block == nil {
		return line
	}
	b := *line.Block
	b.Windows = make([]record.Window, len(line.Block.Windows))
	for i := range b.Windows {
		w := &line.Block.Windows[i]
		k := record.Window{Arm: w.Arm, Start: w.Start, Seconds: w.Seconds, Ops: w.Ops}
		if m, ok := metrics[load.Primary]; ok && m.quantile > 0 {
			k.Latency = w.Latency
		}
		if x, ok := w.Probes[CPUMetric]; ok && load.Primary == "cpu_per_op" {
			k.Probes = map[string]record.Value{CPUMetric: x}
		}
		if x, ok := w.Values[load.Primary]; ok {
			k.Values = map[string]record.Value{load.Primary: x}
		}
		b.Windows[i] = k
	}
	line.Block = &b
	return line
}

// Running looks at what a workload has so far. precision is the half-width to
// reach and margin the smallest effect that matters, both as ratios.
func Running(load record.Workload, lines []record.Line, precision, margin float64) Progress {
	t := tabulate(load, lines)
	m, ok := metricOf(load, load.Primary)
	if !ok {
		return Progress{} // of a later tare
	}
	var columns [][]float64
	var out Progress
	for _, a := range t.arms {
		if a == load.Baseline {
			continue
		}
		d, unit := t.blocks(a, m)
		columns = append(columns, t.overBlocks(trimmed(d), unit).known())
		out.Arms = append(out.Arms, Standing{Arm: a, Ratio: 1, Half: math.Inf(1)})
	}
	joint := stat.Family(columns)
	rule := t.rule(math.Log1p(precision))
	out.Done = len(columns) > 0 && rule.Looks(t.units)
	for i := range out.Arms {
		e := joint.Columns[i]
		half := joint.Interval(i, t.level()).Half()
		if !math.IsNaN(e.Mean) {
			out.Arms[i].Ratio, out.Arms[i].Half = math.Exp(e.Mean), half
		}
		if !(half <= rule.Goal(e)) {
			out.Done = false
		}
	}
	if c := transparency(t.checks, margin); c.Known && !c.OK && len(t.checks) >= 3 {
		out.Opaque, out.Why = true, c.Text
	}
	return out
}
