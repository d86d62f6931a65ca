package analysis

import (
	"fmt"
	"math/rand/v2"

	"github.com/tarelab/tare/internal/stat"
)

// losses is which windows were dropped, and whether that depends on the arm.
type losses struct {
	*table
	kept []float64 // share of the windows taken, by arm
	p    float64   // that arms differ so much where the arm plays no role; NaN without any
}

const (
	// lossDraws permutations tell whether drops depend on the arm.
	lossDraws = 999
	// depends is the p-value up to which they are taken to: above the usual 5 %, for
	// what is missed here is not seen anywhere else.
	depends = 0.10
)

// losses compares the drops of the arms by permutation.
func (t *table) losses() *losses {
	l := &losses{table: t, kept: make([]float64, len(t.arms))}
	rows := make([][]stat.Drop, len(t.rows))
	lost := make([]float64, len(t.arms))
	for i, r := range t.rows {
		rows[i] = make([]stat.Drop, len(t.arms))
		for a, w := range r.windows {
			if w != nil {
				rows[i][a] = stat.Kept
			}
		}
		for _, a := range r.dropped {
			rows[i][a] = stat.Dropped
			lost[a]++
		}
	}
	for a := range l.kept {
		l.kept[a] = 1 - lost[a]/float64(max(t.taken[a], 1))
	}
	l.p = stat.DropRates(rows, lossDraws, rand.New(rand.NewPCG(uint64(len(t.rows)), 0x10557))).P
	return l
}

// bound is by how much the ends of the interval of a comparison move by the worst
// that can be assumed of windows of which more were dropped on one side than on
// the other. text says what was dropped; empty: nothing that depends on the arm.
func (l *losses) bound(f *fits, arm, base string) (by stat.Interval, text string) {
	if l == nil || !(l.p <= depends) {
		return by, ""
	}
	a, b := l.index[arm], l.index[base]
	by = f.typical.Bound(a, l.kept)
	if base != l.load.Baseline {
		below := f.typical.Bound(b, l.kept)
		by.Lo, by.Hi = by.Lo-below.Hi, by.Hi-below.Lo
	}
	if by.Lo == 0 && by.Hi == 0 {
		return by, ""
	}
	return by, fmt.Sprintf("%.0f %% of the windows of %s were dropped and %.0f %% of %s: what they may hide is more than the difference",
		100*(1-l.kept[a]), arm, 100*(1-l.kept[b]), base)
}
