package stat

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// Slots of the method: 4 s measured after 1 s discarded.
const (
	discarded = 1
	measured  = 4
	budget    = 3600 // s of slots
)

func trimmed(x []float64) Estimate { return Trimmed(x, 0.1) }

// quick asks for fewer replicates and gives more room; the full number runs in a
// plain go test.
func quick() bool { return testing.Short() || raced }

// replicates is enough for a standard error of 0.35 points at 5 %.
func replicates() int {
	if quick() {
		return 800
	}
	return 4000
}

// trial is one kind of simulated comparison of two columns.
type trial struct {
	regime
	effect   float64 // true log ratio
	launchSD float64 // of one column
	seed     uint64
}

// tally counts what became of many intervals.
type tally struct {
	n, excludes0, covers int
}

func (c *tally) add(i Interval, truth float64) {
	c.n++
	if !i.Contains(0) {
		c.excludes0++
	}
	if i.Contains(truth) {
		c.covers++
	}
}

// within fails unless hits/n is between lo and hi; seeds are fixed, so this does
// not flicker. It returns the rate.
func within(t *testing.T, what string, hits, n int, lo, hi float64) {
	t.Helper()
	rate, ci := float64(hits)/float64(n), clopperPearson(hits, n, 0.95)
	if quick() { // allow for three standard errors more
		lo, hi = lo-3*math.Sqrt(lo*(1-lo)/float64(n)), hi+3*math.Sqrt(hi*(1-hi)/float64(n))
	}
	t.Logf("%-44s %5.2f %% [%.2f, %.2f], n %d", what, 100*rate, 100*ci.Lo, 100*ci.Hi, n)
	if rate < lo || rate > hi {
		t.Errorf("%s: %.2f %% is not within %.1f to %.1f %%", what, 100*rate, 100*lo, 100*hi)
	}
}

// clopperPearson is the exact interval of a proportion from hits out of n
// (Clopper and Pearson 1934, Biometrika 26, p. 404); [0, 1] for n = 0.
func clopperPearson(hits, n int, level float64) Interval {
	tail := (1 - level) / 2
	i := Interval{0, 1}
	if hits > 0 {
		i.Lo = mathext.InvRegIncBeta(float64(hits), float64(n-hits+1), tail)
	}
	if hits < n {
		i.Hi = mathext.InvRegIncBeta(float64(hits+1), float64(n-hits), 1-tail)
	}
	return i
}

// row is one randomised block of as many slots as launch has columns: the log
// throughput of each.
func (n *noise) row(launch []float64) []float64 {
	y := make([]float64, len(launch))
	for _, j := range n.rng.Perm(len(launch)) {
		y[j] = launch[j] + n.window(discarded, measured)
	}
	return y
}

// launch draws the effects of one launch of each column.
func (n *noise) launch(columns int, sd float64) []float64 {
	l := make([]float64, columns)
	for j := range l {
		l[j] = sd * n.rng.NormFloat64()
	}
	return l
}

// differences is a generation of rows: for each column but 0, y - y[0].
func (n *noise) differences(columns, rows int, launchSD float64) [][]float64 {
	launch := n.launch(columns, launchSD)
	d := make([][]float64, columns-1)
	for range rows {
		y := n.row(launch)
		for j := range d {
			d[j] = append(d[j], y[j+1]-y[0])
		}
	}
	return d
}

// until runs pairs, each until stop says so or the budget is spent, and counts the
// intervals that show makes of all differences.
func (tr trial) until(stop func(d []float64) bool, show func(d []float64) Interval) *tally {
	rng := seeded(tr.seed)
	c := &tally{}
	for range replicates() {
		n := newNoise(tr.regime, rng)
		launch := n.launch(2, tr.launchSD)
		launch[1] += tr.effect
		var d []float64
		for seconds := 0; seconds < budget; seconds += 2 * (discarded + measured) {
			y := n.row(launch)
			d = append(d, y[1]-y[0])
			if stop(d) {
				break
			}
		}
		c.add(show(d), tr.effect)
	}
	return c
}

// The simulator has to be able to fail a bad rule.
func TestStoppingWhenDecidedFails(t *testing.T) {
	decided := func(d []float64) bool {
		if len(d) < 12 || len(d)%2 != 0 {
			return false
		}
		i := Trimmed(d, 0.1).At(0.95)
		return i.Beyond(0) || i.Inside(0.01)
	}
	show := func(d []float64) Interval { return Trimmed(d, 0.1).At(0.95) }
	c := trial{regime: regimes()[1], seed: 40}.until(decided, show)
	within(t, "shared: false differences of the naive rule", c.excludes0, c.n, 0.15, 0.35)
}

// At a true effect of MDE(w, power) an interval of half-width w excludes 0 with that
// power.
func TestMDEPower(t *testing.T) {
	const half = 0.01
	show := func(d []float64) Interval { return trimmed(d).At(0.95) }
	wide := func(d []float64) bool { return len(d) >= 24 && show(d).Half() <= half }
	for i, power := range []float64{0.8, 0.9} {
		c := trial{regime: regimes()[1], effect: MDE(half, power), seed: uint64(70 + i)}.until(wide, show)
		within(t, "shared: power at the MDE", c.excludes0, c.n, power-0.05, power+0.07)
	}
}

// Contains tells whether x is inside.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }
