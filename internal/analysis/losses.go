package analysis

import (
	"math/rand/v2"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// losses describes the dropped windows, and whether dropping depends on the arm.
type losses struct {
	*table
	kept []float64 // share of an arm's windows that count
	p    float64   // p-value of the permutation test of equal shares; NaN without dropped windows
}

const (
	// lossDraws is the number of permutations.
	lossDraws = 999
	// depends is the p-value up to which dropping counts as dependent on the arm: above the
	// usual 5 %, as no other check would find it.
	depends = 0.10
)

// losses compares the shares of dropped windows of the arms by a permutation test.
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

// bound returns by how much the ends of an interval move if the windows that one arm lost more
// often than the other were its worst. why says what was dropped; it is nothing where dropping
// does not depend on the arm.
func (l *losses) bound(f *fits, arm, base string) (by stat.Interval, why record.Said) {
	if l == nil || !(l.p <= depends) {
		return by, why
	}
	a, b := l.index[arm], l.index[base]
	by = f.typical.Bound(a, l.kept)
	if base != l.load.Baseline {
		below := f.typical.Bound(b, l.kept)
		by.Lo, by.Hi = by.Lo-below.Hi, by.Hi-below.Lo
	}
	if by.Lo == 0 && by.Hi == 0 {
		return by, why
	}
	return by, droppedMore(1-l.kept[a], arm, 1-l.kept[b], base)
}
