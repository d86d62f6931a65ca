package stat

import (
	"math"
	"slices"
)

const (
	// clipAt is Huber's k: 95 % efficient for normal errors.
	clipAt = 1.345
	// huberSteps is how often the fit is reweighted. In the last huberSettled steps the
	// scales stay as they are, so that the result solves one estimating equation.
	huberSteps, huberSettled = 12, 3
	// alikeScale is the factor within which the scales of arms are taken to be equal.
	// leastScale is the least that an arm's scale may be of the common one: a few
	// windows can agree by chance.
	alikeScale, leastScale = 1.65, 0.3
	// leastLeft is the least share of the windows that the fit of blocks, and of arms in
	// launches, must leave, and leastEach the fewest windows of an arm in a launch, for
	// clipping. With less, most residuals may be only rounding, and so may the scale that
	// they are compared with.
	leastLeft, leastEach = 0.4, 3
	// leastKept is the least share of windows that pseudo assumes to be not clipped.
	leastKept = 0.4
	// normalMAD is the median of |Z| of a standard normal.
	normalMAD = 0.6744897501960817
)

// huberFit is an M-estimate of block + arm within each launch in progress (Huber
// 1964, Ann. Math. Stat. 35, p. 73; by iterated weights: Holland and Welsch 1977,
// Commun. Stat. A 6, p. 813). Arms are fitted anew in every launch, so a launch that
// differs from the others as a whole is never clipped.
type huberFit struct {
	*layout
	scale    []float64 // by arm
	weights  []float64 // Huber's, by window, 1 where not clipped
	residual []float64
	fitted   float64 // share of the windows that blocks, and arms in launches, use up

	// Buffers, reused in every step:
	w             []float64   // weights over variances
	sizes         [][]float64 // |residual|, by arm
	pooled        []float64   // |residual| of all arms
	normals, left [][]float64 // of the arms
	members       [][]float64 // of each component, by launch
	right         []float64
	byLaunch      [][]int // blocks of each launch
}

func startHuber(l *layout) *huberFit {
	n := len(l.y)
	left, _ := l.freedom(l.launches)
	h := &huberFit{
		layout: l, residual: make([]float64, n), fitted: 1 - left/float64(n),
		weights: slices.Repeat([]float64{1}, n), scale: slices.Repeat([]float64{1}, l.arms),
		w: make([]float64, n), sizes: make([][]float64, l.arms), pooled: make([]float64, n),
		normals: rectangle(l.arms, l.arms), left: rectangle(l.arms, l.arms), right: make([]float64, l.arms),
		members: make([][]float64, l.launches.n), byLaunch: make([][]int, l.launches.n),
	}
	for a, n := range l.count {
		h.sizes[a] = make([]float64, 0, n)
	}
	for b, g := range l.launches.of {
		h.byLaunch[g] = append(h.byLaunch[g], b)
	}
	for g := range h.members {
		h.members[g] = sizes(l.launches.component[g])
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
	}
	return h.pseudo()
}

// reweigh fits block + arm in every launch and computes new weights.
func (h *huberFit) reweigh(rescale bool) {
	for i, a := range h.arm {
		h.w[i] = h.weights[i] / (h.scale[a] * h.scale[a])
	}
	for g := range h.byLaunch {
		h.fitLaunch(g)
	}
	if rescale {
		h.rescale()
	}
	for i, r := range h.residual {
		limit := clipAt * h.scale[h.arm[i]]
		if r = math.Abs(r); r <= limit {
			h.weights[i] = 1
		} else {
			h.weights[i] = limit / r
		}
	}
}

// fitLaunch is layout.fit of one launch, for the residuals only.
func (h *huberFit) fitLaunch(g int) {
	for a, row := range h.normals {
		clear(row)
		h.right[a] = 0
	}
	for _, b := range h.byLaunch[g] {
		h.normal(b, h.y, h.w, h.normals, h.right)
	}
	mirror(h.normals)
	ground(h.left, h.normals, h.launches.component[g], h.members[g])
	decompose(h.left)
	solve(h.left, h.right)
	for _, b := range h.byLaunch[g] {
		h.residuals(b, h.y, h.w, h.right, h.residual)
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
	share := math.Sqrt(math.Max(1-h.fitted, 0.2)) * normalMAD
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

// pseudo returns the pseudo-values and the factors on the arms' variances, see huber.
func (h *huberFit) pseudo() (pseudo, inflate []float64) {
	kept := make([]float64, h.arms)
	for i, r := range h.residual {
		if a := h.arm[i]; math.Abs(r) <= clipAt*h.scale[a] {
			kept[a]++
		}
	}
	fitted := math.Min(h.fitted, 0.6)
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
		pseudo[i] = h.y[i] - r + math.Max(-limit, math.Min(limit, r))/kept[a]
	}
	return pseudo, inflate
}
