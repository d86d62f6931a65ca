package answer

import (
	"math"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// neighbour is the table of a load beside a neighbour: each isolation against the load alone.
func neighbour(w arrange.Workload, p record.Price) record.AnswerTable {
	t := record.AnswerTable{Question: record.AskedNeighbour, Workload: w.Name, Neighbour: p.Neighbour.Name, Baseline: p.Alone, Metric: p.Primary, Invalid: p.Invalid}
	t.Rows = append(t.Rows, record.AnswerRow{Workload: w.Name, Arm: p.Alone, Level: level(w, p.Alone)})
	for _, r := range p.Rows {
		line := against(w, p, r.Arm, p.Alone)
		line.Isolation, line.Kept = r.Isolation, r.Kept
		if r.Arm != p.Unprotected {
			line.Regained = r.Of(p.Primary).Share
			if line.Regained != nil && line.Regained.Above(half) {
				line.Says.Protects, line.Says.Against = true, p.Unprotected
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// half is the part of a loss that an isolation has to give back, by the lower end of its interval, to
// protect.
const half = 0.5

// against is an arm against another, which need not be the baseline of its effects: then the effect is that of the
// price table.
func against(w arrange.Workload, p record.Price, arm, base string) record.AnswerRow {
	if x, ok := w.PrimaryOf(arm); ok && x.Baseline == base {
		return row(w, arm, 0)
	}
	out := record.AnswerRow{Workload: w.Name, Arm: arm}
	for _, r := range p.Rows {
		if back := r.Of(p.Primary); r.Arm == arm && back.Effect != nil {
			out.Effect, out.Says = back.Effect, Says(*back.Effect)
		} else if r.Arm == arm {
			out.Says = record.Says{Word: record.SaysUndecided, Reason: back.Reason}
		}
	}
	return out
}

// pods is the table of a load in pods: each against the baseline, alone and beside a neighbour in a
// pod.
func pods(w arrange.Workload, p record.Price) record.AnswerTable {
	t := record.AnswerTable{Question: record.AskedPods, Workload: w.Name, Neighbour: p.Neighbour.Name, Baseline: w.Baseline, Metric: p.Primary, Invalid: p.Invalid}
	for _, r := range p.Rows {
		line := record.AnswerRow{Workload: w.Name, Arm: r.Alone, Level: level(w, w.Baseline)}
		if r.Alone != w.Baseline {
			line = against(w, p, r.Alone, w.Baseline)
		}
		if x, ok := w.PrimaryOf(r.Arm); ok {
			line.Beside, line.Says = &x, says(w, r.Arm, 0)
			line.P99 = effect(w, metric.P99.Name, r.Arm)
		}
		t.Rows = append(t.Rows, line)
	}
	compare(w, t.Rows)
	return t
}

// alike is how far apart two arms may be, by the far end of the interval of their ratio, to be called
// alike.
const alike = 0.1

// compare sets, for the pods beside the neighbour, Protects and As. A pod protects if it is shown to
// lose less there than the pod that loses most. It is as the row above if their ratio's interval
// contains 1 and ends within alike of it. The two effects have the same baseline, so the half-width of
// their ratio is at most the root of the sum of squares.
func compare(w arrange.Workload, rows []record.AnswerRow) {
	worst := -1
	for i, r := range rows {
		if r.Beside == nil || r.Beside.Typical == nil || r.Arm == w.Baseline {
			continue
		}
		if worst < 0 || worse(w, r.Beside, rows[worst].Beside) {
			worst = i
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.Beside == nil || r.Beside.Typical == nil || r.Arm == w.Baseline || i == worst {
			continue
		}
		mean, wide := apart(w, r.Beside, rows[worst].Beside)
		if mean-wide > 0 {
			r.Says.Protects, r.Says.Against = true, rows[worst].Arm
		}
		if before := i - 1; before >= 0 && before != worst && rows[before].Beside != nil && rows[before].Beside.Typical != nil && rows[before].Arm != w.Baseline {
			mean, wide := apart(w, r.Beside, rows[before].Beside)
			if far := math.Expm1(math.Abs(mean) + wide); math.Abs(mean) <= wide && far <= alike {
				r.Says.As, r.Says.Within = rows[before].Arm, far
			}
		}
	}
}

// worse reports whether a loses more than b.
func worse(w arrange.Workload, a, b *record.Effect) bool {
	mean, _ := apart(w, a, b)
	return mean < 0
}

// apart is the logarithm of the ratio of two effects, positive where a is better, and its half-width.
func apart(w arrange.Workload, a, b *record.Effect) (mean, half float64) {
	mean = math.Log(a.Typical.Ratio / b.Typical.Ratio)
	if !w.MoreIsBetter(a.Metric) {
		mean = -mean
	}
	width := func(r *record.Ratio) float64 { return math.Log(r.High/r.Low) / 2 }
	return mean, math.Hypot(width(a.Typical), width(b.Typical))
}
