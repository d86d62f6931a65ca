package remedy

import (
	"cmp"
	"slices"

	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/record"
)

// Candidate is a remedy for a loss with the arm that tests it.
type Candidate struct {
	record.Candidate
	Spec experiment.ArmSpec
	sets []string
}

// Candidates returns the remedies for the causes of a loss, the largest expected part of it first.
func Candidates(l Lost, causes []record.CauseShare) []Candidate {
	var out []Candidate
	for _, r := range All() {
		t, ok := r.On(l)
		if !ok {
			continue
		}
		c := candidate(l, r, t)
		for _, cause := range causes {
			c.For = append(c.For, matching(r, cause)...)
			c.Expected += r.Part * expected(r, cause)
		}
		if c.Expected > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.Expected, a.Expected) })
	return out
}

// candidate is a remedy in a trial.
func candidate(l Lost, r Remedy, t Trial) Candidate {
	name := r.Name
	if slices.Contains(l.Taken, name) {
		name = "with-" + name
	}
	c := Candidate{Spec: t.Arm, sets: []string{r.Sets}, Candidate: record.Candidate{
		Remedies: []string{r.Name}, Does: []string{r.Does}, Arm: name, For: []record.LossCause{}, Apply: t.Apply, Undo: t.Undo, Gives: []record.Said{cmp.Or(t.Gives, r.Gives)},
	}}
	c.Spec.Name = name
	if t.Not != nil {
		not := *t.Not
		not.Arm = name
		c.Skipped = &not
	}
	return c
}

// matching are the causes in a share that a remedy is for.
func matching(r Remedy, c record.CauseShare) (out []record.LossCause) {
	for _, cause := range c.Causes {
		if slices.Contains(r.For, cause) {
			out = append(out, cause)
		}
	}
	return out
}

// expected is the part of a loss whose cause a remedy is for. Causes that stand together have equal parts
// of their share; a share that is not known counts as the whole.
func expected(r Remedy, c record.CauseShare) float64 {
	share := 1.0
	if c.Share != nil {
		share = min(max(c.Share.Share, 0), 1)
	}
	return share * float64(len(matching(r, c))) / float64(max(len(c.Causes), 1))
}

// BothName is the name of the arm with two remedies together.
const BothName = "both"

// Together puts a second remedy on the arm of a first one; false: they do not go together.
func Together(l Lost, a, b Candidate) (Candidate, bool) {
	second, ok := Find(b.Remedies[0])
	if !ok || len(a.Remedies) != 1 || len(b.Remedies) != 1 || slices.Contains(a.sets, second.Sets) {
		return Candidate{}, false
	}
	l.Arm = a.Spec
	t, ok := second.On(l)
	if !ok || t.Not != nil {
		return Candidate{}, false
	}
	out := Candidate{Spec: t.Arm, sets: append(slices.Clone(a.sets), b.sets...), Candidate: record.Candidate{
		Remedies: []string{a.Remedies[0], b.Remedies[0]}, Does: slices.Concat(a.Does, b.Does), Arm: BothName,
		For: slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.For, b.For)))), Expected: a.Expected + b.Expected,
		Apply: slices.Concat(a.Apply, t.Apply), Undo: slices.Concat(t.Undo, a.Undo), Gives: slices.Concat(a.Gives, b.Gives),
	}}
	out.Spec.Name = BothName
	return out, true
}
