package stat

import (
	"math"
	"math/rand/v2"
)

// machine is where windows are simulated: what one window of an arm is, in logs,
// one after the other in time.
type machine struct {
	name   string
	noise  float64 // SD of a window
	wander float64 // SD of what is slow: an AR(1) of 10 windows
	heavy  bool    // t3 noise, and 4 times as much in bursts of some blocks
	stolen bool    // CPU time stolen in ticks, see theft
}

func machines() []machine {
	return []machine{
		{name: "quiet", noise: 0.01, wander: 0.01},
		{name: "shared", noise: 0.04, wander: 0.03},
		{name: "hostile", noise: 0.15, wander: 0.1, heavy: true},
		{name: "steal", noise: 0.02, wander: 0.02, stolen: true},
	}
}

// clock is a machine at a moment.
type clock struct {
	machine
	rng     *rand.Rand
	slow    float64
	bursts  bool
	stealer bool
}

func (m machine) start(rng *rand.Rand) *clock {
	return &clock{machine: m, rng: rng, slow: m.wander * rng.NormFloat64()}
}

// block is one window of each arm in random order; factor is the noise of each
// arm, beside what is stolen from it.
func (c *clock) block(factor []float64) []float64 {
	c.bursts = c.rng.Float64() < map[bool]float64{false: 0.044, true: 0.75}[c.bursts]
	y := make([]float64, len(factor))
	for _, a := range c.rng.Perm(len(factor)) {
		y[a] = c.window(factor[a])
	}
	return y
}

func (c *clock) window(factor float64) float64 {
	const keep = 0.9
	c.slow = keep*c.slow + c.wander*math.Sqrt(1-keep*keep)*c.rng.NormFloat64()
	e := c.rng.NormFloat64()
	if c.heavy {
		e = t3(c.rng) / math.Sqrt(3) / 1.8
		if c.bursts {
			e *= 4
		}
	}
	y := c.slow + c.noise*factor*e
	if c.stolen {
		y += c.theft()
	}
	return y
}

// theft is the log of the share of a window of 50 ms that was left by a thief who
// is accounted in ticks of 10 ms and comes in bursts of 160 ms, 30 % of the time;
// a window in 20 ends late, by 50 ms on average. The settle time between windows
// is one tick.
func (c *clock) theft() float64 {
	ticks := 5
	if c.rng.Float64() < 0.05 {
		ticks += int(c.rng.ExpFloat64() * 5)
	}
	lost := 0.0
	for i := range ticks + 1 {
		if c.stealer {
			c.stealer = c.rng.Float64() >= 1.0/16
		} else {
			c.stealer = c.rng.Float64() < 1.0/37
		}
		if c.stealer && i > 0 {
			lost += 0.3 + 0.5*c.rng.Float64()
		}
	}
	return math.Log1p(-lost / float64(ticks))
}

// design is a simulated run.
type design struct {
	machine
	arms, launches, blocks int
	launchSD               float64
	noisy                  bool    // the last arm scatters 3 times as much
	torn                   bool    // launches of unequal length, blocks that ended early, 10 % missing
	asked                  bool    // every second block has the control and the first arm alone
	effect                 float64 // of the first arm beside the control
}

// launch appends the blocks of one launch for the first arms of it.
func (d design) launch(w *Windows, c *clock, arms, blocks int) {
	factor, effect := make([]float64, d.arms), make([]float64, d.arms)
	for a := range factor {
		factor[a], effect[a] = 1, d.launchSD*c.rng.NormFloat64()
	}
	if d.arms > 2 {
		effect[2] += d.effect
	}
	if d.noisy {
		factor[d.arms-1] = 3
	}
	if d.torn && blocks > 1 {
		blocks = max(2, blocks-c.rng.IntN(blocks))
	}
	number := 0
	if n := len(w.Launch); n > 0 {
		number = w.Launch[n-1] + 1
	}
	for b := range blocks {
		visited := arms
		if d.asked && b%2 == 1 {
			visited = 3
		}
		row := c.block(factor[:visited])
		for a := range row {
			row[a] += effect[a]
		}
		if d.torn {
			tear(row, c.rng)
		}
		for len(row) < d.arms {
			row = append(row, math.NaN())
		}
		w.Y, w.Launch = append(w.Y, row), append(w.Launch, number)
	}
}

// tear drops windows for reasons of no arm.
func tear(row []float64, rng *rand.Rand) {
	order, end := rng.Perm(len(row)), len(row)
	if rng.Float64() < 0.05 {
		end = rng.IntN(len(row))
	}
	for at, a := range order {
		if at >= end || rng.Float64() < 0.1 {
			row[a] = math.NaN()
		}
	}
}

// run is all windows of a design.
func (d design) run(rng *rand.Rand) Windows {
	w, c := Windows{Control: []int{0, 1}}, d.start(rng)
	for range d.launches {
		d.launch(&w, c, d.arms, d.blocks)
	}
	return w
}
