package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// windows makes series of windows: a rotation visits arms in blocks, launches have
// levels of their own, and an arm may have two modes.
type windows struct {
	n, launches int
	launchSD    float64
	noise       func(rng *rand.Rand) float64 // of a half of a window, as a logarithm
	wander      float64                      // autocorrelation of the noise between windows, lag 1
	trend       float64                      // from the first window to the last
	stall       float64                      // share of windows of which a half is slower
	stallBy     float64                      // by how much, as a logarithm
	gap         float64                      // between two modes, as a logarithm
	slow        float64                      // share of the slower
	every       float64                      // windows that a mode lasts on average
}

func normal(sd float64) func(*rand.Rand) float64 {
	// Two halves together scatter by sd.
	return func(rng *rand.Rand) float64 { return math.Sqrt2 * sd * rng.NormFloat64() }
}

// heavy is Student's t with four degrees of freedom, scaled.
func heavy(sd float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		s := 0.0
		for range 4 {
			z := rng.NormFloat64()
			s += z * z
		}
		return sd * rng.NormFloat64() / math.Sqrt(s/4)
	}
}

// skewed loses more than it gains, as a shared machine does.
func skewed(sd float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return -math.Sqrt2 * sd * (rng.ExpFloat64() - 1) }
}

// flat is uniform.
func flat(sd float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return math.Sqrt2 * sd * math.Sqrt(12) * (rng.Float64() - 0.5) }
}

func (w windows) series(rng *rand.Rand) []Timed {
	out := make([]Timed, w.n)
	level, last, drift := 0.0, -1, 0.0
	slow := rng.Float64() < w.slow
	for i := range out {
		launch := i * w.launches / w.n
		if launch != last {
			level, last = w.launchSD*rng.NormFloat64(), launch
		}
		if w.gap > 0 { // a Markov chain with these shares and this mean stay
			leave := 1 / (2 * w.every * (1 - w.slow))
			if slow {
				leave = 1 / (2 * w.every * w.slow)
			}
			if rng.Float64() < leave {
				slow = !slow
			}
		}
		a, b := w.noise(rng), w.noise(rng)
		if w.wander > 0 {
			step := (a + b) / 2 * math.Sqrt(1-w.wander*w.wander)
			drift = w.wander*drift + step
			a, b = drift+(a-b)/2, drift-(a-b)/2
		}
		base := level + w.trend*float64(i)/float64(w.n)
		if slow && w.gap > 0 {
			base -= w.gap
		}
		a, b = a+base, b+base
		if rng.Float64() < w.stall {
			if rng.IntN(2) == 0 {
				a -= w.stallBy
			} else {
				b -= w.stallBy
			}
		}
		out[i] = Timed{Y: math.Log((math.Exp(a) + math.Exp(b)) / 2), First: a, Second: b, Launch: launch}
	}
	return out
}

// found is the share of series that are said to have two modes.
func (w windows) found(trials int, seed uint64) (hits int) {
	rng := seeded(seed)
	for range trials {
		if _, two := ModesOverTime(w.series(rng)); two {
			hits++
		}
	}
	return hits
}

// TestOneModeOverTime: what has no modes is not said to have any, whatever its
// noise: at most one series in a hundred.
func TestOneModeOverTime(t *testing.T) {
	trials, worst := replicates()/4, 0.0
	for name, w := range map[string]windows{
		"normal, quiet":             {noise: normal(0.012)},
		"normal, shared":            {noise: normal(0.039)},
		"normal, hostile":           {noise: normal(0.087)},
		"heavy tails":               {noise: heavy(0.05)},
		"skewed":                    {noise: skewed(0.05)},
		"uniform":                   {noise: flat(0.05)},
		"usual launches":            {noise: normal(0.012), launchSD: 0.007},
		"launches apart":            {noise: normal(0.012), launchSD: 0.1},
		"wandering":                 {noise: normal(0.04), wander: 0.5},
		"wandering slowly":          {noise: normal(0.04), wander: 0.9},
		"a trend":                   {noise: normal(0.02), trend: 0.3},
		"stalls in a tenth":         {noise: normal(0.02), stall: 0.1, stallBy: 1},
		"stalls in a third":         {noise: normal(0.02), stall: 0.33, stallBy: 1},
		"long stalls in a quarter":  {noise: normal(0.02), stall: 0.25, stallBy: 0.5},
		"heavy tails, launches too": {noise: heavy(0.03), launchSD: 0.05},
	} {
		for _, n := range []int{24, 40, 100, 300} {
			for _, launches := range []int{1, 4, 8} {
				w.n, w.launches = n, launches
				hits := w.found(trials, uint64(n*10+launches))
				rate := float64(hits) / float64(trials)
				worst = math.Max(worst, rate)
				if rate > 0.01 {
					t.Errorf("%s, %d windows, %d launches: two modes in %.2f %%", name, n, launches, 100*rate)
				}
			}
		}
	}
	t.Logf("two modes in at most %.2f %% of %d series of a kind", 100*worst, trials)
}

// TestTwoModesOverTime: two modes are found when they are as far apart as
// ApartOverTime says, and half as much more; faster changes are no obstacle.
func TestTwoModesOverTime(t *testing.T) {
	trials := replicates() / 8
	for _, c := range []struct {
		name string
		windows
		least float64
	}{
		{"half and half, slow changes", windows{n: 60, launches: 4, noise: normal(0.039), slow: 0.5, every: 6}, 0.9},
		{"half and half, fast changes", windows{n: 60, launches: 4, noise: normal(0.039), slow: 0.5, every: 1}, 0.9},
		{"three quarters slow", windows{n: 100, launches: 4, noise: normal(0.039), slow: 0.75, every: 3, launchSD: 0.007}, 0.9},
		{"a hostile machine", windows{n: 100, launches: 4, noise: normal(0.087), slow: 0.5, every: 3, launchSD: 0.007}, 0.9},
	} {
		sd := 0.0
		rng := seeded(9)
		for range 2000 {
			x := (c.noise(rng) + c.noise(rng)) / 2
			sd += x * x
		}
		sd = math.Sqrt(sd / 2000)
		for _, times := range []float64{1, 1.25, 1.5} {
			c.gap = times * ApartOverTime(c.n) * sd
			hits := c.found(trials, 3)
			rate := float64(hits) / float64(trials)
			t.Logf("%s, %d windows, sd %.3f: a gap of %.1f %% is found in %.0f %%", c.name, c.n, sd, 100*math.Expm1(c.gap), 100*rate)
			if times > 1 && rate < c.least {
				t.Errorf("%s: power %.2f, want %.2f", c.name, rate, c.least)
			}
		}
	}
}

// TestModesOverTimeEnds: too few windows, none at all, all alike.
func TestModesOverTimeEnds(t *testing.T) {
	alike := make([]Timed, 50)
	for _, x := range [][]Timed{nil, alike[:5], alike} {
		if m, two := ModesOverTime(x); two || m.Switches != 0 {
			t.Errorf("%d windows: %+v", len(x), m)
		}
	}
	// Without halves only neighbours can say that a level lasts.
	lasting, flicker := make([]Timed, 60), make([]Timed, 60)
	rng := seeded(4)
	for i := range lasting {
		y := 0.01 * rng.NormFloat64()
		lasting[i] = Timed{Y: y + float64(i/10%2), First: math.NaN(), Second: math.NaN()}
		flicker[i] = Timed{Y: y + float64(i%2), First: math.NaN(), Second: math.NaN()}
	}
	if m, two := ModesOverTime(lasting); !two || m.Switches != 5 {
		t.Errorf("lasting: %v %+v", two, m)
	}
	if _, two := ModesOverTime(flicker); two {
		t.Error("a value that is up and down in turn has no modes that last")
	}
}
