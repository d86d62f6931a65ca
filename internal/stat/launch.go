package stat

import "math"

// The prior of the standard deviation lambda of a launch effect. Its density is
// 1/(lambda + flatFrom), which is flat in the logarithm of lambda above flatFrom.
// Above likelyUpTo it falls by one power more, and it has no upper bound, so that the
// posterior can follow launches that differ by 10 or 30 %. With a bound at 6 %, three
// launches and a launch SD of 10 %, equal arms differ in 33 % of cases; without it in 8 %.
// After a single launch the data cannot correct the prior, so it ends at mostAssumed.
const (
	flatFrom    = 0.0023
	likelyUpTo  = 0.03
	mostAssumed = 0.06
)

// launchGrid is 0 and then 0.05 % to 112 % in steps of a factor of 1.28.
func launchGrid() []float64 {
	grid := make([]float64, 33)
	for i, x := 1, 0.0005; i < len(grid); i, x = i+1, x*1.28 {
		grid[i] = x
	}
	return grid
}

// launchVariance is the posterior distribution of the standard deviation of
// launch effects.
type launchVariance struct {
	sd, p      []float64
	likelihood []float64 // logarithm; nil if launches cannot be separated from blocks
	meanSquare float64   // of sd
}

// launchPosterior weighs the prior with the restricted likelihood (Patterson and
// Thompson 1971, Biometrika 58, p. 545) of the arms' effects by launch.
func launchPosterior(l *layout, arm [][]float64, window []float64) launchVariance {
	if l.alike { // the scatter of blocks includes the launch effects
		return launchVariance{sd: []float64{0}, p: []float64{1}}
	}
	table, grid := tabulate(l, arm, window), launchGrid()
	likelihood := make([]float64, len(grid))
	for i, sd := range grid {
		likelihood[i] = table.logLikelihood(sd)
	}
	return weighLaunches(grid, likelihood, float64(l.seen))
}

// weighLaunches is the posterior after a number of launches.
func weighLaunches(grid, likelihood []float64, launches float64) launchVariance {
	v := launchVariance{sd: grid, likelihood: likelihood, p: make([]float64, len(grid))}
	most := math.Inf(-1)
	for i, sd := range grid {
		low, high := gridEdges(grid, i)
		v.p[i] = likelihood[i] + logPrior(sd, launches) + math.Log(high-low)
		most = math.Max(most, v.p[i])
	}
	sum := 0.0
	for i := range v.p {
		v.p[i] = math.Exp(v.p[i] - most)
		sum += v.p[i]
	}
	for i, sd := range grid {
		v.p[i] /= sum
		v.meanSquare += v.p[i] * sd * sd
	}
	return v
}

// quantile is a quantile of the standard deviation. The probability of each point of
// the grid is spread evenly between its gridEdges.
func (v launchVariance) quantile(q float64) float64 {
	sum := 0.0
	for i, p := range v.p {
		if sum+p >= q && len(v.p) > 1 {
			low, high := gridEdges(v.sd, i)
			return low + (high-low)*(q-sum)/p
		}
		sum += p
	}
	return 0
}

func logPrior(sd, launches float64) float64 {
	if launches < 2 && sd > mostAssumed {
		return math.Inf(-1)
	}
	return -math.Log(sd+flatFrom) - math.Log(math.Max(1, sd/likelyUpTo))
}

// gridEdges are the ends of the interval of standard deviations that point i stands for.
func gridEdges(grid []float64, i int) (low, high float64) {
	low, high = 0.0, grid[len(grid)-1]*1.13
	if i > 0 {
		low = (grid[i-1] + grid[i]) / 2
	}
	if i < len(grid)-1 {
		high = (grid[i] + grid[i+1]) / 2
	}
	return low, high
}

// launchTable has the arms' effects by launch (effect) and the variances of these
// effects from the windows' noise (each; 0 where an arm has no window). component has
// a number for each arm, the same for arms that launches connect.
type launchTable struct {
	effect, each [][]float64
	component    []int

	// Buffers, reused for every SD: the arms' information matrix (lower triangle), its
	// Cholesky factor and vectors for them.
	normals, left    [][]float64
	members          []float64
	q, right, solved []float64
}

// tabulate makes the table. It leaves out a launch whose arms are not all connected by
// blocks: their effects have no common zero.
func tabulate(l *layout, arm [][]float64, variance []float64) *launchTable {
	t := &launchTable{component: make([]int, l.arms)}
	for a := range t.component {
		t.component[a] = a
	}
	for g, counts := range l.counts(l.launches) {
		last, there := -1, 0
		for _, n := range counts {
			if n > 0 {
				there++
			}
		}
		if there < 2 || l.launches.joined[g] != there-1 {
			continue
		}
		for a, n := range counts {
			if n > 0 {
				if last >= 0 {
					merge(t.component, a, last)
				}
				last = a
			}
		}
		for a, n := range counts {
			if n > 0 {
				counts[a] = variance[a] / n
			}
		}
		t.effect, t.each = append(t.effect, arm[g]), append(t.each, counts)
	}
	t.members = sizes(t.component)
	t.normals, t.left = rectangle(l.arms, l.arms), rectangle(l.arms, l.arms)
	t.q, t.right, t.solved = make([]float64, l.arms), make([]float64, l.arms), make([]float64, l.arms)
	return t
}

// logLikelihood is the restricted log likelihood of sd, up to a constant. The effects
// have the variances sd^2 + v_a/n_ga; launches and arms are fitted:
//
//	-1/2 (sum ln s^2 + ln det(X' S^-1 X) + weighted residual sum of squares)
func (t *launchTable) logLikelihood(sd float64) float64 {
	for a, row := range t.normals {
		clear(row)
		t.right[a] = 0
	}
	logs, squares := logProduct{scale: 1}, 0.0
	for g, effect := range t.effect {
		sum, mean := 0.0, 0.0
		for a, v := range t.each[g] {
			t.q[a] = 0
			if v > 0 {
				s2 := sd*sd + v
				t.q[a] = 1 / s2
				logs.times(s2)
				sum, mean = sum+t.q[a], mean+t.q[a]*effect[a]
			}
		}
		mean /= sum
		logs.times(sum)
		for a, q := range t.q {
			x := effect[a] - mean
			t.right[a] += q * x
			squares += q * x * x
			row, share := t.normals[a], q/sum
			row[a] += q
			for c, other := range t.q[:a+1] {
				row[c] -= share * other
			}
		}
	}
	return -0.5 * (logs.log() + squares + t.fitted())
}

// fitted is ln det of the arms' information minus the sum of squares that the arms
// explain.
func (t *launchTable) fitted() float64 {
	if len(t.effect) == 0 {
		return 0
	}
	scale := ground(t.left, t.normals, t.component, t.members)
	logDet := decompose(t.left)
	for _, m := range t.members {
		if m > 0 {
			logDet -= math.Log(scale)
		}
	}
	copy(t.solved, t.right)
	solve(t.left, t.solved)
	return logDet - dot(t.right, t.solved)
}
