package main

import (
	"math/big"
	"slices"
)

// A Choice is what a CI run does with the tiers.
type Choice struct {
	Run []Tier
	// Left are tiers that have to run and do not fit into the time.
	Left []Tier
}

// choose picks the tiers whose hash is not among those that passed, as far as seconds last,
// and one of the others: one that is done within soon, so that a small change lands soon, or
// where the rest takes longer than that, one that seconds have room for. The commit, a
// hexadecimal number, says with which it begins: different commits leave different ones out.
func choose(tiers []Tier, hashes, passed map[string]string, commit string, seconds, soon int) Choice {
	var due, done []Tier
	for _, t := range tiers {
		switch {
		case t.Always:
		case passed[t.Name] == hashes[t.Name]:
			done = append(done, t)
		default:
			due = append(due, t)
		}
	}
	var c Choice
	used := 0
	for _, t := range rotate(due, commit) {
		if used+t.Takes > seconds {
			c.Left = append(c.Left, t)
			continue
		}
		used += t.Takes
		c.Run = append(c.Run, t)
	}
	for _, limit := range []int{min(soon, seconds) - used, seconds - used} {
		for _, t := range rotate(done, commit) {
			if t.Takes <= limit {
				c.Run = append(c.Run, t)
				return c
			}
		}
	}
	return c
}

// rotate begins a list at the place that the commit says.
func rotate(tiers []Tier, commit string) []Tier {
	n, ok := new(big.Int).SetString(commit, 16)
	if !ok || len(tiers) == 0 {
		return tiers
	}
	first := int(new(big.Int).Mod(n, big.NewInt(int64(len(tiers)))).Int64())
	return slices.Concat(tiers[first:], tiers[:first])
}
