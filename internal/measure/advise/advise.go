// Package advise finds what wins a loss back: it tries candidates on this host in stages, and proves the best one with
// fresh launches. The experiment is changed by arms alone; nothing of the user's is set.
package advise

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis/cause"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// How the time of an advice is divided.
const (
	// PerLoad is the time for each load where the user names none.
	PerLoad = 3 * time.Minute
	// The first stage has this part of the whole, and as much again as long as no loss is shown and one may be;
	// the others have parts of what is left for their loss.
	partLoss       = 0.25
	partCandidates = 0.5
	partTogether   = 0.35
	// coarse is the precision of the stages before the proof, as a ratio. Half-widths of a tenth of an
	// effect end them too.
	coarse = 0.03
	// mostCandidates are measured together: more arms have wider intervals.
	mostCandidates = 6
)

// Bench is the host on which stages are planned and measured.
type Bench interface {
	// Inspect says what this host can have of an experiment.
	Inspect(*experiment.Experiment) (facts.Host, error)
	// Plan plans the first stage as tare run would.
	Plan(*experiment.Experiment, facts.Host) (*plan.Plan, error)
	// Measure measures a plan into a directory; if further is set it adds launches to the result that is there.
	Measure(dir string, p *plan.Plan, host facts.Host, further bool) (Measured, error)
	// Note says something about what comes, Stage which stage begins with which arms.
	Note(messages.Key, ...any)
	Stage(load string, kind record.StageKind, arms []string)
}

// Measured is the result of a stage with its effects. Begun, whether there was a launch, and Took, the time of the run
// without the analysis, are set beside an error too.
type Measured struct {
	*record.Result
	Effects *record.Effects
	Begun   bool
	Took    time.Duration
}

// Search is the search for remedies of the losses of an experiment.
type Search struct {
	Bench
	Catalog    plan.Catalog // of loads and environments, for the stages after the first
	Experiment *experiment.Experiment
	Dir        string        // of the advice and its stages
	Total      time.Duration // of all stages
	End        time.Time
	// Made says that a stage has made Dir.
	Made   bool
	Advice record.Advice

	found     Measured      // the result with the losses
	host      facts.Host    // of the last stage
	over      time.Duration // by which a stage took longer than planned: launches that end late, and the analysis
	protected []record.Left // arms with isolation, which the first stage leaves out
}

// Open starts the time of the stages.
func (s *Search) Open() {
	if s.End = time.Now().Add(s.Total); s.Advice.Schema == "" {
		s.Advice.Schema, s.Advice.Started = record.AdviceSchema, time.Now().UTC().Format(time.RFC3339)
	}
}

// From starts the advice of a result that was measured before. It is an error if each of its arms has isolation.
func (s *Search) From(r *record.Result, e *record.Effects, dir string) error {
	var compared bool
	if s.protected, compared = protectedIn(r.Plan.Workloads); len(s.protected) > 0 && !compared {
		return noneUnprotected(s.protected)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s.Advice.Schema, s.Advice.Started = record.AdviceSchema, e.Started
	s.Advice.Stages = []record.AdviceStage{{Kind: record.StageLoss, Dir: at, Seconds: e.Seconds, Seed: e.Seed}}
	noteIn(&s.Advice.Stages[0], e)
	s.find(Measured{Result: r, Effects: e})
	return nil
}

// noteIn fills in what must be known of a stage beside its figures.
func noteIn(st *record.AdviceStage, e *record.Effects) {
	if st.Warnings, st.Dropped = slices.Concat(e.Caveats, e.Warnings), nil; e.Dropped.Windows > 0 {
		st.Dropped = &e.Dropped
	}
	if e.Answer != nil {
		st.Foreign = e.Answer.Noise.ForeignHigh
	}
}

// First measures the experiment without the arms that are remedies already, and finds its losses.
func (s *Search) First() (err error) {
	e := s.Experiment
	if s.protected, err = unprotected(e); err != nil {
		return err
	}
	for _, l := range s.protected {
		s.Note("advise.protected", "load", l.Workload, "arm", l.Arm)
	}
	e.Budget = time.Duration(partLoss * float64(s.Total))
	host, err := s.Inspect(e)
	if err != nil {
		return err
	}
	p, err := s.Plan(e, host)
	if err != nil {
		return err
	}
	// The least time in which a verdict is possible, if the rest of the time is as long.
	if least, ok := p.Deciding(); ok && least > e.Budget && 2*least <= s.Total {
		e.Budget = least
		if p, err = s.Plan(e, host); err != nil {
			return err
		}
	}
	if p.Expected() < p.Least() {
		return s.tooShort(p)
	}
	r, err := s.stage(record.StageLoss, "", p, host)
	for had := 0.0; err == nil && r.mayLose() && s.until(s.End) > leastFurther && r.Effects.Seconds > had; {
		had = r.Effects.Seconds
		e.Budget = min(e.Budget, s.until(s.End).Round(time.Second))
		if p, err = s.Plan(e, host); err != nil || p.Expected() < p.Least() {
			break
		}
		p.Record.Seed = r.Plan.Seed
		r, err = s.further(r.Dir, p)
	}
	if err == nil {
		s.find(r)
	}
	return err
}

// find fills in the losses and their causes.
func (s *Search) find(r Measured) {
	s.Advice.Experiment, s.Advice.Margin, s.Advice.Host = r.Effects.Experiment, r.Effects.Margin, r.Effects.Host
	losses, others := cause.Of(r.Effects, r.Plan)
	s.Advice.Losses, s.Advice.NotLost = append([]record.AdviceLoss{}, losses...), append([]record.AdviceNoLoss{}, others...)
	s.Advice.Left = append(slices.Clone(r.Effects.Left), s.protected...)
	s.found = r
}

// until is the time that a stage can plan with before an end.
func (s *Search) until(end time.Time) time.Duration { return max(time.Until(end)-s.over, 0) }

// unprotected removes the arms with isolation from an experiment. It is an error if no workload has an arm to
// compare then.
func unprotected(e *experiment.Experiment) (removed []record.Left, err error) {
	compared := 0
	for name, arms := range e.Unprotected() {
		for _, arm := range arms {
			removed = append(removed, record.Left{Workload: name, Arm: arm, Reason: record.Say("has_isolation")})
		}
	}
	for i := range e.Workloads {
		if !e.Alone(e.Workloads[i].Name) {
			compared++
		}
	}
	slices.SortFunc(removed, func(a, b record.Left) int {
		return cmp.Or(strings.Compare(a.Workload, b.Workload), strings.Compare(a.Arm, b.Arm))
	})
	if len(removed) > 0 && compared == 0 {
		return nil, noneUnprotected(removed)
	}
	return removed, nil
}

// noneUnprotected is the error of an experiment or a result in which every arm has isolation.
func noneUnprotected(removed []record.Left) error {
	var names []string
	for _, l := range removed {
		names = append(names, l.Workload+"/"+l.Arm)
	}
	return hint.New(fmt.Errorf("%w: every arm that could be compared with its baseline has isolation: %s", facts.ErrUnsupported, strings.Join(names, ", ")),
		"tare advise looks for what helps an arm without isolation: add one beside the neighbour; tare run measures these arms")
}

// protectedIn are the arms of a result with isolation, which have a remedy already, and whether one without is compared
// with a baseline.
func protectedIn(all []record.Workload) (removed []record.Left, compared bool) {
	for _, w := range all {
		for _, a := range w.Arms {
			switch {
			case a.Name == w.Baseline || a.Twin:
			case len(a.Isolation) == 0:
				compared = true
			default:
				removed = append(removed, record.Left{Workload: w.Name, Arm: a.Name, Reason: record.Say("has_isolation")})
			}
		}
	}
	return removed, compared
}

// TooShort is the error of a time in whose first part no arm can be launched. Least is one in which a loss can be decided.
type TooShort struct{ Time, Least time.Duration }

// Error says both times.
func (e *TooShort) Error() string {
	return fmt.Sprintf("budget %s is too short for an advice: want at least %s", quantity.Duration(e.Time.Seconds()), quantity.Duration(math.Ceil(e.Least.Seconds())))
}

// tooShort is the error of a plan of the first part.
func (s *Search) tooShort(p *plan.Plan) error {
	want := time.Duration(float64(p.Least()) / partLoss)
	if least, ok := p.Deciding(); ok {
		want = max(want, 2*least)
	}
	return &TooShort{s.Total, want}
}

// mayLose reports whether no load is shown to lose and more time may show that one does.
func (m Measured) mayLose() bool {
	losses, _ := cause.Of(m.Effects, m.Plan)
	return len(losses) == 0 && cause.Open(m.Effects, m.Plan)
}

// further adds launches to the last stage, whose result is in dir.
func (s *Search) further(dir string, p *plan.Plan) (Measured, error) {
	return s.measure(&s.Advice.Stages[len(s.Advice.Stages)-1], dir, p, true)
}

// stage measures a plan into a directory of its own below that of the advice.
func (s *Search) stage(kind record.StageKind, load string, p *plan.Plan, host facts.Host) (Measured, error) {
	name := fmt.Sprintf("%d-%s", len(s.Advice.Stages)+1, kind)
	s.host = host
	st := record.AdviceStage{Kind: kind, Workload: load, Dir: name, Seed: p.Record.Seed}
	m, err := s.measure(&st, filepath.Join(s.Dir, name), p, false)
	if err == nil {
		s.Advice.Stages = append(s.Advice.Stages, st)
	}
	return m, err
}

// measure measures a stage and notes what it took.
func (s *Search) measure(st *record.AdviceStage, dir string, p *plan.Plan, further bool) (Measured, error) {
	began := time.Now()
	m, err := s.Measure(dir, p, s.host, further)
	s.Made = s.Made || m.Begun
	st.Seconds += m.Took.Seconds()
	s.Advice.Seconds += m.Took.Seconds()
	if err == nil {
		noteIn(st, m.Effects)
	}
	s.over = max(s.over, time.Since(began)-p.Expected())
	return m, err
}

// trial plans an experiment for one load with these arms, the baseline first.
func (s *Search) trial(load string, budget time.Duration, precision float64, host facts.Host, arms ...experiment.ArmSpec) (*plan.Plan, error) {
	e := s.Experiment.Only(load, arms...)
	e.Budget, e.Precision = max(budget.Round(time.Second), time.Second), precision
	return plan.Build(e, s.Catalog, host, nil)
}

// Write writes the advice so far into its directory, if a stage has made that.
func (s *Search) Write() error {
	if !s.Made {
		return nil
	}
	return record.WriteJSON(s.Dir, record.AdviceFile, &s.Advice)
}
