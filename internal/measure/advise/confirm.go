package advise

import (
	"path/filepath"

	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/record"
)

// together tries the best two remedies together where both helped, a part of the loss remains and the time has room
// for it before the proof. It returns the better one of the best and both.
func (a *attempt) together(best int) (int, error) {
	if !a.remains(best) {
		return best, nil
	}
	for _, second := range a.helped() {
		both, ok := remedy.Together(a.on, a.candidates[best], a.candidates[second])
		if second == best || !ok {
			continue
		}
		p, err := a.trial(a.loss.Workload, a.part(partTogether), coarse, a.host, a.base, a.lost, a.candidates[best].Spec, both.Spec)
		if err != nil || len(p.Left) > 0 {
			continue
		}
		if least, _ := a.pace.deciding(p); least > a.beforeProof(best) {
			return best, nil
		}
		a.candidates = append(a.candidates, both)
		return a.compare(best, len(a.candidates)-1)
	}
	return best, nil
}

// remains says whether a loss against the baseline is shown with a remedy.
func (a *attempt) remains(candidate int) bool {
	left := a.candidates[candidate].Result.Left
	return left != nil && (left.Side() > 0 && a.loss.Lost.Ratio > 1 || left.Side() < 0 && a.loss.Lost.Ratio < 1)
}

// compare measures two remedies together beside the best one alone, and returns the better one. The answer
// on both is that against the best one alone.
func (a *attempt) compare(best, both int) (int, error) {
	r, err := a.measured(record.StageTogether, a.part(partTogether), max(a.Experiment.Precision, coarse), best, both)
	if err != nil {
		return best, err
	}
	results, err := a.against(r, a.lost.Name, both)
	if err != nil {
		return best, err
	}
	alone, err := a.against(r, a.candidates[best].Arm, both)
	if err != nil {
		return best, err
	}
	results[0].Answer = alone[0].Answer
	a.candidates[both].Result = &results[0]
	if alone[0].Answer.Word == record.SaysFaster {
		best = both
	}
	return best, a.keep()
}

// confirm measures a remedy once more, with fresh launches: its figure depends on no choice. What is undecided, or has
// no verdict because a twin differs, is measured on in the time that is left.
func (a *attempt) confirm(best int) error {
	r, err := a.measured(record.StageProof, a.part(1), a.Experiment.Precision, best)
	if err != nil {
		return err
	}
	for had := 0; ; {
		results, err := a.against(r, a.lost.Name, best)
		if err != nil {
			return err
		}
		if err := a.conclude(best, results[0]); err != nil {
			return err
		}
		more := a.part(1)
		if !isOpen(results[0].Answer.Word) || more < leastFurther || results[0].Launches <= had {
			return nil
		}
		had = results[0].Launches
		if r, err = a.longer(record.StageProof, r, more, a.Experiment.Precision, best); err != nil {
			return err
		}
	}
}

// conclude fills in what the proof says. Where nothing was tried before it, it is also the result of the candidate.
func (a *attempt) conclude(best int, r record.RemedyResult) error {
	l := a.loss
	l.Proof, l.Remedy = &r, &best
	if c := &a.candidates[best]; c.Result == nil || c.Result.Stage == r.Stage {
		c.Result = &r
	}
	if err := a.keep(); err != nil {
		return err
	}
	a.separate()
	switch s := r.Answer; s.Word {
	case record.SaysFaster:
		l.Standing, l.Reason = record.StandingProved, record.Said{}
	case record.SaysUndecided:
		l.Standing, l.Reason = record.StandingUndecided, aboutMore(a.candidates[best].Remedies, s)
	case record.SaysInvalid:
		l.Standing, l.Reason = record.StandingInvalid, s.Reason
	default:
		l.Standing, l.Reason = record.StandingNoHelp, record.Say("not_again")
	}
	return nil
}

// contradict makes the result undecided where two stages measured losses whose intervals have nothing in common: the
// host, or something else, was not the same in both, and neither figure is that of the remedy.
func (a *attempt) contradict() {
	type measured struct {
		stage string
		lost  record.Ratio
	}
	all := []measured{{filepath.Base(a.Advice.Stages[0].Dir), a.loss.Lost}}
	results := []*record.RemedyResult{a.loss.Proof}
	for _, c := range a.candidates {
		results = append(results, c.Result)
	}
	for _, r := range results {
		if r != nil && r.Lost != nil {
			all = append(all, measured{r.Stage, *r.Lost})
		}
	}
	for i, x := range all {
		for _, y := range all[:i] {
			if record.Apart(x.lost, y.lost) {
				a.loss.Standing = record.StandingUndecided
				a.loss.Reason = record.Say("stages_contradict", "stage", y.stage, "lost", y.lost, "stage_again", x.stage, "lost_again", x.lost)
				return
			}
		}
	}
}

// keep writes what is known so far into the advice.
func (a *attempt) keep() error {
	a.loss.Candidates = []record.Candidate{}
	for _, c := range a.candidates {
		a.loss.Candidates = append(a.loss.Candidates, c.Candidate)
	}
	return a.Write()
}
