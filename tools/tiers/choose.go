package main

import (
	"hash/fnv"
	"math/rand/v2"
)

// A Choice has the tiers that a CI run runs, in order, and those for which there is no time.
type Choice struct {
	Run, Left []Tier
}

// choose draws an order of the tiers from the commit and takes each that still fits into seconds.
func choose(tiers []Tier, commit string, seconds int) Choice {
	h := fnv.New64a()
	h.Write([]byte(commit))
	var c Choice
	for _, i := range rand.New(rand.NewPCG(h.Sum64(), 0)).Perm(len(tiers)) {
		switch t := tiers[i]; {
		case t.Always:
		case t.Takes > seconds:
			c.Left = append(c.Left, t)
		default:
			seconds -= t.Takes
			c.Run = append(c.Run, t)
		}
	}
	return c
}
