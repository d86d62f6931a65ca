package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/gate"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// maxCost is one value of --max-cost.
type maxCost struct {
	record.Limit
	called, size string // as they were typed
}

func (m *maxCost) UnmarshalText(b []byte) error {
	metric, size, ok := strings.Cut(string(b), "=")
	metric = strings.TrimSpace(strings.TrimSuffix(metric, "<"))
	if size = strings.TrimSpace(size); !ok || metric == "" {
		return fmt.Errorf("%q is not METRIC=SIZE; write throughput=5%%", b)
	}
	l, err := catalog.Words().ParseLimit(metric, size)
	*m = maxCost{l, metric, size}
	return err
}

func (m maxCost) String() string { return m.called + "=" + m.size }

// applyLimits sets the limits that the flags give; the others stay.
func (f *experimentFlags) applyLimits(e *experiment.Experiment, words experiment.Words) (all experiment.Problems) {
	for i, l := range f.MaxCost {
		where := "--max-cost " + l.String()
		if slices.ContainsFunc(f.MaxCost[:i], func(x maxCost) bool { return x.Metric == l.Metric }) {
			all = append(all, experiment.Problem{Where: where, Text: "two limits for " + l.called})
			continue
		}
		all = append(all, problemsOf(e.Apply(where, "limits."+l.called, l.size, words))...)
	}
	if f.UntilDecided {
		all = append(all, problemsOf(e.Apply("--until-decided", "until", experiment.UntilDecided, words))...)
	}
	if e.UntilDecided && len(e.Limits) == 0 {
		all = append(all, experiment.Problem{Where: "until decided", Text: "there is no limit to decide; name one, as --max-cost throughput=5%"})
	}
	return all
}

func problemsOf(err error) (all experiment.Problems) {
	errors.As(err, &all)
	return all
}

// limitCommand are the flags of the limits, for a command that repeats the run.
func (f *experimentFlags) limitCommand() (out []string) {
	for _, l := range f.MaxCost {
		out = append(out, "--max-cost="+l.String())
	}
	if f.UntilDecided {
		out = append(out, "--until-decided")
	}
	return out
}

// limitable returns an error if a limit is about nothing that the plan measures.
func limitable(p *plan.Plan) error {
	if err := gate.Planned(p.Record); err != nil {
		return &usageError{err, "tare run --help"}
	}
	return nil
}

// judge judges the effects of a result directory.
func judge(dir string, e *record.Effects, limits []record.Limit, s gate.Selection) (*record.Gate, error) {
	g, err := gate.Judge(e, limits, s)
	switch {
	case errors.Is(err, gate.ErrAsked):
		return nil, &usageError{err, "tare check --help"}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return g, nil
}

// ownGate judges a result by the limits of its run; nil: it has none.
func ownGate(r *record.Result, e *record.Effects) (*record.Gate, error) {
	if len(r.Plan.Limits) == 0 || !anyBlock(e) {
		return nil, nil
	}
	return judge(r.Dir, e, r.Plan.Limits, gate.Selection{})
}

// untilDecided returns the function that ends a run as soon as its limits are decided; nil: it has none that end it.
// The function judges the record as tare check does, so both say the same.
func untilDecided(p record.Plan, dir string) func(record.Workload, int) bool {
	if !slices.ContainsFunc(p.Workloads, func(w record.Workload) bool { return w.UntilDecided }) {
		return nil
	}
	return func(w record.Workload, launches int) bool {
		if !stat.IsLook(launches) {
			return false
		}
		r, e, err := analyse(dir)
		if err != nil {
			return false // the end of the run reports it
		}
		g, err := ownGate(r, e)
		return err == nil && g != nil && decidedIn(g, w.Name)
	}
}

// decidedIn says whether every limit of a workload passes or is exceeded.
func decidedIn(g *record.Gate, workload string) bool {
	return !slices.ContainsFunc(g.Judgements, func(j record.Judgement) bool {
		return j.Workload == workload && j.Answer != record.AnswerPass && j.Answer != record.AnswerExceeded
	})
}

// ofOneNode refuses a directory with the results of several nodes.
func ofOneNode(dir string) error {
	side, err := readNodes(dir)
	if side == nil || err != nil || len(side.Nodes.Nodes) == 0 {
		return err
	}
	err = fmt.Errorf("%s is of several nodes", dir)
	return &usageError{hint.New(err, "check one: tare check "+filepath.Join(dir, side.Nodes.Nodes[0].Dir)), ""}
}

// limitError is the error with the exit code of the answer to the limits of the run; nil: they pass, or there are
// none.
func (r *runCommand) limitError(c *console, result *record.Result, e *record.Effects) error {
	g, err := ownGate(result, e)
	if g == nil {
		return err
	}
	return c.gateError(g, r.Format != "text")
}

// worstAnswer is the error of the nodes' answers that decides the exit code: an exceeded limit before an invalid
// one, and that before an undecided one.
func worstAnswer(answers []error) error {
	for _, code := range []int{exitUsage, exitError, exitExceeded, exitInvalid, exitUndecided} {
		for _, err := range answers {
			if err != nil && exitCode(err) == code {
				return err
			}
		}
	}
	return nil
}

// sameLimits refuses limits other than those of the result that a run continues.
func sameLimits(dir string, was, is []record.Limit) error {
	if slices.Equal(was, is) {
		return nil
	}
	return &usageError{fmt.Errorf("cannot continue %s: its limits are not those of --max-cost", dir),
		"leave --max-cost out; tare check " + dir + " --max-cost METRIC=SIZE judges it by other limits"}
}
