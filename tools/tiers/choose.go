package main

import (
	"math/big"
	"slices"
)

// A Choice has the tiers that a CI run runs and those that it leaves out.
type Choice struct {
	Run []Tier
	// Left are tiers that are due and do not fit into the time.
	Left []Tier
}

// choose picks the tiers that are due (their hash is not the one that passed), as many as fit into
// seconds. It adds one tier that is not due: one with which the run still ends within soon, so that
// small changes land soon, or if there is none, one with which it ends within seconds. The order of
// the tiers starts at one that follows from the commit, a hexadecimal number, so that different
// commits leave out different tiers.
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

// rotate rotates a list by a number that follows from the commit.
func rotate(tiers []Tier, commit string) []Tier {
	n, ok := new(big.Int).SetString(commit, 16)
	if !ok || len(tiers) == 0 {
		return tiers
	}
	first := int(new(big.Int).Mod(n, big.NewInt(int64(len(tiers)))).Int64())
	return slices.Concat(tiers[first:], tiers[:first])
}
