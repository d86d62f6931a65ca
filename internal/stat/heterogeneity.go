package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Heterogeneity is a test of whether independent estimates have the same mean.
type Heterogeneity struct {
	// Q is Cochran's, the weighted sum of squares around the weighted mean
	// (Cochran 1954, Biometrics 10, p. 101).
	Q float64
	// F is Welch's, which allows for errors that are themselves estimated from
	// few observations, with its degrees of freedom and p-value.
	F, DF1, DF2, P float64
}

// Differ tests whether estimates differ by more than their errors: Welch's test
// of several means with unequal variances (Welch 1951, Biometrika 38, p. 330),
//
//	F = Q/(k-1) / (1 + 2(k-2)/(k^2-1) L),  L = sum (1-w_i/W)^2/df_i
//
// with k-1 and (k^2-1)/(3L) degrees of freedom. Q alone, taken as chi-squared,
// calls equal places different far too often at 4 to 7 degrees of freedom. NaN
// when fewer than two are known.
func Differ(estimates []Estimate) Heterogeneity {
	var mean, weight, df []float64
	for _, e := range estimates {
		if e.Known() {
			mean, weight, df = append(mean, e.Mean), append(weight, 1/(e.SE*e.SE)), append(df, e.DF)
		}
	}
	k, sum := float64(len(mean)), sumOf(weight)
	if k < 2 {
		return Heterogeneity{math.NaN(), math.NaN(), 0, 0, math.NaN()}
	}
	l := 0.0
	for i, w := range weight {
		l += (1 - w/sum) * (1 - w/sum) / df[i]
	}
	square := scatterOf(mean, weight)
	s := Heterogeneity{Q: square * (k - 1), F: square / (1 + 2*(k-2)/(k*k-1)*l), DF1: k - 1}
	s.DF2 = math.Min((k*k-1)/(3*l), 1e7) // the beta function loses digits beyond
	s.P = fisherTail(s.F, s.DF1, s.DF2)
	return s
}

// fisherTail is P(F > f) for Fisher's F (Abramowitz and Stegun 1964, 26.6.2).
func fisherTail(f, df1, df2 float64) float64 {
	x := df2 / (df2 + df1*f)
	return betaInc(df2/2, df1/2, x, df1*f/(df2+df1*f))
}

// LeaveOneOutMean is the mean of all estimates but one, with the degrees of freedom of
// Difference; what is not known takes no part.
func LeaveOneOutMean(estimates []Estimate, i int) Estimate {
	n, sum := 0.0, unknown(math.NaN(), 0)
	for j, e := range estimates {
		if j == i || !e.Known() {
			continue
		}
		if n++; n == 1 {
			sum = e
			continue
		}
		e.Mean = -e.Mean
		sum = Difference(sum, e)
	}
	sum.Mean, sum.SE = sum.Mean/n, sum.SE/n
	return sum
}

// Outlier is an estimate that does not belong to the others.
type Outlier struct {
	Index int
	// From is how far it is from the mean of the others, those named before it
	// left out.
	From Estimate
	P    float64 // simultaneous for all places
}

// Outliers names the estimates that do not belong to the others, the farthest
// first: while Differ rejects at alpha, the one without which the others agree
// best is taken out, if it differs from their mean for all places together
// (Bonferroni), as in the sequential procedure of Rosner (1983, Technometrics
// 25, p. 165). When nothing differs any is named with a probability of at most
// alpha. Fewer than half are ever named, and none of two: nobody can say which
// of them is odd.
func Outliers(estimates []Estimate, alpha float64) []Outlier {
	left := slices.Clone(estimates)
	k := 0
	for _, e := range left {
		if e.Known() {
			k++
		}
	}
	var found []Outlier
	for ; k >= 3 && 2*(len(found)+1) < k+len(found) && Differ(left).P <= alpha; k-- {
		i := disagreeing(left)
		d := Difference(left[i], LeaveOneOutMean(left, i))
		o := Outlier{i, d, math.Min(1, float64(k)*d.PValue())}
		if o.P > alpha {
			break
		}
		found = append(found, o)
		left[i] = Estimate{SE: math.NaN()}
	}
	return found
}

// disagreeing is the estimate without which the others agree best.
func disagreeing(estimates []Estimate) int {
	least, at := math.Inf(1), -1
	for i, e := range estimates {
		if !e.Known() {
			continue
		}
		rest := slices.Clone(estimates)
		rest[i] = Estimate{SE: math.NaN()}
		if f := Differ(rest).F; f < least {
			least, at = f, i
		}
	}
	return at
}

// Grubbs is the value farthest from the mean of a sample, by its index, with the
// p-value of being so far under normality, two-sided and corrected for looking at
// all n (Grubbs 1950, Ann. Math. Stat. 21, p. 27; the bound n times the tail of
// Student's t). -1 and NaN for fewer than four values or without scatter.
func Grubbs(x []float64) (index int, p float64) {
	n := float64(len(x))
	e := Mean(x)
	if len(x) < 4 || !e.Known() || floats.HasNaN(x) {
		return -1, math.NaN()
	}
	for i, v := range x {
		if math.Abs(v-e.Mean) > math.Abs(x[index]-e.Mean) {
			index = i
		}
	}
	g := math.Abs(x[index]-e.Mean) / (e.SE * math.Sqrt(n))
	rest := (n-1)*(n-1) - n*g*g
	if rest <= 0 {
		return index, 0
	}
	t := g * math.Sqrt(n*(n-2)/rest)
	return index, math.Min(1, 2*n*studentTail(t, n-2))
}
