package analysis

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
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
// subtracted, the labels of the arms are shuffled, and everything is estimated again. Nothing
// differs then, so each finding is false. Labels are shuffled within every block, and, where
// there are metric.LeastLaunches, by launch, so that an arm keeps its whole launch. share is the part of the
// error that the metric has.
func (t *table) permutationTest(f *fits, share float64, draws int) *record.Redrawn {
	if f == nil || draws < 1 || !f.typical.Known || f.parts == nil || len(t.arms) < 3 {
		return nil
	}
	draws = permutationsOf(len(t.arms), draws)
	p := permuted{table: t, groups: f.groups, share: share}
	p.y, p.launch = t.residual(f)
	if !stat.FitWindows(stat.Windows{Y: p.y, Launch: p.launch, Control: t.control()}, true).Known {
		return nil
	}
	out := p.draw(draws, p.byBlock)
	if t.launches() >= metric.LeastLaunches {
		out.Launches = p.draw(draws, p.byLaunch)
	}
	return out
}

// permuted are the windows without effects, and how they are judged.
type permuted struct {
	*table
	groups [][]string
	share  float64
	y      [][]float64
	launch []int
}

// draw shuffles and judges so often.
func (p *permuted) draw(draws int, shuffle func(*rand.Rand) [][]float64) *record.Redrawn {
	found, any := make([]int, draws), make([]int, draws)
	arms := 0
	for _, a := range p.arms {
		if a != p.load.Baseline && !p.arm(a).Twin {
			arms++
		}
	}
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for k := range workers {
		wait.Go(func() {
			for d := k; d < draws; d += workers {
				found[d], any[d] = p.falseFindings(shuffle(rand.New(rand.NewPCG(uint64(d), 0x7a7e))))
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

// byBlock shuffles the labels of each block. An arm without a value stays without one.
func (p *permuted) byBlock(rng *rand.Rand) [][]float64 {
	z := make([][]float64, len(p.y))
	for b, row := range p.y {
		z[b] = slices.Clone(row)
		var here []int
		for a, x := range row {
			if !math.IsNaN(x) {
				here = append(here, a)
			}
		}
		for to, from := range rng.Perm(len(here)) {
			z[b][here[to]] = row[here[from]]
		}
	}
	return z
}

// byLaunch shuffles the labels of each launch, among arms that have windows in the same blocks.
func (p *permuted) byLaunch(rng *rand.Rand) [][]float64 {
	z := make([][]float64, len(p.y))
	for first := 0; first < len(p.y); {
		end := first + 1
		for end < len(p.y) && p.launch[end] == p.launch[first] {
			end++
		}
		to := p.swaps(p.y[first:end], rng)
		for b := first; b < end; b++ {
			z[b] = make([]float64, len(p.y[b]))
			for a, x := range p.y[b] {
				z[b][to[a]] = x
			}
		}
		first = end
	}
	return z
}

// swaps returns the new label of each arm in a launch.
func (p *permuted) swaps(rows [][]float64, rng *rand.Rand) []int {
	to := make([]int, len(p.arms))
	kinds := map[string][]int{}
	for a := range to {
		var there strings.Builder
		for _, row := range rows {
			there.WriteString(map[bool]string{true: " ", false: "x"}[math.IsNaN(row[a])])
		}
		kinds[there.String()] = append(kinds[there.String()], a)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		arms := kinds[kind]
		for i, k := range rng.Perm(len(arms)) {
			to[arms[i]] = arms[k]
		}
	}
	return to
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

// falseFindings returns how many arms are found to differ, each alone, and whether a verdict
// would say so of any (0 or 1).
func (p *permuted) falseFindings(z [][]float64) (found, any int) {
	f := stat.FitWindows(stat.Windows{Y: z, Launch: p.launch, Control: p.control()}, true)
	for i, group := range p.groups {
		cs := p.against(f, group)
		least, at := math.Inf(1), 0
		for k, c := range cs {
			v := f.PValue(c)
			if v < p.alpha {
				found++
			}
			if v < least {
				least, at = v, k
			}
		}
		// The first group opens the gate to the others, and is a false finding then.
		if i == 0 && f.FamilyPValue(cs, at) < p.share*p.alpha {
			any = 1
		}
	}
	return found, any
}
