package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/tarelab/tare/record"
)

// CSV prints one line per effect, step, remainder and twin, in base units:
// seconds, operations per second, ratios with 1.0 for equal. What is not
// known is empty. Columns are only ever added, at the end. Of a price matrix
// there are lines of the kinds regained, whose typical columns are the share of
// the loss, and neighbour, whose total columns are its work over that without
// isolation; their verdict is the row's standing.
func CSV(w io.Writer, e *record.Effects) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"kind", "workload", "metric", "unit", "arm", "baseline", "arm_value", "baseline_value",
		"typical_ratio", "typical_low", "typical_high", "total_ratio", "total_low", "total_high",
		"own_ratio", "own_low", "own_high", "verdict", "reason", "exploratory", "p_value", "p_adjusted",
		"blocks", "generations", "detectable", "needed_seconds", "slow_windows", "intermittent", "unequal", "seed",
	})
	values := armValues(e)
	for _, list := range []struct {
		kind    string
		effects []record.Effect
	}{{"effect", e.Effects}, {"step", e.Steps}, {"remainder", e.Remainder}, {"twin", e.Twin}} {
		for _, x := range list.effects {
			out.Write(csvRow(list.kind, x, baseUnit(e, x), values, e.Seed))
		}
	}
	for _, line := range csvPrices(e, values) {
		out.Write(line)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the effects as CSV: %w", err)
	}
	return nil
}

type armMetric struct{ workload, arm, metric string }

func armValues(e *record.Effects) map[armMetric]record.Value {
	m := map[armMetric]record.Value{}
	for _, a := range e.Arms {
		for name, v := range a.Values {
			m[armMetric{a.Workload, a.Arm, name}] = v
		}
	}
	return m
}

func csvRow(kind string, x record.Effect, unit string, values map[armMetric]record.Value, seed uint64) []string {
	line := []string{
		kind, x.Workload, x.Metric, unit, x.Arm, x.Baseline,
		csvValue(values[armMetric{x.Workload, x.Arm, x.Metric}]),
		csvValue(values[armMetric{x.Workload, x.Baseline, x.Metric}]),
	}
	for _, r := range []*record.Ratio{x.Typical, x.Total, x.Own} {
		if r == nil {
			line = append(line, "", "", "")
			continue
		}
		line = append(line, csvNumber(r.Ratio), csvNumber(r.Low), csvNumber(r.High))
	}
	return append(line,
		x.Verdict.String(), x.Reason, strconv.FormatBool(x.Exploratory),
		csvNumber(x.P), csvNumber(x.Adjusted), strconv.Itoa(x.Blocks), strconv.Itoa(x.Generations),
		csvKnown(x.Detectable), csvNumber(x.Needed), csvKnown(x.Slow),
		strconv.FormatBool(x.Intermittent), x.Unequal, strconv.FormatUint(seed, 10))
}

func baseUnit(e *record.Effects, x record.Effect) string {
	for _, w := range e.Workloads {
		for _, v := range w.Values {
			if w.Name == x.Workload && v.Name == x.Metric {
				return v.Unit
			}
		}
	}
	switch x.Metric {
	case "throughput":
		return "1/s"
	case "p50", "p95", "p99", "cpu_per_op":
		return "s"
	}
	return ""
}

func csvValue(v record.Value) string {
	x, ok := v.Get()
	if !ok {
		return ""
	}
	return csvNumber(x)
}

// csvKnown leaves out what is 0 in the effects because it is not known.
func csvKnown(x float64) string {
	if x == 0 {
		return ""
	}
	return csvNumber(x)
}

func csvNumber(x float64) string {
	if !finite(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
