package cli

import (
	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/record"
)

// together tries the best two remedies together where both helped and a part of the loss remains. It
// returns the better one of the best and both.
func (a *attempt) together(best int) (int, error) {
	if !a.remains(best) {
		return best, nil
	}
	for _, second := range a.helped() {
		both, ok := remedy.Together(a.on, a.candidates[best], a.candidates[second])
		if second == best || !ok {
			continue
		}
		if p, err := a.trial(a.loss.Workload, a.part(partTogether), coarse, a.host, a.base, a.lost, a.candidates[best].Spec, both.Spec); err != nil || len(p.Left) > 0 {
			continue
		}
		a.candidates = append(a.candidates, both)
		return a.compare(best, len(a.candidates)-1)
	}
	return best, nil
}

// remains says whether a loss against the baseline is shown with a remedy.
func (a *attempt) remains(candidate int) bool {
	left := a.candidates[candidate].Result.Left
	return left != nil && (left.Low > 1 && a.loss.Lost.Ratio > 1 || left.High < 1 && a.loss.Lost.Ratio < 1)
}

// compare measures two remedies together beside the best one alone, and returns the better one. The answer
// on both is that against the best one alone.
func (a *attempt) compare(best, both int) (int, error) {
	r, err := a.measured(record.StageTogether, a.part(partTogether), max(a.e.Precision, coarse), best, both)
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

// confirm measures a remedy once more, with fresh launches: its figure depends on no choice.
func (a *attempt) confirm(best int) error {
	r, err := a.measured(record.StageProof, a.part(1), a.e.Precision, best)
	if err != nil {
		return err
	}
	results, err := a.against(r, a.lost.Name, best)
	if err != nil {
		return err
	}
	l := a.loss
	l.Proof, l.Remedy = &results[0], &best
	a.separate()
	switch s := results[0].Answer; s.Word {
	case record.SaysFaster:
		l.Standing, l.Reason = record.StandingProved, ""
	case record.SaysUndecided:
		l.Standing, l.Reason = record.StandingUndecided, aboutMore(a.candidates[best].Arm, s)
	case record.SaysInvalid:
		l.Standing, l.Reason = record.StandingInvalid, s.Reason
	default:
		l.Standing, l.Reason = record.StandingNoHelp, notAgain
	}
	return nil
}

// keep writes what is known so far into the advice.
func (a *attempt) keep() error {
	a.loss.Candidates = []record.Candidate{}
	for _, c := range a.candidates {
		a.loss.Candidates = append(a.loss.Candidates, c.Candidate)
	}
	return a.write()
}
