package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// assumedLaunchSD weighs launches of unequal length against each other. If it is
	// wrong, estimates have somewhat more variance, but no bias.
	assumedLaunchSD = 0.005
	// ownLevel is the p-value from which an arm's launches have an error of their own.
	// It is generous: a false one costs width (5 % in the mean), a missed one coverage.
	// Simulated in TestLaunches.
	ownLevel = 0.2
	// apartLevel is the level, over all arms (Holm 1979, Scand. J. Stat. 6, p. 65), at which
	// an arm's launches do not count for the error of the other arms.
	apartLevel = 0.05
)

// launchTable has the arms' effects by launch. Its scatter about launch + arm, in which both
// are fitted, is the error of estimates where launches differ: a launch changes each arm by an
// effect of its own, with one variance for all arms.
type launchTable struct {
	effect [][]float64 // NaN where the launch does not compare the arm with another one
	noise  [][]float64 // variance of an effect from the windows' noise
	// variance is that of a launch effect (Paule and Mandel 1982, J. Res. NBS 87, p. 377): with
	// it the weighted sum of squares of the table is its degrees of freedom; 0 where the
	// windows' noise explains the scatter. pooled is then below 1, else it is 1.
	variance, pooled float64
	df               float64 // (arms - 1)(launches - 1) in a complete table; 0: no error is known
	// gain[a][b] is the covariance of the estimates of arms a and b.
	gain  [][]float64
	own   []OwnLaunches
	apart []bool // arms whose launches differ so much more that they are not pooled
	pool  *launchFit
}

// OwnLaunches says how the launches of one arm scatter beside those of the others.
type OwnLaunches struct {
	// Launches is the number of launches of the arm. Effect has its deviation in each
	// launch (log scale) from its mean over launches, less what the other arms of the
	// launch did; NaN where it was not there.
	Launches int
	Effect   []float64
	// SD is the standard deviation of Effect, windows' noise included. F is the square of
	// its ratio to what the other arms let expect and P the one-sided p-value; NaN where the
	// table does not say.
	SD, F, P float64
	// Odd tells that the arm's error is that of its own launches (P below ownLevel).
	Odd bool
}

// OwnLaunches of an arm; its P is NaN where it cannot be compared.
func (f *Fit) OwnLaunches(arm int) OwnLaunches {
	if !f.Known || arm < 0 || arm >= len(f.between.own) {
		return OwnLaunches{SD: math.NaN(), F: math.NaN(), P: math.NaN()}
	}
	return f.between.own[arm]
}

// betweenLaunches fills the table from the fit by launch; window are the arms' variances of a
// window. The table has degrees of freedom where two launches have two arms in common.
func (f *Fit) betweenLaunches(t *twoWay, window []float64) {
	l, e := f.layout, &f.between
	if l.launches.n < 2 {
		return
	}
	for g, n := range l.counts(l.launches) {
		effect, component := slices.Clone(t.effect[g]), l.launches.component[g]
		main := largest(component, func(int) bool { return true })
		for a := range n {
			// An arm that the launch does not connect with most of its arms has another zero.
			if component[a] != main {
				effect[a] = math.NaN()
			}
			n[a] = window[a] / n[a]
		}
		e.effect, e.noise = append(e.effect, effect), append(e.noise, n)
	}
	e.apart, e.own = make([]bool, l.arms), make([]OwnLaunches, l.arms)
	e.setApart(l.present())
	if e.df < 1 {
		e.df = 0
		return
	}
	spread := rectangle(l.arms, l.arms)
	for g, n := range t.information {
		for k, noise := range e.noise[g] {
			variance := f.weigh[g] * f.weigh[g] * e.pooled * (e.variance + noise)
			for a, x := range n[k] {
				if x != 0 { // the launch has both arms
					floats.AddScaled(spread[a], variance*x, n[k])
				}
			}
		}
	}
	for _, row := range f.inverse {
		e.gain = append(e.gain, times(f.inverse, times(spread, row)))
	}
}

// largest is the first of the largest components that have one of the arms.
func largest(component []int, of func(arm int) bool) int {
	size, most := sizes(component), -1
	for a, c := range component {
		if of(a) && (most < 0 || size[c] > size[most]) {
			most = c
		}
	}
	return most
}

// launchFit is a fit of launch + arm to the table's effects of some arms, each with the
// precision 1/(variance + noise). A launch with a single one of them says nothing.
type launchFit struct {
	*twoWay
	noise, weights []float64
	df             float64
}

func (e *launchTable) among(of func(arm int) bool) *launchFit {
	w := blank(len(e.effect), len(e.apart), make([]int, len(e.effect)), nil)
	for g, row := range e.effect {
		for a, x := range row {
			if of(a) {
				w.Y[g][a] = x
			}
		}
	}
	l := arrange(w)
	t := &launchFit{twoWay: l.twoWay(l.all), weights: make([]float64, len(l.y))}
	t.df, _ = l.freedom(l.all)
	for b, g := range l.block {
		for _, a := range l.arm[l.from[b]:l.from[b+1]] {
			t.noise = append(t.noise, e.noise[g][a])
		}
	}
	return t
}

// at returns the effects of the arms, where launches vary by variance, and the weighted sum
// of squares of the residuals.
func (t *launchFit) at(variance float64) (effect []float64, square float64) {
	for i, noise := range t.noise {
		t.weights[i] = 1 / (variance + noise)
	}
	t.fit(t.y, t.weights)
	for i, r := range t.residual {
		square += t.weights[i] * r * r
	}
	return t.effect[0], square
}

// pooling are the arms that are not apart.
func (e *launchTable) pooling(arm int) bool { return !e.apart[arm] }

// solve finds the variance of launch effects.
func (e *launchTable) solve() {
	e.pool = e.among(e.pooling)
	e.df, e.variance = e.pool.df, 0
	if e.df < 1 {
		return
	}
	_, square := e.pool.at(0)
	if e.pooled = square / e.df; e.pooled <= 1 {
		return
	}
	excess := func(logV float64) float64 {
		_, square := e.pool.at(math.Exp(logV))
		return 1 - square/e.df
	}
	least := math.Inf(1)
	for _, row := range e.noise {
		least = math.Min(least, floats.Min(row))
	}
	low, high := math.Log(least)-35, math.Log(least)
	for excess(high) < 0 {
		low, high = high, high+3
	}
	e.variance, e.pooled = math.Exp(root(low, high, excess)), 1
}

// setApart takes arms out of the pool while the launches of one differ from those of the
// others at apartLevel, the least likely arm first, and tests every arm against the rest.
// Fewer than half of the arms that have windows are ever taken out.
func (e *launchTable) setApart(arms int) {
	for out := 1; ; out++ {
		e.solve()
		least, at := math.Inf(1), -1
		for a := range e.own {
			e.own[a] = e.compare(a)
			if p := e.own[a].P; !e.apart[a] && p < least {
				least, at = p, a
			}
		}
		if 2*out >= arms || !(least*float64(arms-out+1) <= apartLevel) {
			return
		}
		e.apart[at] = true
	}
}

// compare tests the launches of an arm against those of the others that are not apart: the
// arm's mean square about the others' prediction of each launch over the mean square of the
// others.
func (e *launchTable) compare(arm int) OwnLaunches {
	o := OwnLaunches{SD: math.NaN(), F: math.NaN(), P: math.NaN()}
	of := func(b int) bool { return b != arm && !e.apart[b] }
	fit := e.among(of)
	others, square := fit.at(e.variance)
	// Effects are relative to a zero for each set of arms that share launches: only the largest set is compared.
	component := fit.all.component[0]
	main := largest(component, of)
	var own, weights []float64
	for g, row := range e.effect {
		o.Effect = append(o.Effect, math.NaN())
		sum, precision := 0.0, 0.0
		for b, x := range row {
			if of(b) && component[b] == main && !math.IsNaN(x) {
				w := 1 / (e.variance + e.noise[g][b])
				sum, precision = sum+w*(x-others[b]), precision+w
			}
		}
		if precision > 0 && !math.IsNaN(row[arm]) {
			o.Launches++
			o.Effect[g] = row[arm] - sum/precision
			own, weights = append(own, o.Effect[g]), append(weights, 1/(e.variance+e.noise[g][arm]+1/precision))
		}
	}
	if len(own) < 2 {
		return o
	}
	o.SD = math.Sqrt(sumSquares(own, average(own)) / float64(len(own)-1))
	if fit.df >= 1 && square > 0 {
		o.F = scatterOf(own, weights) / (square / fit.df)
		o.P = fisherTail(o.F, float64(len(own)-1), fit.df)
		o.Odd = o.P < ownLevel
	}
	return o
}

// scatterOf is the weighted mean square of x about its weighted mean.
func scatterOf(x, weights []float64) float64 {
	mean, _ := centre(x, weights)
	square := 0.0
	for i, v := range x {
		square += weights[i] * (v - mean) * (v - mean)
	}
	return square / float64(len(x)-1)
}

// ofOwnLaunches is the error of a contrast from its own value in each launch, where it
// contains an arm whose launches are odd. An arm that is only a part of the control counts
// where it is apart: the control is the mean of two arms, and shares the error of all others.
func (f *Fit) ofOwnLaunches(c []float64) (variance, df float64, ok bool) {
	e := &f.between
	for a, x := range c {
		ok = ok || e.own != nil && (x != 0 && e.apart[a] || math.Abs(x) > 0.75 && e.own[a].Odd)
	}
	if !ok {
		return 0, 0, false
	}
	var own, weights []float64
	sum := 0.0
	for g, row := range e.effect {
		d, v := 0.0, 0.0
		for a, x := range c {
			if x != 0 {
				d, v = d+x*row[a], v+x*x*(e.variance+e.noise[g][a])
			}
		}
		if !math.IsNaN(d) {
			own, weights, sum = append(own, d), append(weights, 1/v), sum+1/v
		}
	}
	if len(own) < 2 {
		return 0, 0, false
	}
	return scatterOf(own, weights) / sum, float64(len(own) - 1), true
}
