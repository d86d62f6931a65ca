package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// leastVariance is the least window variance of an arm, as a share of the arms'
// mean. The estimate is a difference and could be negative.
const leastVariance = 0.1

// estimate fits the arms within each launch, combines the launches, and estimates
// the errors of windows and of launches.
func (f *Fit) estimate(z, inflate []float64, precision bool) {
	l := f.layout
	t := l.unweighted(l.launches, z)
	left, of := l.freedom(l.launches)
	f.free = left / of
	window, mean := l.windowVariances(t.residual, inflate, f.free)
	if !(math.Sqrt(mean) > 1e-13*l.size) {
		f.Why = "the windows do not vary: the error is unknown"
		return
	}
	f.Known, f.residual = true, t.residual
	f.join(t, mean, precision)
	f.sandwich(t.residual, inflate)
	f.betweenLaunches(t, window)
}

// join is generalised least squares over launches: alpha = sum_g H_g A_g with
// A_g the arms of launch g and H_g = (sum_h w_h N_h)^- w_g N_g. Launches that lack
// arms count for those they have. With precision, w_g makes a launch of m windows
// an arm count as 1/(sd^2 + v/m), else as m.
func (f *Fit) join(t *twoWay, variance float64, precision bool) {
	l := f.layout
	f.weigh = l.launchWeights(variance, precision)
	total, right := rectangle(l.arms, l.arms), make([]float64, l.arms)
	for g, n := range t.information {
		for a, row := range n {
			floats.AddScaled(total[a], f.weigh[g], row)
			right[a] += f.weigh[g] * floats.Dot(row, t.effect[g])
		}
	}
	f.inverse = laplacianInverse(total, l.all.component[0])
	f.Alpha = times(f.inverse, right)
	for a := range f.Alpha {
		if l.count[a] == 0 {
			f.Alpha[a] = math.NaN()
		}
	}
}

// launchWeights are the weights of a window in each launch, with mean 1, see join.
func (l *layout) launchWeights(variance float64, precision bool) []float64 {
	w := slices.Repeat([]float64{1}, l.launches.n)
	if precision {
		for g, counts := range l.counts(l.launches) {
			arms := floats.Count(func(n float64) bool { return n > 0 }, counts)
			w[g] = 1 / (assumedLaunchSD*assumedLaunchSD*sumOf(counts)/float64(arms) + variance)
		}
	}
	floats.Scale(float64(len(w))/sumOf(w), w)
	return w
}

// sandwich computes the covariance of the arms' estimates without launch effects, as the sum over
// blocks of the squares of what a block contributes to the error of each (Liang and Zeger 1986,
// Biometrika 73, p. 13). It is valid for errors that differ between arms and between blocks.
func (f *Fit) sandwich(residual, inflate []float64) {
	l := f.layout
	f.window = rectangle(l.arms, l.arms)
	score := make([]float64, l.arms)
	for b, g := range l.launches.of {
		clear(score)
		for i := l.from[b]; i < l.from[b+1]; i++ {
			a := l.arm[i]
			x := f.weigh[g] * math.Sqrt(inflate[a]/f.free) * residual[i]
			floats.AddScaled(score, x, f.inverse[a])
		}
		for a, x := range score {
			floats.AddScaled(f.window[a], x, score)
		}
	}
}

// windowVariances is the error variance of a window in each arm, and their mean,
// from the squared residuals of arms that share blocks (Grubbs 1948, JASA 43,
// p. 243, with windows missing): E sum_b r_ba^2 = free sum_b [(1 - 2/k_b) v_a +
// sum_c v_c/k_b^2] over the k_b arms c of block b. If the design does not identify
// the arms' own variances (as with two arms), each is the mean.
func (l *layout) windowVariances(residual, inflate []float64, free float64) (each []float64, mean float64) {
	m, s := rectangle(l.arms, l.arms), make([]float64, l.arms)
	expect := 0.0
	for b := range l.block {
		k := float64(l.from[b+1] - l.from[b])
		for i := l.from[b]; i < l.from[b+1]; i++ {
			a := l.arm[i]
			s[a] += inflate[a] / free * residual[i] * residual[i]
			m[a][a] += 1 - 2/k
			for _, c := range l.arm[l.from[b]:l.from[b+1]] {
				m[a][c] += 1 / (k * k)
			}
		}
		expect += k - 1
	}
	mean = sumOf(s) / expect
	ridge := 1e-6 * expect / float64(l.arms)
	for a := range m {
		s[a] -= mean * sumOf(m[a])
		m[a][a] += ridge
	}
	decompose(m)
	solve(m, s)
	for a := range s {
		s[a] = math.Max(s[a]+mean, leastVariance*mean)
	}
	return s, mean
}

// ofWindows is the windows' part of the variance of an estimable contrast. df is the
// effective number of blocks, (sum h)^2/sum h^2 with h a block's expected part of the
// variance (Satterthwaite 1946), times the share of degrees of freedom that the fit left.
// In a complete table it is launches x (blocks of each - 1).
func (f *Fit) ofWindows(c []float64) (variance, df float64) {
	x := times(f.inverse, c)
	l, sum, square := f.layout, 0.0, 0.0
	for b, g := range l.launches.of {
		s, s2 := 0.0, 0.0
		for _, a := range l.arm[l.from[b]:l.from[b+1]] {
			s, s2 = s+x[a], s2+x[a]*x[a]
		}
		h := f.weigh[g] * f.weigh[g] * (s2 - s*s/float64(l.from[b+1]-l.from[b]))
		sum, square = sum+h, square+h*h
	}
	variance = quadratic(c, f.window, c)
	if variance <= f.rounding(c, x) {
		variance = 0 // no degree of freedom left: for example, the fit needs all windows of an arm
	}
	return variance, math.Max(f.free*sum*sum/square, 1)
}

// WindowsSE is the standard error of a contrast without launch effects; NaN when it is not known. A few
// launches tell it well, while they tell their own differences badly.
func (f *Fit) WindowsSE(c []float64) float64 {
	if !f.estimable(c) {
		return math.NaN()
	}
	variance, _ := f.ofWindows(c)
	return math.Sqrt(variance)
}

// rounding is an upper bound of a contrast's variance that is only rounding error. x
// is the contrast times the inverse.
func (f *Fit) rounding(c, x []float64) float64 {
	const least = 1e-13
	terms := 0.0
	for a, y := range c {
		terms += y * y * f.window[a][a]
	}
	return least*terms + least*least*f.layout.size*f.layout.size*math.Abs(floats.Dot(c, x))
}
