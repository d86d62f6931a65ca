package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// regime is a kind of machine, after the noise model of the method: log
// throughput per second = AR(1) + random walk + t3 noise + bursts, common to all
// columns.
type regime struct {
	name       string
	arSD       float64 // stationary SD of the AR(1)
	arTau      float64 // its correlation time, s
	iid        float64 // SD of the t3 noise of one second
	walk       float64 // SD of one second's step of the random walk
	burstRate  float64 // bursts starting per second
	burstDepth float64 // share lost in a burst
	burstLen   float64 // mean length of a burst, s (geometric)
	windowCV   float64 // what the method says of 4 s windows
}

// regimes: SD, correlation times and burst rates and depths are the method's. It
// leaves open the walk and the length of a burst; they are chosen here so that
// the SD of 4 s windows over 600 s is the method's.
func regimes() []regime {
	return []regime{
		{"quiet", 0.008, 30, 0.015, 0.0005, 0, 0, 0, 0.012},
		{"shared", 0.03, 30, 0.03, 0.002, 0.004, 0.12, 2, 0.039},
		{"hostile", 0.045, 45, 0.045, 0.0055, 0.01, 0.25, 2, 0.087},
	}
}

// noise is the state of one machine.
type noise struct {
	regime
	rng      *rand.Rand
	rho      float64
	ar, rw   float64
	bursting bool
}

func newNoise(r regime, rng *rand.Rand) *noise {
	return &noise{regime: r, rng: rng, rho: math.Exp(-1 / r.arTau), ar: r.arSD * rng.NormFloat64()}
}

// second advances by 1 s and returns the log throughput of that second.
func (n *noise) second() float64 {
	n.ar = n.rho*n.ar + n.arSD*math.Sqrt(1-n.rho*n.rho)*n.rng.NormFloat64()
	n.rw += n.walk * n.rng.NormFloat64()
	x := n.ar + n.rw + n.iid/math.Sqrt(3)*t3(n.rng)
	if n.burst() {
		x += math.Log1p(-n.burstDepth)
	}
	return x
}

func (n *noise) burst() bool {
	if n.burstRate == 0 {
		return false
	}
	if n.bursting {
		n.bursting = n.rng.Float64() >= 1/n.burstLen
	} else {
		n.bursting = n.rng.Float64() < n.burstRate
	}
	return n.bursting
}

// window is the log of the mean throughput of measured seconds after discarding
// some.
func (n *noise) window(discard, measured int) float64 {
	for range discard {
		n.second()
	}
	sum := 0.0
	for range measured {
		sum += math.Exp(n.second())
	}
	return math.Log(sum / float64(measured))
}

// t3 is Student's t with 3 degrees of freedom (variance 3).
func t3(rng *rand.Rand) float64 {
	a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	return rng.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7a12e)) }

func TestNoiseModelHasTheMethodsCV(t *testing.T) {
	for _, r := range regimes() {
		rng := seeded(1)
		total := 0.0
		const runs = 400
		for range runs {
			n := newNoise(r, rng)
			x := make([]float64, 225)
			for i := range x {
				x[i] = n.window(0, 4)
			}
			total += math.Sqrt(sumSquares(x, average(x)) / float64(len(x)-1))
		}
		cv := total / runs
		t.Logf("%s: CV of 4 s windows %.2f %%", r.name, 100*cv)
		if math.Abs(cv/r.windowCV-1) > 0.1 {
			t.Errorf("%s: CV of 4 s windows %.2f %%, want %.2f %%", r.name, 100*cv, 100*r.windowCV)
		}
	}
}
