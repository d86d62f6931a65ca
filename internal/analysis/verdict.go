package analysis

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// What is shown as 95 % is computed at a higher level because the run stops on
// width, see level.
const (
	equivalence   = 0.05 // each of the two one-sided tests
	discoveryRate = 0.10 // of metrics other than the primary one
	maxDropped    = 0.10 // share of blocks above which nothing is said
)

// rule is the rule to stop by, for units that are generations or, after a single
// launch, blocks. target is the wanted half-width as a log ratio.
func (t *table) rule(target float64) stat.Width {
	if t.single {
		return stat.Rows(target)
	}
	return stat.Groups(target)
}

// level is the confidence at which intervals are computed and shown as 95 %.
func (t *table) level() float64 { return 1 - t.rule(0).Alpha }

// widest is the half-width, as a log ratio, beyond which an interval is not
// shown: a factor of 4 either way.
const widest = 1.4

// mostDF stands for as many degrees of freedom as anybody needs: JSON has no
// word for infinity.
const mostDF = 1e9

// shown turns an estimate in logs into a ratio with its interval; nil when
// there is no estimate, or when the interval is so wide that it says nothing.
func shown(e stat.Estimate, i stat.Interval) *record.Ratio {
	if math.IsNaN(e.Mean) || !(i.Half() <= widest) {
		return nil
	}
	return &record.Ratio{
		Ratio: math.Exp(e.Mean), Low: math.Exp(i.Lo), High: math.Exp(i.Hi),
		SE: finite(e.SE), DF: math.Min(e.DF, mostDF),
	}
}

// judge gives the verdict on an effect from its interval and its own estimate.
// significant says that the interval, or for other metrics than the primary
// one the false discovery rate, excludes no effect.
func judge(e stat.Estimate, i stat.Interval, significant bool, better int, margin float64) (v record.Verdict, reason string) {
	delta := math.Log1p(margin)
	switch {
	case !e.Known():
		return record.Undecided, "too few blocks to know the error; a longer --budget gives more"
	case !(i.Half() <= widest):
		return record.Undecided, "the noise is larger than any effect that could be shown"
	case significant && i.Beyond(delta):
		return direction(e.Mean, better), ""
	case stat.Equivalent(e, delta, equivalence):
		if significant {
			return record.Negligible, "shown, but smaller than the margin"
		}
		return record.Negligible, ""
	case significant:
		return direction(e.Mean, better), "may be smaller than the margin"
	}
	return record.Undecided, fmt.Sprintf("±%.1f %% is too wide", 100*math.Expm1(i.Half()))
}

func direction(logRatio float64, better int) record.Verdict {
	if (logRatio > 0) == (better > 0) {
		return record.Gain
	}
	return record.Cost
}

// neededHalf is the half-width that would decide an effect of this size:
// exclude 0 or lie inside the margin, whichever is nearer.
func neededHalf(mean, margin float64) float64 {
	delta := math.Log1p(margin)
	size := math.Abs(mean)
	return nearly * max(size, delta-size, 0.3*delta)
}
