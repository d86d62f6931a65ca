package stat

import (
	"cmp"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
)

const (
	// UsualLaunchSD is the median of LaunchSD before any launch is seen, and launchSDSpread the
	// standard deviation of its logarithm: two of three loads are taken to lie between 0.3 and 3 %.
	UsualLaunchSD, launchSDSpread = 0.01, 1.1
	// likelySteps are the values that LaunchSD weighs, from UsualLaunchSD / likelyRange to
	// UsualLaunchSD * likelyRange.
	likelySteps, likelyRange = 61, 30
)

// LaunchSD is the posterior median of the standard deviation of an arm's launch effect, in logs. Few launches
// know it within a factor of two or three: their best estimate, which is often 0, would divide the time badly.
// The likelihood is the restricted one of the table (Harville 1977, JASA 72, p. 320), as if its effects were
// known equally well.
func (f *Fit) LaunchSD() float64 {
	e := &f.between
	var sd, weight, below [likelySteps]float64
	for i := range sd {
		z := 2*float64(i)/(likelySteps-1) - 1
		sd[i] = UsualLaunchSD * math.Pow(likelyRange, z)
		z *= math.Log(likelyRange) / launchSDSpread
		weight[i] = -z * z / 2
		if e.df > 0 {
			weight[i] -= e.deviance(sd[i]*sd[i]) / 2
		}
	}
	sum, best := 0.0, floats.Max(weight[:])
	for i, x := range weight {
		sum += math.Exp(x - best)
		below[i] = sum
	}
	if math.IsNaN(sum) {
		return UsualLaunchSD
	}
	return sd[sort.SearchFloat64s(below[:], sum/2)]
}

// deviance is -2 times the logarithm of the likelihood of a variance of launch effects.
func (e *launchTable) deviance(variance float64) float64 {
	sum, n := 0.0, 0.0
	for g, row := range e.effect {
		for a, x := range row {
			if !math.IsNaN(x) && e.pooling(a) {
				sum, n = sum+math.Log(variance+e.noise[g][a]), n+1
			}
		}
	}
	_, square := e.pool.at(variance)
	return square + e.df*sum/n
}

// StepHalf is the half-width of the 95 % interval that one step of a ladder is expected to have after so many launches of so
// many blocks of all arms. pair is the standard deviation of the log ratio of two windows of a block, launchSD that of an
// arm's launch effect; 0: UsualLaunchSD. All in logs.
func StepHalf(pair, launchSD float64, launches, blocks, arms int) float64 {
	g, df := float64(launches), float64((launches-1)*(arms-1))
	if df < 1 || blocks < 1 {
		return math.Inf(1)
	}
	sd := cmp.Or(launchSD, UsualLaunchSD)
	return StudentQuantile(0.975, df) * math.Sqrt(pair*pair/(g*float64(blocks))+2*sd*sd/g)
}
