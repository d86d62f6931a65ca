package stat

import "math"

// Joint is several columns compared with the same control, to be judged
// together. A literal with Columns alone is valid: estimates that each have
// their own standard error.
type Joint struct {
	Columns []Estimate
	Shared  bool // one variance estimate serves all columns, as Dunnett assumes
}

// Crit is the critical value for column i that makes all intervals hold together
// at the given level: Dunnett's where the variance is shared, Bonferroni's
// Student t otherwise. Dunnett's is too small with separate variances: each is
// another chance of an SE that is small by luck (see Family).
func (j Joint) Crit(i int, level float64) float64 {
	e, k := j.Columns[i], len(j.Columns)
	switch {
	case !e.Known():
		return math.NaN()
	case j.Shared:
		return DunnettQuantile(level, k, e.DF)
	}
	return StudentQuantile(1-(1-level)/2/float64(k), e.DF)
}

// Interval is the simultaneous interval of column i.
func (j Joint) Interval(i int, level float64) Interval {
	return j.Columns[i].Interval(j.Crit(i, level))
}

// PValue is the p-value of column i adjusted for the family: the Interval at
// level 1-p just touches 0. NaN when its SE is not known.
func (j Joint) PValue(i int) float64 {
	e := j.Columns[i]
	if j.Shared && e.Known() {
		return math.Max(0, 1-DunnettCDF(math.Abs(e.Mean/e.SE), len(j.Columns), e.DF))
	}
	return math.Min(1, e.PValue()*float64(len(j.Columns)))
}

// leastColumns is how many variances it takes to say how variances vary. With 2
// or 3 moderation gains under 8 % of width and the error reaches 7.3 %.
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
//
// What was seen for 8 columns over 5 rows, error of any column and half-width in
// true SE (TestSimplerFamiliesFail; a known variance would have 2.7):
//
//	                          all equal      one 3 x as noisy  control 3 x
//	Family                    3.9 %  3.5     3.5 %  3.7        3.9 %  3.4
//	own variance, Bonferroni  5.5 %  4.9     4.0 %  5.0        2.8 %  4.9
//	own variance, Dunnett    10.1 %  4.1     8.8 %  4.1        5.1 %  4.1
//	pooled, Dunnett           5.7 %  2.8    10.6 %  3.5       21.2 %  1.7
//	Smyth as published        7.2 %  2.9    11.2 %  3.1        5.8 %  3.0
//
// Over 5 to 12 rows and 2 to 10 columns the error is 2.7 to 6.7 %
// (TestFamilyError), and of a column 3 times as noisy 0.9 to 3.5 %, where its
// share would be 0.5 to 1.3 %: the price of helping the others. Over 2 to 4 rows
// it reaches 7.6 %. A column judged alone needs Mean.
func Family(columns [][]float64) Joint {
	out := Joint{Columns: make([]Estimate, len(columns)), Shared: len(columns) == 1}
	for i, x := range columns {
		out.Columns[i] = Mean(x)
	}
	if alike := balanced(out.Columns); len(alike) >= leastColumns {
		d0 := moderate(out.Columns, alike)
		out.Shared = math.IsInf(d0, 1) && len(alike) == len(columns)
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

// moderate replaces the SE and DF of the listed columns and returns d0.
func moderate(columns []Estimate, alike []int) float64 {
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
	return d0
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
