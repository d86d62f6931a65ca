// Package metric is the only catalogue of metrics: name, unit, whether more is better, and the labels
// in reports. It does not know how a metric is computed or printed.
package metric

import (
	"slices"
	"strconv"

	"github.com/tarelab/tare/record"
)

// Metric is a number by which arms are compared.
type Metric struct {
	Name string // in records; unique
	Unit string // a base unit: "1/s", "s", "B/s", "ratio"
	// Better is +1 when more is better and -1 when less is.
	Better int
	// Quantile is the quantile of a latency, 0 to 1; 0 for other metrics.
	Quantile float64
	// Label is the metric in a sentence: "3 % less LABEL". Head heads a table's column. Both
	// default to the name.
	Label, Head string
	// Help is one line for people. Only metrics that a load adds up itself have it.
	Help string
}

// The metrics of loads that count operations, latencies or CPU time.
var (
	Throughput = Metric{Name: "throughput", Unit: "1/s", Better: +1, Label: "throughput", Head: "throughput"}
	P50        = Quantile(0.50)
	P95        = Quantile(0.95)
	P99        = Quantile(0.99)
	CPUPerOp   = Metric{Name: "cpu_per_op", Unit: "s", Better: -1, Label: "CPU time per operation", Head: "CPU/op"}
	// InstructionsPerOp and CyclesPerOp come from the CPU's performance counters, where the host has
	// them.
	InstructionsPerOp = Metric{Name: "instructions_per_op", Unit: "1", Better: -1, Label: "instructions per operation", Head: "instr/op"}
	CyclesPerOp       = Metric{Name: "cycles_per_op", Unit: "1", Better: -1, Label: "cycles per operation", Head: "cycles/op"}
)

// LeastBeyond is the least number of operations beyond a latency quantile in all windows of an arm; with fewer it is
// missing.
const LeastBeyond = 40

// Quantile is the latency quantile q, 0 to 1.
func Quantile(q float64) Metric {
	name := quantileName(q)
	return Metric{Name: name, Unit: "s", Better: -1, Quantile: q, Label: "latency (" + name + ")", Head: name}
}

// All lists the metrics that tare computes itself, in the order of display.
func All() []Metric {
	return []Metric{Throughput, P50, P95, P99, CPUPerOp, InstructionsPerOp, CyclesPerOp}
}

// Find finds a metric of a load by name. A metric that the load declares itself comes before one of
// the same name that tare computes.
func Find(declared []record.Metric, name string) (Metric, bool) {
	if i := slices.IndexFunc(declared, func(m record.Metric) bool { return m.Name == name }); i >= 0 {
		return Declared(declared[i]), true
	}
	all := All()
	if i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return all[i], true
	}
	return Metric{}, false
}

// Declared is a metric that a load declares itself.
func Declared(m record.Metric) Metric {
	return Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Label: m.Name, Head: m.Name, Help: m.Help}
}

// Record is the metric as a record describes it.
func (m Metric) Record() record.Metric {
	return record.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Help: m.Help}
}

// Better is +1 where more is better, -1 where less is, and 0 for an unknown metric.
func Better(declared []record.Metric, name string) int {
	m, _ := Find(declared, name)
	return m.Better
}

// reciprocal is the name by which the records of November 2026 call 1 over CPUPerOp.
const reciprocal = "efficiency"

// Judged lists the metrics of a load whose intervals hold simultaneously, as the plan fixed them. The
// plans of older records do not list them: there it is the primary metric, and, if that is throughput
// and the windows have CPU time (cpu), also CPU time per operation.
func Judged(load record.Workload, cpu bool) []string {
	switch {
	case len(load.Judged) > 0:
		return current(load.Judged)
	case load.Primary == Throughput.Name && cpu:
		return []string{Throughput.Name, CPUPerOp.Name}
	}
	return []string{load.Primary}
}

// Of lists the metrics of a load.
func Of(load record.Workload) []string { return current(load.Metrics) }

// current gives the metrics of a record today's names, each once.
func current(names []string) (out []string) {
	for _, n := range names {
		if n == reciprocal {
			n = CPUPerOp.Name
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// quantileName is the name of a latency quantile q (0 to 1): p99.9 for 0.999.
func quantileName(q float64) string { return "p" + strconv.FormatFloat(100*q, 'g', 6, 64) }
