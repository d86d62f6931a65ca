package stat

import (
	"math"
	"slices"
)

const (
	// clipAt is Huber's k: 95 % efficient for normal errors.
	clipAt = 1.345
	// leastRidge is the least standard deviation of launch effects that is assumed, see
	// huberFit.ridge.
	leastRidge = 0.01
	// huberSteps is how often the fit is reweighted. In the last huberSettled steps the
	// scales stay as they are, so that the result solves one estimating equation.
	huberSteps, huberSettled = 12, 3
	// alikeScale is the factor within which the scales of arms are taken to be equal.
	// leastScale is the least that an arm's scale may be of the common one: a few
	// windows can agree by chance.
	alikeScale, leastScale = 1.65, 0.3
	// leastLeft is the least share of the windows that the fit of blocks and arms must
	// leave, and leastEach the fewest windows of an arm, for clipping. With less, most
	// residuals may be only rounding, and so may the scale that they are compared with.
	leastLeft, leastEach = 0.4, 4
	// leastWhole is the fewest windows of a launch that can differ as a whole.
	leastWhole = 3
	// leastKept is the least share of windows that pseudo assumes to be not clipped.
	leastKept = 0.4
	// normalMAD is the median of |Z| of a standard normal.
	normalMAD = 0.6744897501960817
)

// huberFit is an M-estimate of block + arm + launch of arm in progress (Huber
// 1964, Ann. Math. Stat. 35, p. 73; by iterated weights: Holland and Welsch 1977,
// Commun. Stat. A 6, p. 813).
type huberFit struct {
	*twoWay
	cells   []cell    // by launch and arm
	in      []int     // by window: its cell
	scale   []float64 // by arm
	weights []float64 // Huber's, by window, 1 where not clipped
	fitted  float64   // degrees of freedom of blocks, arms and launches

	// Buffers, reused in every step:
	apart, precision []float64   // by window: value minus launch effect; weight over variance
	sizes            [][]float64 // |residual|, by arm
	pooled           []float64   // |residual| of all arms
}

// cell is the windows of an arm in a launch, about block and arm.
type cell struct {
	effect      float64 // of the launch
	levels      []float64
	sum, weight float64 // of the levels, weighted
}

// huber replaces the windows by pseudo-values, fit + psi(r)/kappa with kappa the
// share of windows that are not clipped: a least-squares fit of them is the
// M-estimate, and their scatter its error. inflate is the factor on variances of each
// arm for what was fitted (Huber and Ronchetti 2009, Robust Statistics, section 7.6).
func huber(l *layout) (pseudo, inflate []float64) {
	n := len(l.y)
	h := &huberFit{
		twoWay: l.twoWay(l.all), cells: make([]cell, l.launches.n*l.arms), in: make([]int, n),
		scale: slices.Repeat([]float64{1}, l.arms), weights: slices.Repeat([]float64{1}, n),
		apart: make([]float64, n), precision: make([]float64, n), sizes: make([][]float64, l.arms), pooled: make([]float64, n),
	}
	for b, g := range l.launches.of {
		for i := l.from[b]; i < l.from[b+1]; i++ {
			h.in[i] = g*l.arms + l.arm[i]
		}
	}
	h.spend(0)
	for step := range huberSteps {
		h.reweigh(step < huberSteps-huberSettled)
		if step < huberSteps-1 {
			h.ridge()
		}
	}
	return h.pseudo()
}

func (h *huberFit) spend(launches float64) {
	h.fitted = float64(len(h.block)+h.all.joined[0]) + launches
}

// reweigh fits block + arm to the values minus the launch effects, and computes new weights.
func (h *huberFit) reweigh(rescale bool) {
	for i, a := range h.arm {
		h.apart[i] = h.y[i] - h.cells[h.in[i]].effect
		h.precision[i] = h.weights[i] / (h.scale[a] * h.scale[a])
	}
	h.fit(h.apart, h.precision)
	if rescale {
		h.rescale()
	}
	for i, r := range h.residual {
		h.weights[i] = min(1, clipAt*h.scale[h.arm[i]]/math.Abs(r))
	}
}

// rescale estimates the scale of each arm. The common scale is the median absolute
// residual of all arms together. An arm whose own scale is within a factor of
// alikeScale of the common one gets the common one. Any other arm gets its own
// scale, moved towards the common one by the factor alikeScale.
//
// The reason: if noise is skewed or has two levels, an arm's estimate moves with its
// scale. Example: seven equal arms, on a host with CPU steal in bursts. If each has a
// scale of its own, the estimates err by 1.4 times their standard errors.
func (h *huberFit) rescale() {
	for a := range h.sizes {
		h.sizes[a] = h.sizes[a][:0]
	}
	for i, r := range h.residual {
		h.pooled[i] = math.Abs(r)
		h.sizes[h.arm[i]] = append(h.sizes[h.arm[i]], math.Abs(r))
	}
	share := math.Sqrt(math.Max(1-h.fitted/float64(len(h.y)), 0.2)) * normalMAD
	common := math.Max(middle(h.pooled)/share, 1e-12*h.size) + 1e-300
	for a, list := range h.sizes {
		ratio := math.Max(middle(list)/share/common, leastScale)
		switch {
		case ratio > alikeScale:
			ratio /= alikeScale
		case ratio < 1/alikeScale:
			ratio *= alikeScale
		default: // also NaN, without windows
			ratio = 1
		}
		h.scale[a] = common * ratio
	}
}

// ridge estimates the launch effects of the arms, shrunk as if they had the standard
// deviation that their medians show (best linear unbiased prediction: Henderson 1975,
// Biometrics 31, p. 423). Small ones use up almost no degrees of freedom. A launch whose
// median window would be clipped differs as a whole: its effect is its median, and none of
// it is clipped.
func (h *huberFit) ridge() {
	h.gather()
	sd, spent := h.launchScale(), 0.0
	for k := range h.cells {
		c, scale := &h.cells[k], h.scale[k%h.arms]
		total := c.weight + scale*scale/(sd*sd)
		effect, share := c.sum/total, c.weight/total
		if mid := middle(c.levels); len(c.levels) >= leastWhole && math.Abs(mid-effect) > clipAt*scale {
			effect, share = mid, 1
		}
		c.effect = effect
		spent += share
	}
	// Without the part that blocks and arms fit already.
	h.spend(spent * (1 - 1/float64(h.present())) * (1 - 1/float64(h.launches.n)))
}

// gather collects the windows of each launch and arm.
func (h *huberFit) gather() {
	for k := range h.cells {
		c := &h.cells[k]
		c.levels, c.sum, c.weight = c.levels[:0], 0, 0
	}
	for i, r := range h.residual {
		c, w := &h.cells[h.in[i]], h.weights[i]
		c.levels = append(c.levels, r+c.effect)
		c.sum += w * (r + c.effect)
		c.weight += w
	}
}

// launchScale is the standard deviation of launch effects by the medians of launches, less
// what the windows' noise adds to them (pi/2 s^2/m for m normal windows).
func (h *huberFit) launchScale() float64 {
	if h.launches.n < 2 {
		return leastRidge
	}
	medians, noise := make([]float64, 0, len(h.cells)), 0.0
	for k, c := range h.cells {
		if len(c.levels) > 0 {
			scale := h.scale[k%h.arms]
			medians = append(medians, math.Abs(middle(c.levels)))
			noise += math.Pi / 2 * scale * scale / float64(len(c.levels))
		}
	}
	noise /= float64(len(medians))
	sd := middle(medians) / normalMAD
	return math.Max(math.Sqrt(math.Max(sd*sd-noise, 0)), leastRidge)
}

// pseudo returns the pseudo-values and the factors on the arms' variances, see huber.
func (h *huberFit) pseudo() (pseudo, inflate []float64) {
	kept := make([]float64, h.arms)
	for i, w := range h.weights {
		if w == 1 {
			kept[h.arm[i]]++
		}
	}
	inflate = make([]float64, h.arms)
	for a, n := range kept {
		kept[a] = math.Max(n/math.Max(float64(h.count[a]), 1), leastKept)
		root := 1 + math.Min(h.fitted/float64(len(h.y)), 0.6)*(1-kept[a])/kept[a]
		inflate[a] = root * root
	}
	pseudo = make([]float64, len(h.y))
	for i, r := range h.residual {
		pseudo[i] = h.y[i] - r + h.weights[i]*r/kept[h.arm[i]]
	}
	return pseudo, inflate
}
