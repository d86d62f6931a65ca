package doctor

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// judge computes a Loop from the slices, which took seconds in all.
func (l *loop) judge(seconds float64) Loop {
	n := len(l.steps)
	out := Loop{Name: l.name, Title: l.title, Slices: n, Slice: slice.Seconds(), Predicted: record.Missing(fewSlices)}
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
	if total, slot, sd := l.predict(); total > 0 {
		out.Predicted, out.Slot, out.SlotSD = record.Number(total), slot, sd
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

// The rotation that predict assumes (docs/method.md, section 2).
const (
	switching = 0.03 // s between two windows: the switch of arms and the settle time
	shortest  = 0.1  // s; shorter windows change what is measured (section 8)
	minBlocks = 24
	goal      = 0.01 // half-width, as a log ratio
	level     = 0.96 // of an interval that is shown as 95 %, as the run stops on its width
)

// predict returns the time in seconds that two arms with this noise need for +-1 %, and the best
// length of window: the number of blocks that the 10 % trimmed mean of the differences of
// neighbouring windows needs, times two slots. Two seconds contain too few long windows, so a
// window is taken to be as noisy as the joined slices, which are at most as long. noise is the
// standard deviation of a difference.
func (l *loop) predict() (seconds, window, noise float64) {
	for _, per := range []int{1, 2, 4, 8} {
		d := differences(l.rates(per))
		if len(d) < 6 {
			break
		}
		e := stat.Trimmed(d, 0.1)
		if !e.Known() {
			continue
		}
		sd := e.SE * math.Sqrt(float64(e.N)) // of one difference, for the trimmed mean
		blocks := max(minBlocks, math.Ceil(math.Pow(stat.NormalQuantile(0.5+level/2)*sd/goal, 2)))
		w := max(shortest, float64(per)*slice.Seconds())
		total := blocks * 2 * (w + switching)
		if seconds == 0 || total < seconds {
			seconds, window, noise = total, w, sd
		}
	}
	return seconds, window, noise
}

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
