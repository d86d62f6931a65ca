// Package metric is the one catalogue of metrics: what a number is called, in
// which unit it is, whether more of it is better, and what people call it. It
// knows nothing of how a metric is computed or printed.
package metric

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// Metric is one of the numbers that arms are compared by.
type Metric struct {
	Name string // in records; unique
	Unit string // a base unit: "1/s", "s", "B/s", "ratio"
	// Better is +1 when more is better and -1 when less is.
	Better int
	// Quantile is 0 to 1 for latencies that are quantiles, 0 for others.
	Quantile float64
	// Label fits into "costs 3 % of …", Head over a column; both are the name
	// where nothing better is known.
	Label, Head string
	// Help is one line for people, for numbers that a load adds up itself.
	Help string
}

// The metrics of loads that count operations, latencies or CPU time.
var (
	Throughput = Metric{Name: "throughput", Unit: "1/s", Better: +1, Label: "throughput", Head: "throughput"}
	// Efficiency is operations per second of CPU time that the arm itself used.
	Efficiency = Metric{Name: "efficiency", Unit: "1/s", Better: +1, Label: "operations per CPU second", Head: "ops/CPU s"}
	P50        = quantile("p50", 0.50)
	P95        = quantile("p95", 0.95)
	P99        = quantile("p99", 0.99)
	// CPUPerOp is 1 over Efficiency.
	CPUPerOp = Metric{Name: "cpu_per_op", Unit: "s", Better: -1, Label: "CPU time per operation", Head: "CPU/op"}
	// What the CPU counts, where it shows it.
	InstructionsPerOp = Metric{Name: "instructions_per_op", Unit: "1", Better: -1, Label: "instructions per operation", Head: "instr/op"}
	CyclesPerOp       = Metric{Name: "cycles_per_op", Unit: "1", Better: -1, Label: "cycles per operation", Head: "cycles/op"}
)

func quantile(name string, q float64) Metric {
	return Metric{Name: name, Unit: "s", Better: -1, Quantile: q, Label: "latency (" + name + ")", Head: name}
}

// All are the metrics that tare computes itself, in the order in which they are
// shown.
func All() []Metric {
	return []Metric{Throughput, Efficiency, P50, P95, P99, CPUPerOp, InstructionsPerOp, CyclesPerOp}
}

// Find is a metric of a load by name: one that tare computes, or one that the
// load says itself, which comes first.
func Find(said []record.Metric, name string) (Metric, bool) {
	if i := slices.IndexFunc(said, func(m record.Metric) bool { return m.Name == name }); i >= 0 {
		return Said(said[i]), true
	}
	all := All()
	if i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return all[i], true
	}
	return Metric{}, false
}

// Said is a metric that a load says itself.
func Said(m record.Metric) Metric {
	return Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Label: m.Name, Head: m.Name, Help: m.Help}
}

// Record is the description that a record keeps of a metric.
func (m Metric) Record() record.Metric {
	return record.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Help: m.Help}
}

// Better is +1 for a metric of which more is better, -1 where less is, and 0 for
// one that is not known.
func Better(said []record.Metric, name string) int {
	m, _ := Find(said, name)
	return m.Better
}

// Judged are the metrics of a load whose intervals hold together: what the plan
// fixed; in records of before that the primary one, and efficiency beside
// throughput where cpu says that windows have CPU time.
func Judged(load record.Workload, cpu bool) []string {
	switch {
	case len(load.Judged) > 0:
		return load.Judged
	case load.Primary == Throughput.Name && cpu:
		return []string{Throughput.Name, Efficiency.Name}
	}
	return []string{load.Primary}
}

// QuantileName is the name of a latency quantile q (0 to 1): p99.9 for 0.999.
func QuantileName(q float64) string { return "p" + strconv.FormatFloat(100*q, 'g', 6, 64) }

// OfTool describes a metric that the output of another tool has, by the way such
// names are made: a rate, unless the name says that it is a time or a bandwidth.
func OfTool(name string) Metric {
	if m, ok := Find(nil, name); ok {
		return m
	}
	m := Metric{Name: name, Unit: "1/s", Better: +1, Label: name, Head: name}
	last := name[strings.LastIndexByte(name, '_')+1:]
	switch {
	case strings.HasSuffix(name, "bandwidth"):
		m.Unit = "B/s"
	case strings.HasSuffix(name, "_share"):
		m.Unit, m.Better = "ratio", -1
	case len(last) > 1 && last[0] == 'p' && last[1]-'0' <= 9, strings.HasSuffix(name, "latency"),
		strings.HasSuffix(name, "latency_mean"), strings.HasSuffix(name, "time"):
		m.Unit, m.Better = "s", -1
	}
	return m
}
