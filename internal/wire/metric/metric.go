// Package metric is the catalogue of metrics: name, unit, direction and label of each number. It does
// not know how a metric is computed or printed.
package metric

import (
	"slices"
	"strconv"
	"strings"

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
	// Label is for sentences ("3 % less …"), Head for the head of a column; both are the name for
	// metrics of tools.
	Label, Head string
	// Help is one line for people about a value of a load.
	Help string
}

// The metrics of loads that count operations, latencies or CPU time.
var (
	Throughput = Metric{Name: "throughput", Unit: "1/s", Better: +1, Label: "throughput", Head: "throughput"}
	// Efficiency is operations per second of CPU time that the arm used.
	Efficiency = Metric{Name: "efficiency", Unit: "1/s", Better: +1, Label: "operations per CPU second", Head: "ops/CPU s"}
	P50        = quantile("p50", 0.50)
	P95        = quantile("p95", 0.95)
	P99        = quantile("p99", 0.99)
	// CPUPerOp is 1 over Efficiency.
	CPUPerOp = Metric{Name: "cpu_per_op", Unit: "s", Better: -1, Label: "CPU time per operation", Head: "CPU/op"}
	// Hardware counters, where the CPU has them.
	InstructionsPerOp = Metric{Name: "instructions_per_op", Unit: "1", Better: -1, Label: "instructions per operation", Head: "instr/op"}
	CyclesPerOp       = Metric{Name: "cycles_per_op", Unit: "1", Better: -1, Label: "cycles per operation", Head: "cycles/op"}
)

func quantile(name string, q float64) Metric {
	return Metric{Name: name, Unit: "s", Better: -1, Quantile: q, Label: "latency (" + name + ")", Head: name}
}

// All are the metrics that tare computes itself, in the order of reports.
func All() []Metric {
	return []Metric{Throughput, Efficiency, P50, P95, P99, CPUPerOp, InstructionsPerOp, CyclesPerOp}
}

// Find is a metric by name: one of those that the load reports itself, or one that tare computes.
func Find(reported []record.Metric, name string) (Metric, bool) {
	if i := slices.IndexFunc(reported, func(m record.Metric) bool { return m.Name == name }); i >= 0 {
		return Said(reported[i]), true
	}
	all := All()
	if i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name }); i >= 0 {
		return all[i], true
	}
	return Metric{}, false
}

// Said is a metric that a load reports itself.
func Said(m record.Metric) Metric {
	return Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Label: m.Name, Head: m.Name, Help: m.Help}
}

// Record is the metric's description in a record.
func (m Metric) Record() record.Metric {
	return record.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Help: m.Help}
}

// Better is +1 for a metric of which more is better, -1 where less is better, and 0 for an unknown
// one. reported are the metrics that the load reports itself.
func Better(reported []record.Metric, name string) int {
	m, _ := Find(reported, name)
	return m.Better
}

// Judged are the metrics of a load whose intervals hold simultaneously, as the plan fixed them.
// Records of earlier versions have none: there it is the primary metric, and efficiency in addition
// to throughput if windows have CPU time (cpu).
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

// OfTool describes a metric in the output of another tool by its name: a rate, unless the name is that
// of a time, a share or a bandwidth.
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
