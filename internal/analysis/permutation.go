package analysis

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

const (
	// permutations is the number of permutations of the arms' labels.
	permutations = 500
	// permutedBlocks is the largest number of blocks in a permutation: the first of each
	// launch, as many of each; of many launches the first ones, with two blocks each.
	permutedBlocks = 60
	// permutedArms is the largest number of arms for which all permutations are made: the
	// time of one grows with the square of the arms. fewestPermutations is the least number.
	permutedArms       = 16
	fewestPermutations = 50
)

// permutationsOf is the number of permutations for a number of arms, where draws are asked for.
func permutationsOf(arms, draws int) int {
	if arms <= permutedArms {
		return draws
	}
	return min(draws, max(fewestPermutations, draws*permutedArms*permutedArms/(arms*arms)))
}

// permutationTest checks the method on the noise of this record: the effects are
// subtracted, the labels of the arms are shuffled within every block, and everything is
// estimated again. Nothing differs then, so each finding is false. judged is the number of
// metrics that are judged together.
func (t *table) permutationTest(f *fits, judged, draws int) *record.Redrawn {
	if f == nil || draws < 1 || !f.typical.Known || f.parts == nil || len(t.arms) < 3 {
		return nil
	}
	draws = permutationsOf(len(t.arms), draws)
	y, launch := t.residual(f)
	if !stat.FitWindows(stat.Windows{Y: y, Launch: launch, Control: t.control()}, true).Known {
		return nil
	}
	found, any := make([]int, draws), make([]int, draws)
	arms := 0
	for _, a := range t.arms {
		if a != t.load.Baseline && !t.arm(a).Twin {
			arms++
		}
	}
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wait.Go(func() {
			for d := k; d < draws; d += workers {
				found[d], any[d] = t.permute(f.groups, judged, y, launch, rand.New(rand.NewPCG(uint64(d), 0x7a7e)))
			}
		})
	}
	wait.Wait()
	out := &record.Redrawn{Draws: draws}
	for d := range draws {
		out.Rate += float64(found[d]) / float64(draws*max(arms, 1))
		out.Any += float64(any[d]) / float64(draws)
	}
	return out
}

// residual returns the values without the effects, of the first permutedBlocks blocks.
func (t *table) residual(f *fits) (y [][]float64, launch []int) {
	per := max(permutedBlocks/max(t.launches(), 1), 2)
	seen := map[int]int{}
	for i, row := range f.y {
		l := t.rows[i].launch
		if seen[l]++; seen[l] > per || len(seen) > permutedBlocks/2 {
			continue
		}
		r := make([]float64, len(row))
		for a, x := range row {
			r[a] = x - f.typical.Alpha[a]
		}
		y, launch = append(y, r), append(launch, l)
	}
	return y, launch
}

// shuffled shuffles the labels of a block. An arm without a value stays without one.
func shuffled(row []float64, rng *rand.Rand) []float64 {
	out := slices.Clone(row)
	var here []int
	for a, x := range row {
		if !math.IsNaN(x) {
			here = append(here, a)
		}
	}
	for to, from := range rng.Perm(len(here)) {
		out[here[to]] = row[here[from]]
	}
	return out
}

// permute makes one permutation. It returns how many arms are found to differ, each alone,
// and whether a verdict would say so of any (0 or 1).
func (t *table) permute(groups [][]string, judged int, y [][]float64, launch []int, rng *rand.Rand) (found, any int) {
	z := make([][]float64, len(y))
	for b, row := range y {
		z[b] = shuffled(row, rng)
	}
	f := stat.FitWindows(stat.Windows{Y: z, Launch: launch, Control: t.control()}, true)
	for i, group := range groups {
		cs := t.against(f, group)
		least, at := math.Inf(1), 0
		for k, c := range cs {
			p := f.PValue(c)
			if p < t.alpha {
				found++
			}
			if p < least {
				least, at = p, k
			}
		}
		// The first group opens the gate to the others, and is a false finding then.
		if i == 0 && f.FamilyPValue(cs, at, judged) < t.alpha {
			any = 1
		}
	}
	return found, any
}
