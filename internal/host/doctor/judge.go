package doctor

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
)

// judge computes a Loop from the slices, which took seconds in all.
func (l *loop) judge(seconds float64) Loop {
	n := len(l.steps)
	out := Loop{Name: l.name, Title: l.title, Slices: n, Slice: slice.Seconds()}
	if n == 0 {
		return out
	}
	round := seconds / float64(n) // from one slice of this loop to the next
	out.Rate = sum(l.steps) / sum(l.seconds)
	out.SliceCV = variation(l.rates(1))
	per := max(1, int(math.Round(windowSeconds/round)))
	out.CV, out.Window = variation(l.rates(per)), float64(per)*round
	out.Word = wordForCV(out.CV)
	for _, lag := range []int{1, 3, 10} {
		if r, ok := correlation(l.rates(1), lag); ok {
			out.Lags = append(out.Lags, Lag{float64(lag) * round, r})
		}
	}
	return out
}

// windowSeconds is the length of the windows whose variation decides the word: eight of them fit
// into two seconds.
const windowSeconds = 0.25

// rates returns the rates of windows of per slices each.
func (l *loop) rates(per int) []float64 {
	var out []float64
	for i := 0; i+per <= len(l.steps); i += per {
		out = append(out, sum(l.steps[i:i+per])/sum(l.seconds[i:i+per]))
	}
	return out
}

// pairedSlices is how many slices of a loop make a window for neighbours: with more there are too few
// windows in two seconds, and single slices have more noise than a window of a run.
const pairedSlices = 2

// neighbours returns the standard deviation of the log ratio of neighbouring windows, over all loops: the
// mean absolute value times the root of pi/2, which bursts move less than a mean of squares. Over all
// loops it varies less from look to look than that of the noisiest loop. False: too few slices.
func neighbours(loops []*loop) (float64, bool) {
	total, n := 0.0, 0
	for _, l := range loops {
		for _, d := range differences(l.rates(pairedSlices)) {
			total, n = total+math.Abs(d), n+1
		}
	}
	sd := math.Sqrt(math.Pi/2) * total / float64(n)
	return sd, n >= fewestNeighbours && sd > 0
}

// fewestNeighbours is the least number of pairs of windows that tell their noise.
const fewestNeighbours = 6

// differences returns the log ratios of neighbours.
func differences(x []float64) []float64 {
	var d []float64
	for i := 1; i < len(x); i++ {
		d = append(d, math.Log(x[i]/x[i-1]))
	}
	return d
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// variation is the coefficient of variation; 0 for fewer than two values.
func variation(x []float64) float64 {
	e := stat.Mean(x)
	if !e.Known() {
		return 0
	}
	return e.SE * math.Sqrt(float64(e.N)) / e.Mean
}

// correlation is the autocorrelation at a lag; not ok with too few values.
func correlation(x []float64, lag int) (r float64, ok bool) {
	if len(x) < lag+8 {
		return 0, false
	}
	mean := sum(x) / float64(len(x))
	var products, squares float64
	for i, v := range x {
		squares += (v - mean) * (v - mean)
		if i >= lag {
			products += (v - mean) * (x[i-lag] - mean)
		}
	}
	if squares == 0 {
		return 0, false
	}
	return products / squares, true
}
