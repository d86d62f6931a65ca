package gate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

var (
	// ErrAsked means that a limit, a workload or an arm selects nothing.
	ErrAsked = errors.New("nothing to check")
	// ErrNothing means that the selection has no measurement.
	ErrNothing = errors.New("nothing was measured")
)

// badSelection is an error in what is to be checked.
type badSelection struct{ text string }

func (a badSelection) Error() string        { return a.text }
func (a badSelection) Is(target error) bool { return target == ErrAsked }

func wrong(format string, args ...any) error { return badSelection{fmt.Sprintf(format, args...)} }

// check returns an error where a limit, a workload or an arm selects nothing.
func (s Selection) check(e *record.Effects, limits []record.Limit) error {
	if len(limits) == 0 {
		return hint.New(wrong("no limit to check against"), "name one, as --max-cost throughput=5%")
	}
	var workloads []string
	for _, w := range e.Workloads {
		workloads = append(workloads, w.Name)
	}
	for i, name := range s.Workloads {
		if slices.Contains(s.Workloads[:i], name) {
			return wrong("workload %q is named twice", name)
		}
		if !slices.Contains(workloads, name) {
			return wrong("no workload %q in this result%s", name, hint.DidYouMean(name, workloads))
		}
	}
	for i, name := range s.Arms {
		if slices.Contains(s.Arms[:i], name) {
			return wrong("arm %q is named twice", name)
		}
		if err := s.checkArm(e, name); err != nil {
			return err
		}
	}
	for i, l := range limits {
		if slices.ContainsFunc(limits[:i], func(x record.Limit) bool { return x.Metric == l.Metric }) {
			return wrong("two limits for %s", s.called(l.Metric))
		}
		if err := s.checkMetric(e, l); err != nil {
			return err
		}
	}
	for _, name := range s.Workloads {
		if !slices.ContainsFunc(e.Effects, func(x record.Effect) bool {
			return x.Workload == name && s.arm(x.Arm) && limited(limits, x.Metric)
		}) {
			return wrong("workload %s has no effect of %s%s", name, anyOf(limits), ofArms(s.Arms))
		}
	}
	return nil
}

func (s Selection) checkArm(e *record.Effects, name string) error {
	var arms, here []string
	for _, x := range e.Effects {
		arms = append(arms, x.Arm)
		if s.workload(x.Workload) {
			here = append(here, x.Arm)
		}
	}
	slices.Sort(here)
	here = slices.Compact(here)
	if slices.Contains(here, name) {
		return nil
	}
	for _, l := range e.Left {
		if l.Arm == name && (l.Workload == "" || s.workload(l.Workload)) {
			return hint.New(wrong("arm %q was skipped: %s", name, said.English(l.Reason)), said.English(l.Remedy))
		}
	}
	for _, w := range e.Workloads {
		if w.Baseline == name && s.workload(w.Name) {
			return wrong("%s is the baseline: what the others are compared with%s", name, hint.DidYouMean("", here))
		}
	}
	for _, x := range e.Twin {
		if x.Arm == name {
			return wrong("%s is the baseline again: what is seen there is noise%s", name, hint.DidYouMean("", here))
		}
	}
	if slices.Contains(arms, name) {
		return wrong("workload %s has no arm %q%s", strings.Join(s.Workloads, ", "), name, hint.DidYouMean(name, here))
	}
	return wrong("no arm %q in this result%s", name, hint.DidYouMean(name, here))
}

// Planned returns an error if a limit of the plan selects nothing that the plan measures.
func Planned(p record.Plan) error {
	var metrics []string
	var said []record.Metric
	for _, w := range p.Workloads {
		for _, name := range slices.Concat(w.Metrics, metric.Judged(w, true)) {
			if !slices.Contains(metrics, name) {
				metrics = append(metrics, name)
			}
		}
		said = append(said, w.Values...)
	}
	for _, l := range p.Limits {
		if err := (Selection{}).among(metrics, said, l, true); err != nil {
			return err
		}
	}
	return nil
}

func (s Selection) checkMetric(e *record.Effects, l record.Limit) error {
	var metrics []string
	var said []record.Metric
	for _, x := range e.Effects {
		if s.workload(x.Workload) && s.arm(x.Arm) && !slices.Contains(metrics, x.Metric) {
			metrics = append(metrics, x.Metric)
		}
	}
	for _, w := range e.Workloads {
		said = append(said, w.Values...)
	}
	if len(metrics) == 0 && failed(e) {
		return nothing(e, &record.Gate{})
	}
	if len(metrics) == 0 {
		return hint.New(fmt.Errorf("%w: the result has no effect%s", ErrNothing, ofArms(s.Arms)), "tare report shows what there is and why")
	}
	return s.among(metrics, said, l, false)
}

// among checks a limit against the metrics that there are in a result, or planned; said describes those of the loads.
func (s Selection) among(metrics []string, said []record.Metric, l record.Limit, planned bool) error {
	switch {
	case l.Metric == metric.Time.Name && !slices.Contains(metrics, l.Metric) && slices.Contains(metrics, metric.P50.Name):
		return wrong("no metric %q here; did you mean %q, the median of an operation's time (duration, latency)?", s.called(l.Metric), metric.P50.Name)
	case !slices.Contains(metrics, l.Metric) && planned:
		return wrong("no metric %q in this experiment%s", s.called(l.Metric), hint.DidYouMean(l.Metric, metrics))
	case !slices.Contains(metrics, l.Metric):
		return wrong("no metric %q in this result%s", s.called(l.Metric), hint.DidYouMean(l.Metric, metrics))
	case !(l.Most >= 0):
		return wrong("the limit of %s is negative: a limit is the largest cost that passes, as 5%%", s.called(l.Metric))
	case l.Most >= 1 && metric.Better(said, l.Metric) > 0:
		return wrong("%s cannot lose 100%% or more: this limit would pass everything", s.called(l.Metric))
	}
	return nil
}

// nothing is the error where no effect has a value, with the first reason.
func nothing(e *record.Effects, g *record.Gate) error {
	why := noBlock
	for _, j := range g.Judgements {
		if !j.Reason.IsZero() {
			why = without(j)
			break
		}
	}
	remedy := longerRun
	switch {
	case e.Ended == record.EndedRunning:
		remedy = stillRuns
	case failed(e):
		why, remedy = said.English(e.Caveats[0].Text), cmp.Or(said.English(e.Caveats[0].Remedy), unfinished)
	case e.Ended == record.EndedError, e.Ended == record.EndedFull, e.Ended == record.EndedKilled:
		remedy = unfinished
	}
	return hint.New(fmt.Errorf("%w that the limits are about: %s", ErrNothing, why), remedy)
}

// failed reports whether a run ended with an error that its caveats tell.
func failed(e *record.Effects) bool { return e.Ended == record.EndedError && len(e.Caveats) > 0 }

func limited(limits []record.Limit, metric string) bool {
	return slices.ContainsFunc(limits, func(l record.Limit) bool { return l.Metric == metric })
}
