package report

import (
	"cmp"

	"github.com/tarelab/tare/record"
)

// csvPrices are the lines of the price matrices, in the columns of the effects.
func csvPrices(e *record.Effects, values map[armMetric]record.Value) [][]string {
	var lines [][]string
	for _, p := range e.Prices {
		if len(p.Rows) == 0 {
			continue
		}
		for _, r := range p.Rows {
			x := record.Effect{Workload: p.Workload, Arm: r.Arm, Exploratory: true}
			for _, back := range r.Back {
				x.Metric, x.Baseline, x.Reason, x.Typical = back.Metric, cmp.Or(r.Alone, p.Alone), back.Reason, nil
				if s := back.Share; s != nil {
					x.Typical = &record.Ratio{Ratio: s.Share, Low: s.Low, High: s.High}
				}
				lines = append(lines, priceLine("regained", x, "ratio", values, e.Seed, r))
			}
			x.Metric, x.Baseline, x.Reason, x.Typical, x.Total = neighbourWork, p.Unprotected, r.Reason, nil, r.Kept
			its := map[armMetric]record.Value{
				{p.Workload, r.Arm, neighbourWork}: r.Work, {p.Workload, p.Unprotected, neighbourWork}: p.Rows[0].Work,
			}
			lines = append(lines, priceLine("neighbour", x, p.Neighbour.Unit, its, e.Seed, r))
		}
	}
	return lines
}

// neighbourWork is the metric of what a neighbour gets done.
const neighbourWork = "neighbour_work"

func priceLine(kind string, x record.Effect, unit string, values map[armMetric]record.Value, seed uint64, r record.PriceRow) []string {
	const verdict, p, adjusted, blocks, generations = 17, 20, 21, 22, 23
	line := csvRow(kind, x, unit, values, seed)
	line[verdict] = r.Standing.String()
	for _, i := range []int{p, adjusted, blocks, generations} {
		line[i] = ""
	}
	return line
}
