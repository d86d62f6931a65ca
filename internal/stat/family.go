package stat

import "math"

// leastColumns is how many variances it takes to say how variances vary. With 2
// or 3 moderation gains under 8 % of width.
const leastColumns = 4

// Family estimates k columns of differences to the same control over the same G
// rows (generations: few, so each column alone has only G-1 degrees of freedom).
// From 4 columns on, the variances are moderated: each is shrunk towards a
// common one, as far as they agree among themselves (Smyth 2004, SAGMB 3(1):3,
// sections 3 and 6.2). Two departures from Smyth, both because the columns share
// their control, so that differences correlate with 1/2 and their variances with
// 1/4: see spreadOfVariances and poolDF. One for safety: no SE is below the
// column's own, or a column noisier than the rest would be judged by their
// quiet. Columns of other lengths, or equal throughout, keep their own estimate.
// Intervals of them by Bonferroni fail together in 2.0 to 7.2 % where 5 is meant
// (TestFamilyError: 3 to 12 rows, 2 to 10 columns, one of them up to 6 times as noisy).
func Family(columns [][]float64) []Estimate {
	out := make([]Estimate, len(columns))
	for i, x := range columns {
		out[i] = Mean(x)
	}
	if alike := balanced(out); len(alike) >= leastColumns {
		moderate(out, alike)
	}
	return out
}

// balanced lists the known columns that have as many rows as the longest.
func balanced(columns []Estimate) []int {
	most := 0
	for _, e := range columns {
		most = max(most, e.N)
	}
	var alike []int
	for i, e := range columns {
		if e.Known() && e.N == most {
			alike = append(alike, i)
		}
	}
	return alike
}

// moderate replaces the SE and DF of the listed columns.
func moderate(columns []Estimate, alike []int) {
	k, d := float64(len(alike)), columns[alike[0]].DF
	own := make([]float64, len(alike))
	for i, c := range alike {
		own[i] = columns[c].SE * columns[c].SE
	}
	v0, d0 := spreadOfVariances(own, d)
	for i, c := range alike {
		e := &columns[c]
		e.DF = math.Min(d0+d, poolDF(k, d))
		e.SE = math.Max(e.SE, math.Sqrt(posterior(v0, d0, own[i], d)))
	}
}

// posterior (Smyth 2004, section 3) is two variances weighted by their degrees of
// freedom.
func posterior(v0, d0, v, d float64) float64 {
	if math.IsInf(d0, 1) {
		return v0
	}
	return (d0*v0 + d*v) / (d0 + d)
}

// spreadOfVariances fits a scaled F to the columns' squared standard errors: the
// typical v0, and d0, the degrees of freedom that it is worth, +Inf when the
// variances differ no more than by chance (Smyth 2004, section 6.2). e_i = ln v_i
// - digamma(d/2) + ln(d/2) has variance trigamma(d/2) + trigamma(d0/2). Of k
// values with correlation r the sample variance expects (1-r) times their
// variance; r = 1/4 here.
func spreadOfVariances(v []float64, d float64) (v0, d0 float64) {
	const shared = 0.25
	e := make([]float64, len(v))
	for i := range v {
		e[i] = math.Log(v[i]) - digamma(d/2) + math.Log(d/2)
	}
	m := average(e)
	excess := sumSquares(e, m)/float64(len(e)-1) - (1-shared)*trigamma(d/2)
	if excess <= 0 {
		return math.Exp(m), math.Inf(1)
	}
	d0 = 2 * trigammaInverse(excess)
	return math.Exp(m + digamma(d0/2) - math.Log(d0/2)), d0
}

// poolDF is the degrees of freedom of the average of k variances with d each
// that correlate with 1/4: Var = 2/d (1/k + (k-1)/(4k)) per squared variance, by
// Satterthwaite thus 4kd/(k+3), where Smyth's independent columns have k*d.
func poolDF(k, d float64) float64 { return 4 * k * d / (k + 3) }
