package export

import (
	"cmp"

	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// row is an effect with what is needed to understand it alone.
type row struct {
	kind string // effect, step, remainder, option, twin; of a price matrix regained, neighbour
	unit string // of the two values
	record.Effect
	arm, baseline record.Value
}

// rows are the effects, steps, remainders, options and twins, in this order.
func rows(e *record.Effects) (out []row) {
	values := armValues(e)
	for _, list := range []struct {
		kind    string
		effects []record.Effect
	}{{"effect", e.Effects}, {"step", e.Steps}, {"remainder", e.Remainder}, {"option", e.Options}, {"twin", e.Twin}} {
		for _, x := range list.effects {
			out = append(out, values.row(list.kind, baseUnit(e, x), x))
		}
	}
	return out
}

// neighbourWork is the metric of what a neighbour gets done.
const neighbourWork = "neighbour_work"

// priceRows are the lines of the price matrices: what an isolation regains, and
// what it leaves to the neighbour.
func priceRows(e *record.Effects) (out []row) {
	values := armValues(e)
	for _, p := range e.Prices {
		for _, r := range p.Rows {
			x := record.Effect{Workload: p.Workload, Arm: r.Arm, Exploratory: true}
			for _, back := range r.Back {
				x.Metric, x.Baseline, x.Reason, x.Typical = back.Metric, cmp.Or(r.Alone, p.Alone), back.Reason, nil
				if s := back.Share; s != nil {
					x.Typical = &record.Ratio{Ratio: s.Share, Low: s.Low, High: s.High}
				}
				out = append(out, values.row("regained", "ratio", x))
			}
			x.Metric, x.Baseline, x.Reason, x.Typical, x.Total = neighbourWork, p.Unprotected, r.Reason, nil, r.Kept
			out = append(out, row{"neighbour", p.Neighbour.Unit, x, r.Work, p.Rows[0].Work})
		}
	}
	return out
}

type armMetric struct{ workload, arm, metric string }

// values are what each arm did.
type values map[armMetric]record.Value

func armValues(e *record.Effects) values {
	m := values{}
	for _, a := range e.Arms {
		for name, v := range a.Values {
			m[armMetric{a.Workload, a.Arm, name}] = v
		}
	}
	return m
}

func (m values) row(kind, unit string, x record.Effect) row {
	return row{kind, unit, x, m[armMetric{x.Workload, x.Arm, x.Metric}], m[armMetric{x.Workload, x.Baseline, x.Metric}]}
}

func baseUnit(e *record.Effects, x record.Effect) string {
	for _, w := range e.Workloads {
		if w.Name == x.Workload {
			m, _ := catalogue.Find(w.Values, x.Metric)
			return m.Unit
		}
	}
	return ""
}
