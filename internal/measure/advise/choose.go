package advise

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/record"
)

// alike is how much less of a loss another remedy may regain, as a part of the loss, to be as good.
const alike = 0.05

// helped are the candidates that are shown to be faster than the arm that lost, the best first: the one
// that regains most or, among those that are alike, the one beside which the neighbour keeps most of its work.
func (a *attempt) helped() (out []int) {
	for i, c := range a.candidates {
		if c.Result != nil && c.Result.Answer.Word == record.SaysFaster {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(a.regains(y), a.regains(x)) })
	best := 0
	for n, i := range out {
		k, kept := a.candidates[i].Result.Kept, a.candidates[out[best]].Result.Kept
		if a.regains(i) >= a.regains(out[0])-alike && k != nil && kept != nil && k.Ratio > kept.Ratio {
			best = n
		}
	}
	if best > 0 {
		out[0], out[best] = out[best], out[0]
	}
	return out
}

// regains is the part of the logarithm of the loss that a measured candidate gives back, by its estimate.
func (a *attempt) regains(candidate int) float64 {
	return -math.Log(a.candidates[candidate].Result.Gained.Ratio) / math.Log(a.loss.Lost.Ratio)
}

// promises is the part of the loss that an undecided candidate has to give back by its estimate to be proved. The
// proof has three arms and launches that no choice depended on, so it decides sooner than more launches of all.
const promises = 0.3

// promising is the undecided candidate that gives most back, by its estimate; -1: none gives enough.
func (a *attempt) promising() int {
	best := -1
	for i, c := range a.candidates {
		if c.Result == nil || c.Result.Gained == nil || c.Result.Answer.Word != record.SaysUndecided || a.regains(i) < promises {
			continue
		}
		if best < 0 || a.regains(i) > a.regains(best) {
			best = i
		}
	}
	return best
}
