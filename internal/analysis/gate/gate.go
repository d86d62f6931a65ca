// Package gate judges effects against limits for tare check; a limit is the largest accepted cost.
// It judges the bound and never the estimate: a limit is exceeded when the whole interval lies
// above it, passes when the whole interval lies within it, and is undecided otherwise. It knows nothing of files, exit codes or
// printing.
package gate

import (
	"cmp"
	"slices"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Selection is what to judge; an empty list selects everything.
type Selection struct {
	Workloads, Arms []string
	Called          map[string]string // the user's names of metrics, where they differ from tare's
}

func (s Selection) called(metric string) string { return cmp.Or(s.Called[metric], metric) }

// Judge judges every selected effect that has a limit. A limit, workload or arm that selects
// nothing is an error, as is a selection without measurements: an empty set never passes.
func Judge(e *record.Effects, limits []record.Limit, s Selection) (*record.Gate, error) {
	if err := s.check(e, limits); err != nil {
		return nil, err
	}
	g := &record.Gate{
		Schema: record.GateSchema, Experiment: e.Experiment, Seed: e.Seed, Started: e.Started,
		Ended: e.Ended, Host: e.Host, Limits: limits, Left: []record.Left{}, Warnings: []record.Warning{},
	}
	measured := false
	for _, w := range e.Workloads {
		if !s.workload(w.Name) {
			continue
		}
		var judged []record.Judgement
		for _, x := range e.Effects {
			for _, l := range limits {
				if x.Workload != w.Name || x.Metric != l.Metric || !s.arm(x.Arm) {
					continue
				}
				judged = append(judged, judge(w, x, l))
				measured = measured || x.Blocks > 0 || x.Observed != 0 || x.Verdict == record.Invalid
			}
		}
		judgeQuestionFirst(w, judged)
		needed := 0.0
		for _, j := range judged {
			needed = max(needed, j.Needed)
		}
		g.Judgements = append(g.Judgements, judged...)
		g.Needed += needed
		g.Warnings = append(g.Warnings, s.unchecked(e, w, limits)...)
		g.Warnings = append(g.Warnings, analysis.Doubts(w)...)
	}
	for _, c := range e.Caveats {
		if (c.Workload == "" || s.workload(c.Workload)) && (c.Arm == "" || s.arm(c.Arm) || baseline(e, c.Arm)) {
			g.Warnings = append(g.Warnings, c)
		}
	}
	for _, l := range e.Left {
		if s.arm(l.Arm) && (l.Workload == "" || s.workload(l.Workload)) {
			g.Left = append(g.Left, l)
		}
	}
	if !measured {
		return nil, nothing(e, g)
	}
	g.Answer = overall(g.Judgements)
	return g, nil
}

// judgeQuestionFirst makes the exceeded limits of the other arms undecided if the question of the
// workload does not exceed its limit. Each interval is at 95 %: judged all at once, the arms together
// would exceed a limit by chance in more than 5 % of the runs (docs/method.md).
func judgeQuestionFirst(w record.WorkloadResult, js []record.Judgement) {
	for i := range js {
		j := &js[i]
		if j.Answer != record.AnswerExceeded || j.Arm == w.Question || !slices.Contains(w.Judged, j.Metric) {
			continue
		}
		at := slices.IndexFunc(js, func(q record.Judgement) bool {
			return q.Arm == w.Question && q.Metric == j.Metric && q.Most == j.Most
		})
		if at >= 0 && js[at].Cost != nil && js[at].Answer != record.AnswerExceeded { // a question without an interval does not hold back the others
			j.Answer, j.Unjudged = record.AnswerUndecided, true
			j.Reason = record.Say("question_not_over", "question", w.Question)
		}
	}
}

// overall is the worst of the answers.
func overall(js []record.Judgement) record.Answer {
	worst := js[0].Answer
	for _, j := range js[1:] {
		worst = worse(worst, j.Answer)
	}
	return worst
}

// worse is the worse of two answers, from pass over undecided and invalid to exceeded.
func worse(a, b record.Answer) record.Answer {
	rank := []record.Answer{record.AnswerPass, record.AnswerUndecided, record.AnswerInvalid, record.AnswerExceeded}
	if cmp.Compare(slices.Index(rank, a), slices.Index(rank, b)) < 0 {
		return b
	}
	return a
}

// judge judges the bound of an effect: the farthest that its typical effect, its total and dropped windows allow. A loss
// in some windows only may exceed the limit in total, which the typical effect does not show.
func judge(w record.WorkloadResult, x record.Effect, l record.Limit) record.Judgement {
	j := record.Judgement{
		Workload: x.Workload, Metric: x.Metric, Arm: x.Arm, Baseline: x.Baseline, Most: l.Most,
	}
	better := metric.Better(w.Values, x.Metric)
	if r := cmp.Or(x.Bound, x.Typical); r != nil && better != 0 {
		j.Cost = worsening(*r, better)
	}
	switch {
	case x.Verdict == record.Invalid:
		j.Answer, j.Reason = record.AnswerInvalid, x.Reason
	case better == 0:
		j.Reason = record.Say("direction_unknown", "metric", x.Metric)
	case x.Bound == nil || !x.Bound.Known():
		if x.Bound != nil {
			j.Cost = nil
		}
		j.Reason, j.Needed = cmp.Or(x.Reason, record.Say("no_window_of_it")), x.Needed
	default:
		limit := bound(l.Most, better)
		if j.Answer = against(*x.Bound, limit, better); j.Answer == record.AnswerUndecided {
			if x.Intermittent && x.Total != nil && against(*x.Total, limit, better) == record.AnswerExceeded {
				j.Answer, j.Total, j.Cost = record.AnswerExceeded, true, worsening(*x.Total, better)
				break
			}
			j.Reason = record.Say("limit_in_interval")
			j.Needed = analysis.ToDecide(x.Bound, w.Seconds, limit)
		}
	}
	return j
}

// against judges on which side of a limit the whole interval lies. limit is a ratio of arm over
// baseline; better is the direction of the metric, 1 or -1.
func against(r record.Ratio, limit float64, better int) record.Answer {
	switch meets, misses := r.Meets(limit, better); {
	case meets:
		return record.AnswerPass
	case misses:
		return record.AnswerExceeded
	}
	return record.AnswerUndecided
}

// worsening turns a ratio of arm over baseline into a cost.
func worsening(r record.Ratio, better int) *record.Worsening {
	if better > 0 {
		return &record.Worsening{Cost: 1 - r.Ratio, Low: 1 - r.High, High: 1 - r.Low}
	}
	return &record.Worsening{Cost: r.Ratio - 1, Low: r.Low - 1, High: r.High - 1}
}

// bound is the ratio of arm over baseline at which the cost is the limit.
func bound(most float64, better int) float64 {
	if better > 0 {
		return 1 - most
	}
	return 1 + most
}

// unchecked warns of limits on metrics that no selected arm of this workload has.
func (s Selection) unchecked(e *record.Effects, w record.WorkloadResult, limits []record.Limit) []record.Warning {
	var out []record.Warning
	for _, l := range limits {
		has := func(x record.Effect) bool { return x.Workload == w.Name && s.arm(x.Arm) && x.Metric == l.Metric }
		if !slices.ContainsFunc(e.Effects, has) {
			out = append(out, record.Warning{Workload: w.Name, Text: record.Say("not_checked", "metric", l.Metric)})
		}
	}
	return out
}

// baseline reports whether an arm is the baseline of a workload.
func baseline(e *record.Effects, arm string) bool {
	return slices.ContainsFunc(e.Workloads, func(w record.WorkloadResult) bool { return w.Baseline == arm })
}

func (s Selection) workload(name string) bool {
	return len(s.Workloads) == 0 || slices.Contains(s.Workloads, name)
}

func (s Selection) arm(name string) bool {
	return len(s.Arms) == 0 || slices.Contains(s.Arms, name)
}
