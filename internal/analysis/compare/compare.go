// Package compare compares two results of the same experiment: the differences of their set-up,
// whether they are comparable, and the changes of the effects. It works from the files alone
// and prints nothing.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

var (
	// ErrDifferent means that the results are not of the same experiment.
	ErrDifferent = errors.New("not the same experiment")
	// ErrSame means that both are the same run.
	ErrSame = errors.New("both are the same run")
	// errNothing means that no effect is in both.
	errNothing = errors.New("no workload has an arm in both results")
)

// Results compares two results. Results of different experiments are refused with the
// differences, unless forced.
func Results(before, after *record.Result, forced bool) (*record.Comparison, error) {
	old, err := analysis.Analyse(before)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	now, err := analysis.Analyse(after)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	c := &record.Comparison{
		Schema: record.ComparisonSchema, Before: side(before, old), After: side(after, now), Margin: after.Plan.Margin,
		SameHost: sameHost(old.Host, now.Host), Levels: []record.Level{}, Warnings: []record.Warning{},
	}
	if c.Before.Run != "" && c.Before.Run == c.After.Run {
		return nil, fmt.Errorf("%w (%s): %s and %s", ErrSame, c.Before.Run, before.Dir, after.Dir)
	}
	if text := nothingInCommon(before.Plan, after.Plan); text != "" {
		return nil, fmt.Errorf("%w: %s", ErrDifferent, text)
	}
	c.Differences = differences(before, after)
	if why := refusals(c.Differences); len(why) > 0 && !forced {
		return nil, hint.New(fmt.Errorf("%w: %s", ErrDifferent, strings.Join(why, "; ")), "--force compares what has the same name in both")
	} else if len(why) == 0 {
		c.SameExperiment = true
	}
	if c.Changes = analysis.Changes(old, now, c.Margin); len(c.Changes) == 0 {
		return nil, errNothing
	}
	mark(c.Changes, now)
	c.Means = means(c.Changes, c.Margin, moreIsBetter(now))
	c.Needed = needed(c)
	if c.SameHost {
		c.Levels = levels(old, now)
	}
	c.Warnings = append(baselineWarnings(before.Plan, after.Plan), onlyInOne(before.Plan, after.Plan)...)
	c.Warnings = append(c.Warnings, doubts(ofBefore, old, c)...)
	c.Warnings = append(c.Warnings, doubts(ofAfter, now, c)...)
	if a, b := statistics(before.Manifest), statistics(after.Manifest); a != b {
		c.Warnings = append(c.Warnings, record.Warning{Text: statisticsDiffer(a, b, analysis.Statistics)})
	}
	return c, nil
}

// onlyInOne names the arms of the shared workloads that one of the results has alone: they are in no row.
func onlyInOne(before, after record.Plan) (out []record.Warning) {
	for _, a := range before.Workloads {
		for _, b := range after.Workloads {
			if a.Name != b.Name {
				continue
			}
			had, has := armNames(a), armNames(b)
			missing := func(in, of []string) (names []string) {
				for _, name := range of {
					if !slices.Contains(in, name) {
						names = append(names, name)
					}
				}
				return names
			}
			if gone := missing(has, had); len(gone) > 0 {
				out = append(out, record.Warning{Workload: a.Name, Text: record.Say("arms_of_old", "arms", gone)})
			}
			if added := missing(had, has); len(added) > 0 {
				out = append(out, record.Warning{Workload: a.Name, Text: record.Say("arms_of_new", "arms", added)})
			}
		}
	}
	return out
}

func armNames(w record.Workload) (names []string) {
	for _, a := range w.Arms {
		names = append(names, a.Name)
	}
	return names
}

// baselineWarnings names the workloads whose baselines do not run as the same.
func baselineWarnings(before, after record.Plan) []record.Warning {
	out := []record.Warning{}
	for _, a := range before.Workloads {
		for _, b := range after.Workloads {
			if x, y, differ := baselinesRunAs(a, b); differ && a.Name == b.Name {
				out = append(out, record.Warning{Workload: a.Name, Arm: b.Baseline, Text: baselinesDiffer(x, y), Remedy: record.Say("measure_old_again")})
			}
		}
	}
	return out
}

// nothingInCommon names the workloads of two experiments that share none; empty where they
// share one.
func nothingInCommon(before, after record.Plan) string {
	names := func(p record.Plan) []string {
		var out []string
		for _, w := range p.Workloads {
			out = append(out, w.Name)
		}
		return out
	}
	a, b := names(before), names(after)
	if len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) }) {
		return ""
	}
	return noSharedWorkload(a, b)
}

// refusals returns the differences by which two results are not of the same experiment.
func refusals(ds []record.Difference) []string {
	var out []string
	for _, d := range ds {
		if d.Weight == record.WeightExperiment {
			out = append(out, changed(d))
		}
	}
	return out
}

func side(r *record.Result, e *record.Effects) record.Side {
	s := record.Side{
		Dir: r.Dir, Experiment: e.Experiment, Started: e.Started, Ended: e.Ended, Seconds: e.Seconds,
		Seed: e.Seed, Tare: r.Manifest.Tare, Host: e.Host,
	}
	for _, l := range r.Lines {
		if l.Run != nil {
			s.Run = l.Run.ID
			if s.Started == "" {
				s.Started = l.Time.UTC().Format(time.RFC3339)
			}
			break
		}
	}
	return s
}

// sameHost reports whether both ran on the same machine; its software may differ.
func sameHost(a, b record.Host) bool {
	return a.Name != "" && a.Name == b.Name && a.Arch == b.Arch && a.CPUModel == b.CPUModel && a.CPUs == b.CPUs
}

// levels returns the levels of all arms in both results, which are of the same host.
func levels(before, after *record.Effects) []record.Level {
	out := []record.Level{}
	for _, a := range after.Arms {
		for _, old := range before.Arms {
			if old.Workload == a.Workload && old.Arm == a.Arm {
				out = append(out, levelsOf(after, old, a)...)
			}
		}
	}
	return out
}

func levelsOf(e *record.Effects, before, after record.ArmResult) []record.Level {
	var out []record.Level
	for _, m := range metricsOf(e, after.Workload) {
		v, ok := after.Values[m.Name]
		old, too := before.Values[m.Name]
		if !ok || !too {
			continue
		}
		l := record.Level{Workload: after.Workload, Metric: m.Name, Unit: m.Unit, Arm: after.Arm, Before: old, After: v}
		x, known := v.Get()
		if y, knew := old.Get(); known && knew && y > 0 {
			l.Ratio = x / y
		}
		out = append(out, l)
	}
	return out
}

// metricsOf returns the metrics that tare computes and those that the load reports.
func metricsOf(e *record.Effects, workload string) []metric.Metric {
	out := metric.All()
	for _, w := range e.Workloads {
		if w.Name != workload {
			continue
		}
		for _, m := range w.Values {
			out = slices.DeleteFunc(out, func(x metric.Metric) bool { return x.Name == m.Name })
			out = append(out, metric.Declared(m))
		}
	}
	return out
}

// doubts returns the doubts about one of the results.
func doubts(of func(record.Said) record.Said, e *record.Effects, c *record.Comparison) []record.Warning {
	var out []record.Warning
	for _, w := range e.Workloads {
		if !slices.ContainsFunc(c.Changes, func(x record.Change) bool { return x.Workload == w.Name }) {
			continue
		}
		for _, d := range analysis.Doubts(w) {
			d.Text = of(d.Text)
			out = append(out, d)
		}
	}
	return out
}
