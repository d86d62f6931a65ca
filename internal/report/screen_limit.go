package report

import (
	"strconv"

	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// limitTable is a row for each CPU limit, below that of the baseline: what the arm used, how often it
// was throttled, and its latency.
func (in Language) limitTable(w workload, t record.AnswerTable) table {
	m := w.metricWord(t.Metric)
	out := table{columns: []column{
		{head: in.text("head.arm"), flex: 10}, {head: in.text("limit.limit"), drop: 2},
		{head: in.text("limit.used"), align: right}, {head: in.text("limit.throttled"), align: right},
		{head: m.head, align: right}, {head: in.text("head.against", "baseline", t.Baseline), align: right},
	}}
	p99 := t.Metric != catalogue.P99.Name
	if p99 {
		out.columns = append(out.columns, column{head: in.text("head.p99"), align: right, drop: 1})
	}
	out.columns = append(out.columns, column{head: in.text("head.answer"), wrap: leastAnswer})
	for _, r := range t.Rows {
		line := row{cell{r.Arm, strong}, cell{in.limitWords(r.Limit), plain}, cell{}, cell{}, cell{none, faint}, in.effectWith(w, r.Effect)}
		if r.Limit != nil {
			line[2], line[3] = numberCell(r.Limit.Used, cpusWord), numberCell(r.Limit.Throttled, quantity.Share)
		}
		if r.Own != nil {
			line[4] = cell{m.show(r.Own.Value), plain}
		}
		if p99 {
			line = append(line, changeCell(w, r.P99))
		}
		out.rows = append(out.rows, append(line, in.answerCell(r)))
	}
	return out
}

// limitWords are the settings of a CPU limit: "0.5 CPUs, burst 0.5".
func (in Language) limitWords(l *record.CPULimit) string {
	var all []string
	if l == nil {
		return ""
	}
	if l.CPUs > 0 {
		all = append(all, in.text("limit.cpus", "n", cpusWord(l.CPUs)))
	}
	if l.Burst > 0 {
		all = append(all, in.text("limit.burst", "n", cpusWord(l.Burst)))
	}
	if l.Weight > 0 {
		all = append(all, in.text("limit.weight", "n", strconv.Itoa(l.Weight)))
	}
	return in.commas(all...)
}

// cpusWord is a number of CPUs with at most two decimals.
func cpusWord(x float64) string {
	return strconv.FormatFloat(quantity.Round(x, 2), 'f', -1, 64)
}

func numberCell(v record.Value, show func(float64) string) cell {
	if x, ok := v.Get(); ok {
		return cell{show(x), plain}
	}
	return cell{none, faint}
}

// askedObjective is the sentence over the table of an objective.
func (in Language) askedObjective(t record.AnswerTable) sentence {
	w := in.named(record.WorkloadResult{Name: t.Workload, Primary: t.Metric})
	m := w.metricWord(t.Metric)
	return in.msg("asked.objective", "load", t.Workload, "metric", m.of, "most", m.show(t.Objective.Most))
}

// objectiveTable is a row for each arm with its own level, which is judged by its interval.
func (in Language) objectiveTable(w workload, t record.AnswerTable) table {
	m := w.metricWord(t.Metric)
	out := table{columns: []column{
		{head: in.text("head.arm"), flex: 10}, {head: catalogue.P50.Head, align: right, drop: 1}, {head: m.head, align: right},
		{head: in.text("objective.interval"), align: right}, {head: in.text("head.answer"), wrap: leastAnswer},
	}}
	for _, r := range t.Rows {
		line := row{cell{r.Arm, strong}, w.value(r.Arm, catalogue.P50.Name), cell{none, faint}, cell{}, in.answerCell(r)}
		if r.Own != nil && r.Own.Value > 0 {
			line[2] = cell{m.show(r.Own.Value), plain}
		}
		if r.Own != nil && r.Own.High > 0 {
			line[3] = cell{in.text("objective.from", "low", m.show(r.Own.Low), "high", m.show(r.Own.High)), plain}
		}
		out.rows = append(out.rows, line)
	}
	return out
}
