package stat

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// simulating tells that the long tier was asked for (make simulate).
func simulating() bool { return os.Getenv("TARETEST_TIER") == "simulate" }

// runsOf is how many runs of a cell are simulated.
func runsOf(t *testing.T, plain int) int {
	if n, err := strconv.Atoi(os.Getenv("TARETEST_SIMULATED_RUNS")); err == nil && simulating() {
		return n
	}
	if simulating() {
		return 5000
	}
	if quick() {
		return plain / 4
	}
	return plain
}

// found is what became of the runs of one design where no arm differs.
type found struct {
	design
	runs, known int
	alone       int     // false positives of all arms, alone
	arms        int     // arms that were asked
	any         int     // runs with a false positive in the family
	width       float64 // median half-width over 1.96 SD of the estimates
}

func (f found) rate() float64   { return float64(f.alone) / float64(max(f.arms, 1)) }
func (f found) family() float64 { return float64(f.any) / float64(max(f.known, 1)) }

// limit is what a rate of n may show where it is p: three standard errors more.
func limit(p float64, n int) float64 { return p + 3*math.Sqrt(p*(1-p)/float64(max(n, 1))) }

func (d design) simulate(runs int, seed uint64) found {
	rng, out := seeded(seed), found{design: d, runs: runs}
	var estimates, halves []float64
	for i := range runs {
		f := FitWindows(d.run(rng), true)
		var cs [][]float64
		for a := 2; a < d.arms; a++ {
			cs = append(cs, f.Against(a))
		}
		if math.IsNaN(f.PValue(cs[0])) {
			continue
		}
		out.known++
		wrong := false
		for k, c := range cs {
			out.arms++
			effect := 0.0
			if k == 0 {
				effect = d.effect
			}
			if effect != 0 {
				if !f.Interval(c, 0.95).Contains(effect) {
					out.alone++
					wrong = wrong || !f.Family(cs, 0.95)[k].Contains(effect)
				}
			} else if f.PValue(c) <= 0.05 {
				out.alone++
				wrong = wrong || f.FamilyPValues(cs)[k] <= 0.05
			}
			estimates = append(estimates, f.mean(c)-effect)
		}
		if wrong {
			out.any++
		}
		if i%4 == 0 { // widths vary less than errors
			halves = append(halves, f.Interval(cs[0], 0.95).Half())
		}
	}
	if d.noisy {
		estimates = everyFirst(estimates, d.arms-2)
	}
	out.width = Median(halves) / 1.96 / math.Sqrt(sumSquares(estimates, 0)/float64(len(estimates)))
	return out
}

// everyFirst is the estimates of the first of k arms.
func everyFirst(x []float64, k int) (out []float64) {
	for i := 0; i < len(x); i += k {
		out = append(out, x[i])
	}
	return out
}

// designs are the cells: all of them in the tier, some in a plain test.
func designs() (out []design) {
	if !simulating() {
		for _, m := range machines() {
			plain := design{machine: m, arms: 3, launches: 4, blocks: 8, launchSD: 0.007}
			noisy, torn := plain, plain
			noisy.noisy, torn.torn = true, true
			out = append(out, plain, noisy, torn)
		}
		return append(out, design{machine: machines()[2], arms: 7, launches: 3, blocks: 10, launchSD: 0.007, noisy: true},
			// With a scale for each arm in the robust fit 12.6 % of false positives.
			design{machine: machines()[3], arms: 7, launches: 10, blocks: 15, launchSD: 0.007})
	}
	for _, m := range machines() {
		for _, g := range []int{2, 3, 5, 7, 10} {
			d := design{machine: m, arms: 3, launches: g, blocks: 10, launchSD: 0.005}
			for _, sd := range []float64{0, 0.005, 0.015} {
				d.launchSD = sd
				out = append(out, d, d.with(func(d *design) { d.noisy = true }))
			}
			d.launchSD = 0.005
			out = append(out, d.with(func(d *design) { d.torn = true }),
				d.with(func(d *design) { d.blocks = 3 }), d.with(func(d *design) { d.blocks = 40 }),
				d.with(func(d *design) { d.effect = math.Log(0.98) }), d.with(func(d *design) { d.effect = math.Log(0.8) }))
			d.arms, d.blocks, d.launchSD = 7, 15, 0.007
			out = append(out, d, d.with(func(d *design) { d.noisy = true }), d.with(func(d *design) { d.blocks = 3 }))
		}
	}
	return out
}

// with is a design that differs.
func (d design) with(change func(*design)) design {
	change(&d)
	return d
}

// TestWindowsKeepTheirLevel simulates runs without any effect, and some with one. By
// location invariance (TestEffectsDoNotWiden) an effect of any size is covered as
// often as none is.
func TestWindowsKeepTheirLevel(t *testing.T) {
	results := inParallel(designs(), func(i int, d design) found {
		return d.simulate(runsOf(t, 500), uint64(1000+i))
	})
	for _, r := range results {
		line := fmt.Sprintf("%s, %d runs: FPR %.1f %%, FWER %.1f %%, width %.2f", r.said(), r.runs, 100*r.rate(), 100*r.family(), r.width)
		t.Log(line)
		alone, together := 0.065, 0.06
		if r.arms == 3 {
			together = alone // one arm beside the control: it is the same rate
		}
		if r.arms == 3 && r.name == "steal" && r.launches >= 7 && r.launchSD == 0.015 && !r.noisy {
			alone, together = 0.077, 0.077 // docs/method.md lists these two cells
		}
		if r.rate() > limit(alone, r.known) || r.family() > limit(together, r.known) {
			t.Error("too many false positives: " + line)
		}
	}
	t.Log("\n" + summary(results))
}

func (d design) said() string {
	s := fmt.Sprintf("%s, %d arms, %d launches of %d blocks, launch SD %.1f %%", d.name, d.arms, d.launches, d.blocks, 100*d.launchSD)
	if d.noisy {
		s += ", one arm 3 x as noisy"
	}
	if d.torn {
		s += ", torn"
	}
	if d.effect != 0 {
		s += fmt.Sprintf(", effect %+.0f %%", 100*math.Expm1(d.effect))
	}
	return s
}

// inParallel keeps the order.
func inParallel[T, R any](list []T, of func(int, T) R) []R {
	out, next := make([]R, len(list)), make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				out[i] = of(i, list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// summary is a table in Markdown, by machine and number of launches.
func summary(results []found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| host | arms | launches | cells | FPR %%, mean (least to most) | FWER %%, most | width / oracle, mean (most) |\n|---|---|---|---|---|---|---|\n")
	type key struct {
		name           string
		arms, launches int
	}
	groups, order := map[key][]found{}, []key{}
	for _, r := range results {
		k := key{r.name, r.arms, r.launches}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	for _, k := range order {
		n, mean, least, most, family, width, widest := 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
		for _, r := range groups[k] {
			n++
			mean, least, most = mean+r.rate(), math.Min(least, r.rate()), math.Max(most, r.rate())
			family, width, widest = math.Max(family, r.family()), width+r.width, math.Max(widest, r.width)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.0f | %.1f (%.1f to %.1f) | %.1f | %.2f (%.2f) |\n", k.name, k.arms, k.launches, n,
			100*mean/n, 100*least, 100*most, 100*family, width/n, widest)
	}
	return b.String()
}
