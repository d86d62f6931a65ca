package stat

import "math"

// Ratios are sums of a numerator over sums of a denominator: Over[b][a] is what
// arm a got done in block b, and Under[b][a] in how many seconds (or with how
// much of anything else); NaN where there is none. 0 over something is a stall
// and counts.
type Ratios struct {
	Over, Under [][]float64
	Launch      []int
	Control     []int
}

// Windows are the linearised logarithms of the ratios R_a = sum over / sum under,
// for FitWindows without robust weights:
//
//	ln R + (over - R under) / (R mean under)
//
// Their mean is ln R and their scatter the error of it (ratio estimator by
// linearisation: Cochran 1977, Sampling Techniques, section 6.3; Woodruff 1971,
// JASA 66, p. 411). So in complete blocks, as many a launch as there may be,
// estimates are differences of ln R exactly. An arm that did nothing at all has no
// values: its ratio has no logarithm.
func (r Ratios) Windows() Windows {
	arms := 0
	if len(r.Over) > 0 {
		arms = len(r.Over[0])
	}
	over, under, n := make([]float64, arms), make([]float64, arms), make([]float64, arms)
	eachPair(r.Over, r.Under, func(_, a int, x, y float64) {
		over[a], under[a], n[a] = over[a]+x, under[a]+y, n[a]+1
	})
	out := blank(len(r.Over), arms, r.Launch, r.Control)
	eachPair(r.Over, r.Under, func(b, a int, x, y float64) {
		if ratio := over[a] / under[a]; ratio > 0 && finite(ratio) {
			out.Y[b][a] = math.Log(ratio) + (x-ratio*y)/over[a]*n[a]
		}
	})
	return out
}

// eachPair visits the windows that have both a part and a whole.
func eachPair(parts, wholes [][]float64, visit func(b, a int, part, whole float64)) {
	for b, row := range parts {
		if b >= len(wholes) || len(wholes[b]) != len(row) || len(row) != len(parts[0]) {
			continue
		}
		for a, x := range row {
			if y := wholes[b][a]; x >= 0 && y > 0 && finite(x) && finite(y) {
				visit(b, a, x, y)
			}
		}
	}
}

// Tails are counts for the quantile q of everything that an arm did: Below[b][a]
// of Count[b][a] operations were at or below the arm's pooled quantile, whose
// logarithm is Log[a]. Slope[a] is how fast ln quantile grows with q there, by a
// difference of the pooled quantile function.
type Tails struct {
	Q            float64
	Below, Count [][]float64
	Log, Slope   []float64
	Launch       []int
	Control      []int
}

// Windows are the linearised logarithms of the quantiles, for FitWindows without
// robust weights (Bahadur 1966, Ann. Math. Stat. 37, p. 577; for clusters of
// operations: Woodruff 1952, JASA 47, p. 635):
//
//	ln x_q + slope (q count - below) / mean count
func (t Tails) Windows() Windows {
	out := blank(len(t.Count), len(t.Log), t.Launch, t.Control)
	sum, n := make([]float64, len(t.Log)), make([]float64, len(t.Log))
	eachPair(t.Below, t.Count, func(_, a int, _, count float64) {
		sum[a], n[a] = sum[a]+count, n[a]+1
	})
	eachPair(t.Below, t.Count, func(b, a int, below, count float64) {
		out.Y[b][a] = t.Log[a] + t.Slope[a]*(t.Q*count-below)*n[a]/sum[a]
	})
	return out
}

// blank is windows without values.
func blank(blocks, arms int, launch, control []int) Windows {
	w := Windows{Y: rectangle(blocks, arms), Launch: launch, Control: control}
	for b := range w.Y {
		for a := range w.Y[b] {
			w.Y[b][a] = math.NaN()
		}
	}
	return w
}
