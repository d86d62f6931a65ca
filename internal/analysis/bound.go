package analysis

import (
	"math"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// Better is +1 for a metric of which more is better, -1 where less is, and 0
// for one that is not known. said are the metrics that the load itself says.
func Better(said []record.Metric, name string) int {
	m, _ := metricOf(record.Workload{Values: said}, name)
	return m.better
}

// ToDecide is how many more seconds would probably bring the whole interval of
// an effect to one side of a bound (a ratio), where seconds of the workload
// brought it to where it is. The correction for many arms that is in the
// interval stays in it. 0 when it cannot be foreseen.
func ToDecide(e record.Effect, r *record.Ratio, seconds, bound float64) float64 {
	if r == nil || !(r.SE > 0 && r.DF > 0 && bound > 0) {
		return 0
	}
	est := stat.Estimate{Mean: math.Log(r.Ratio), SE: r.SE, DF: r.DF, N: e.Generations}
	if e.Generations < 2 {
		est.N = e.Blocks
	}
	half := math.Log(r.High/r.Low) / 2
	level := 1 - 2*stat.StudentCDF(-half/r.SE, r.DF)
	n := stat.Needed(est, level, nearly*math.Abs(est.Mean-math.Log(bound)))
	if n <= est.N || est.N == 0 {
		return 0
	}
	return seconds * float64(n-est.N) / float64(est.N)
}

// nearly is the part of the way to a bound that a half-width has to stay within:
// the estimate will move, too.
const nearly = 0.8
