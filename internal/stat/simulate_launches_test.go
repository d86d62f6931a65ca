package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// table is a run of equal launches whose arms are known, in logarithms: block noise that all arms
// share, an effect of each launch of each arm, and noise of windows.
type table struct {
	launches, blocks, arms int
	launchSD, noise        float64
	kind                   string  // of the windows' noise: "" normal, t3, arm (AR(1) of rho), modes
	rho                    float64 // from block to block
	noisy, launchy         float64 // factors on noise and launch SD of the last arm; 0: 1
	bad                    float64 // probability of a launch that is 57 % slower
	effect                 float64 // of the last arm
}

func (d table) run(rng *rand.Rand) Windows {
	w := Windows{Control: []int{0, 1}}
	last := d.arms - 1
	factor := func(x float64, a int) float64 {
		if a == last && x > 0 {
			return x
		}
		return 1
	}
	slow := false
	for g := range d.launches {
		level, state := make([]float64, d.arms), make([]float64, d.arms)
		for a := range level {
			level[a] = d.launchSD * factor(d.launchy, a) * rng.NormFloat64()
			if rng.Float64() < d.bad {
				level[a] -= 0.84
			}
			state[a] = rng.NormFloat64()
		}
		level[last] += d.effect
		for b := range d.blocks {
			row, block := make([]float64, d.arms), 0.2*t3(rng)
			for a := range row {
				e := rng.NormFloat64()
				switch d.kind {
				case "t3":
					e = t3(rng) / math.Sqrt(3)
				case "arm":
					state[a] = d.rho*state[a] + math.Sqrt(1-d.rho*d.rho)*e
					e = state[a]
				}
				row[a] = block + level[a] + d.noise*factor(d.noisy, a)*e
			}
			if d.kind == "modes" { // 30 % slower in 3 of 10 blocks, in spells of ten blocks
				if b == 0 || rng.Float64() < 0.1 {
					slow = rng.Float64() < 0.3
				}
				if slow {
					row[last] += math.Log(0.7) * 0.7
				} else {
					row[last] -= math.Log(0.7) * 0.3
				}
			}
			w.Y, w.Launch = append(w.Y, row), append(w.Launch, g)
		}
	}
	return w
}

// judged is what became of the runs of a table.
type judged struct {
	table
	runs, missed, others, ofOthers, odd int
	half, sd                            float64 // median half-width, SD of the estimates
}

func (d table) judge(runs int, seed uint64) judged {
	rng, out := seeded(seed), judged{table: d, runs: runs}
	var halves []float64
	square := 0.0
	for range runs {
		f := FitWindows(d.run(rng), true)
		for a := 2; a < d.arms; a++ {
			i, truth := f.Interval(f.Against(a), 0.95), 0.0
			if a < d.arms-1 {
				out.ofOthers++
				if !i.Contains(0) {
					out.others++
				}
				continue
			}
			truth = d.effect
			if !i.Contains(truth) {
				out.missed++
			}
			halves = append(halves, i.Half())
			x := (i.Lo+i.Hi)/2 - truth
			square += x * x
		}
		if f.OwnLaunches(d.arms - 1).Odd {
			out.odd++
		}
	}
	out.half, out.sd = Median(halves), math.Sqrt(square/float64(runs))
	return out
}

func (r judged) miss() float64 { return float64(r.missed) / float64(r.runs) }

func (r judged) String() string {
	return fmt.Sprintf("%-5s G %d m %d A %d lam %.3f sw %.2f rho %.2f noisy %g launchy %g bad %g: miss %.2f %% others %.2f %% odd %.1f %% half %.3f %% w/or %.2f",
		r.kind, r.launches, r.blocks, r.arms, r.launchSD, r.noise, r.rho, r.noisy, r.launchy, r.bad, 100*r.miss(),
		100*float64(r.others)/float64(max(r.ofOthers, 1)), 100*float64(r.odd)/float64(r.runs), 100*r.half, r.half/1.96/r.sd)
}

func launchTables() (alike, shapes []table) {
	launches := []int{4, 5, 8}
	if !simulating() {
		launches = launches[:1]
	}
	for _, g := range launches {
		base := table{launches: g, blocks: 10, arms: 3, launchSD: 0.01, noise: 0.08}
		for _, sd := range []float64{0, 0.01, 0.03, 0.1} {
			for _, noise := range []float64{0.02, 0.08, 0.2} {
				d := base
				d.launchSD, d.noise = sd, noise
				alike = append(alike, d)
			}
		}
		for _, change := range []func(*table){
			func(d *table) { d.effect = math.Log(0.8) },
			func(d *table) { d.kind = "t3" },
			func(d *table) { d.kind, d.rho = "arm", 0.5 },
			func(d *table) { d.kind, d.rho = "arm", 0.8 },
			func(d *table) { d.noisy = 3 },
			func(d *table) { d.noisy, d.arms = 3, 8 },
			func(d *table) { d.blocks = 3 },
			func(d *table) { d.blocks = 40 },
			func(d *table) { d.blocks, d.kind, d.rho = 40, "arm", 0.8 },
			func(d *table) { d.launchy, d.noise = 3, 0.02 },
			func(d *table) { d.launchy, d.noise, d.arms = 3, 0.02, 8 },
			func(d *table) { d.kind, d.noise = "modes", 0.03 },
			func(d *table) { d.kind, d.noise, d.arms = "modes", 0.03, 8 },
			func(d *table) { d.bad, d.noise, d.blocks, d.arms = 0.04, 0.04, 4, 8 },
			func(d *table) { d.bad, d.noise, d.blocks, d.arms = 0.04, 0.04, 40, 8 },
		} {
			d := base
			change(&d)
			shapes = append(shapes, d)
		}
	}
	return alike, shapes
}

// TestLaunches simulates tables of launches: intervals miss the truth in 5 % where arms are alike,
// and hold it where one arm has launches of its own.
func TestLaunches(t *testing.T) {
	alike, shapes := launchTables()
	all := append(alike, shapes...)
	results := inParallel(all, func(i int, d table) judged { return d.judge(runsOf(t, 120), uint64(8000+i)) })
	mean := 0.0
	for i, r := range results {
		t.Log(r)
		if i < len(alike) {
			mean += r.miss() / float64(len(alike))
		}
		if r.kind != "modes" && r.bad == 0 && r.miss() > limit(0.08, r.runs) {
			t.Errorf("misses too often: %v", r)
		}
	}
	if mean > 0.06 {
		t.Errorf("arms that are alike: misses %.2f %% in the mean", 100*mean)
	}
}
