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
	launch  [][]float64 // by launch and arm
	scale   []float64   // by arm
	weights []float64   // Huber's, by window, 1 where not clipped
	spent   float64     // degrees of freedom of launch

	// Buffers, reused in every step:
	y, w        []float64     // values minus launch effects; weights over variances
	sizes       [][]float64   // |residual|, by arm
	pooled      []float64     // |residual| of all arms
	sum, weight [][]float64   // by launch and arm
	levels      [][][]float64 // by launch and arm: the windows about block and arm
	medians     []float64
}

func startHuber(l *layout) *huberFit {
	n := len(l.y)
	h := &huberFit{
		twoWay: l.twoWay(l.all), launch: rectangle(l.launches.n, l.arms),
		weights: slices.Repeat([]float64{1}, n), scale: slices.Repeat([]float64{1}, l.arms),
		y: make([]float64, n), w: make([]float64, n), sizes: make([][]float64, l.arms), pooled: make([]float64, n),
		sum: rectangle(l.launches.n, l.arms), weight: rectangle(l.launches.n, l.arms),
	}
	for a, n := range l.count {
		h.sizes[a] = make([]float64, 0, n)
	}
	for range h.launch {
		h.levels = append(h.levels, make([][]float64, l.arms))
	}
	return h
}

// huber replaces the windows by pseudo-values, fit + psi(r)/kappa with kappa the
// share of windows that are not clipped: a least-squares fit of them is the
// M-estimate, and their scatter its error. inflate is the factor on variances of each
// arm for what was fitted (Huber and Ronchetti 2009, Robust Statistics, section 7.6).
func huber(l *layout) (pseudo, inflate []float64) {
	h := startHuber(l)
	for step := range huberSteps {
		h.reweigh(step < huberSteps-huberSettled)
		if step < huberSteps-1 {
			h.ridge()
		}
	}
	return h.pseudo()
}

// reweigh fits block + arm to the values minus the launch effects, and computes new weights.
func (h *huberFit) reweigh(rescale bool) {
	precision := slices.Repeat([]float64{1}, h.arms)
	for a, s := range h.scale {
		precision[a] = 1 / (s * s)
	}
	for b, g := range h.launches.of {
		launch := h.launch[g]
		for i := h.from[b]; i < h.from[b+1]; i++ {
			a := h.arm[i]
			h.y[i], h.w[i] = h.layout.y[i]-launch[a], h.weights[i]*precision[a]
		}
	}
	h.fit(h.y, h.w)
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
	n, lost := float64(len(h.y)), float64(len(h.block)+h.all.joined[0])+h.spent
	share := math.Sqrt(math.Max((n-lost)/n, 0.2)) * normalMAD
	for a := range h.sizes {
		h.sizes[a] = h.sizes[a][:0]
	}
	for i, r := range h.residual {
		r = math.Abs(r)
		h.pooled[i] = r
		h.sizes[h.arm[i]] = append(h.sizes[h.arm[i]], r)
	}
	common := math.Max(middle(h.pooled)/share, 1e-12*h.size) + 1e-300
	for a, list := range h.sizes {
		ratio := 1.0
		if len(list) > 0 {
			ratio = math.Max(middle(list)/share/common, leastScale)
		}
		switch {
		case ratio > alikeScale:
			ratio /= alikeScale
		case ratio < 1/alikeScale:
			ratio *= alikeScale
		default:
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
	sd := h.launchScale()
	h.spent = 0
	for g, arms := range h.levels {
		for a, list := range arms {
			ratio := h.scale[a] / sd
			total := h.weight[g][a] + ratio*ratio
			effect, share := h.sum[g][a]/total, h.weight[g][a]/total
			if mid := middle(list); len(list) >= leastWhole && math.Abs(mid-effect) > clipAt*h.scale[a] {
				effect, share = mid, 1
			}
			h.launch[g][a] = effect
			h.spent += share
		}
	}
	h.spent *= (1 - 1/float64(h.arms)) * (1 - 1/float64(h.launches.n)) // without the part that blocks and arms fit already
}

// gather collects the windows of each launch and arm about block and arm, with their weights.
func (h *huberFit) gather() {
	for g := range h.sum {
		clear(h.sum[g])
		clear(h.weight[g])
		for a := range h.levels[g] {
			h.levels[g][a] = h.levels[g][a][:0]
		}
	}
	for b, g := range h.launches.of {
		for i := h.from[b]; i < h.from[b+1]; i++ {
			a, w := h.arm[i], h.weights[i]
			level := h.residual[i] + h.launch[g][a]
			h.sum[g][a] += w * level
			h.weight[g][a] += w
			h.levels[g][a] = append(h.levels[g][a], level)
		}
	}
}

// launchScale is the standard deviation of launch effects by the medians of launches, less
// what the windows' noise adds to them (pi/2 s^2/m for m normal windows).
func (h *huberFit) launchScale() float64 {
	h.medians = h.medians[:0]
	noise := 0.0
	for _, arms := range h.levels {
		for a, list := range arms {
			if len(list) > 0 && h.launches.n > 1 {
				h.medians = append(h.medians, math.Abs(middle(list)))
				noise += math.Pi / 2 * h.scale[a] * h.scale[a] / float64(len(list))
			}
		}
	}
	if len(h.medians) == 0 {
		return leastRidge
	}
	noise /= float64(len(h.medians))
	sd := middle(h.medians) / normalMAD
	return math.Max(math.Sqrt(math.Max(sd*sd-noise, 0)), leastRidge)
}

// pseudo returns the pseudo-values and the factors on the arms' variances, see huber.
func (h *huberFit) pseudo() (pseudo, inflate []float64) {
	kept := make([]float64, h.arms)
	for i, r := range h.residual {
		if a := h.arm[i]; math.Abs(r) <= clipAt*h.scale[a] {
			kept[a]++
		}
	}
	n := float64(len(h.y))
	fitted := math.Min((float64(len(h.block)+h.all.joined[0])+h.spent)/n, 0.6)
	inflate = make([]float64, h.arms)
	for a := range kept {
		kept[a] = math.Max(kept[a]/math.Max(float64(h.count[a]), 1), leastKept)
		root := 1 + fitted*(1-kept[a])/kept[a]
		inflate[a] = root * root
	}
	pseudo = make([]float64, len(h.y))
	for i, r := range h.residual {
		a := h.arm[i]
		limit := clipAt * h.scale[a]
		pseudo[i] = h.layout.y[i] - r + math.Max(-limit, math.Min(limit, r))/kept[a]
	}
	return pseudo, inflate
}
