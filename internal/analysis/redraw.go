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
	// redraws is how often the labels of the arms are drawn anew.
	redraws = 500
	// redrawnBlocks is the most blocks for which that is done: the first of each
	// launch, the same number of each; of many launches the first ones, with two
	// blocks each.
	redrawnBlocks = 60
	// redrawnArms is the most arms for which all draws are made: what one takes grows with
	// the square of the arms. fewestDraws is how many are made of any number of them.
	redrawnArms = 16
	fewestDraws = 50
)

// drawsOf is how many draws are made of so many arms where draws are asked for.
func drawsOf(arms, draws int) int {
	if arms <= redrawnArms {
		return draws
	}
	return min(draws, max(fewestDraws, draws*redrawnArms*redrawnArms/(arms*arms)))
}

// redraw checks the method on the noise of this very record: effects are taken
// out, the labels of the arms are drawn anew within every block, where there is
// then nothing to find, and everything is estimated again. questions is how many metrics
// a verdict pays for.
func (t *table) redraw(f *fits, questions, draws int) *record.Redrawn {
	if f == nil || draws < 1 || !f.typical.Known || f.parts == nil || len(t.arms) < 3 {
		return nil
	}
	draws = drawsOf(len(t.arms), draws)
	y, launch := t.residual(f)
	if !stat.FitWindows(stat.Windows{Y: y, Launch: launch, Control: t.control()}, true).Known {
		return nil
	}
	found, any, asked := make([]int, draws), make([]int, draws), t.asked(f)
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
				found[d], any[d] = t.redrawn(asked, questions, y, launch, rand.New(rand.NewPCG(uint64(d), 0x7a7e)))
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

// residual is what is left of the values without the effects, of as many blocks as
// are looked at.
func (t *table) residual(f *fits) (y [][]float64, launch []int) {
	per := max(redrawnBlocks/max(t.launches(), 1), 2)
	seen := map[int]int{}
	for i, row := range f.y {
		l := t.rows[i].launch
		if seen[l]++; seen[l] > per || len(seen) > redrawnBlocks/2 {
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

// relabelled is a block with other labels; one that lacks an arm lacks it still.
func relabelled(row []float64, rng *rand.Rand) []float64 {
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

// redrawn is one draw: how many arms are found to differ, each alone, and whether any
// verdict would say so (0 or 1).
func (t *table) redrawn(asked [][]string, questions int, y [][]float64, launch []int, rng *rand.Rand) (found, any int) {
	z := make([][]float64, len(y))
	for b, row := range y {
		z[b] = relabelled(row, rng)
	}
	f := stat.FitWindows(stat.Windows{Y: z, Launch: launch, Control: t.control()}, true)
	for i, group := range asked {
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
		// What comes first opens the gate to the others, and is then an error itself.
		if i == 0 && f.FamilyPValue(cs, at, questions) < t.alpha {
			any = 1
		}
	}
	return found, any
}
