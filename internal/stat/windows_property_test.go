package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// pattern draws tables of any shape: launches of unequal length, windows missing,
// blocks of the first arms only.
func pattern(t *rapid.T) Windows {
	arms := rapid.IntRange(2, 8).Draw(t, "arms")
	blocks := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 6).Draw(t, "blocks")
	missing := rapid.Float64Range(0, 0.5).Draw(t, "missing")
	launchSD := rapid.Float64Range(0, 0.05).Draw(t, "launch SD")
	noise := rapid.Float64Range(0.002, 0.3).Draw(t, "noise")
	w := drawn(seeded(rapid.Uint64().Draw(t, "seed")), arms, blocks, launchSD, noise, missing)
	first := rapid.IntRange(0, len(w.Y)).Draw(t, "blocks of three arms")
	for b := range first {
		for a := 3; a < arms; a++ {
			w.Y[b][a] = math.NaN()
		}
	}
	return w
}

func copied(w Windows) Windows {
	y := w.Y
	w.Y = nil
	for _, row := range y {
		w.Y = append(w.Y, slices.Clone(row))
	}
	return w
}

// An effect of one arm moves its estimates by itself and no width of any contrast,
// whatever is missing. So a loss of half the rate widens nothing.
func TestEffectsDoNotWiden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { neverWidens(t, pattern(t)) })
}

// Nor in tables of a dozen windows, where a robust fit has nothing to stand on.
func TestEffectsDoNotWidenFewWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arms := rapid.IntRange(2, 6).Draw(t, "arms")
		blocks := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "blocks")
		neverWidens(t, drawn(seeded(rapid.Uint64().Draw(t, "seed")), arms, blocks, 0.01, 0.05, rapid.Float64Range(0, 0.6).Draw(t, "missing")))
	})
}

func neverWidens(t *rapid.T, w Windows) {
	robust := rapid.Bool().Draw(t, "robust")
	arm := rapid.IntRange(0, len(w.Y[0])-1).Draw(t, "arm")
	shift := rapid.Float64Range(-1, 1).Draw(t, "shift")
	moved := copied(w)
	for _, row := range moved.Y {
		row[arm] += shift
	}
	f, g := FitWindows(w, robust), FitWindows(moved, robust)
	if f.Known != g.Known {
		t.Fatalf("known %v, then %v", f.Known, g.Known)
	}
	for a := range len(w.Y[0]) {
		c := f.Against(a)
		x, y := f.Contrast(c), g.Contrast(c)
		if x.Known() != y.Known() {
			t.Fatalf("%+v, then %+v", x, y)
		}
		if !x.Known() {
			continue
		}
		near(t, "estimate", y.Mean, x.Mean+shift*c[arm], 1e-10)
		near(t, "SE", y.SE, x.SE, 1e-9)
		near(t, "half-width", g.Interval(c, 0.95).Half(), f.Interval(c, 0.95).Half(), 1e-9)
	}
}

// A step is the difference of two totals, exactly.
func TestStepsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := FitWindows(pattern(t), true)
		for a := 1; a < len(f.Alpha); a++ {
			for b := range a {
				step, x, y := f.Contrast(f.Between(a, b)), f.Contrast(f.Against(a)), f.Contrast(f.Against(b))
				if step.Known() && x.Known() && y.Known() && !slices.Contains(f.control, a) && !slices.Contains(f.control, b) {
					near(t, "step", step.Mean, x.Mean-y.Mean, 1e-13)
				}
			}
		}
	})
}

// Intervals and p-values say the same, alone and in a family, and nest.
func TestIntervalsOfWindowsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := FitWindows(pattern(t), rapid.Bool().Draw(t, "robust"))
		var cs [][]float64
		for a := range f.Alpha {
			if !slices.Contains(f.control, a) {
				cs = append(cs, f.Against(a))
			}
		}
		family := f.Family(cs, 0.95)
		two := f.Family(cs, 0.975)
		for i, c := range cs {
			e, own := f.Contrast(c), f.Interval(c, 0.95)
			if !e.Known() {
				if !math.IsInf(own.Half(), 1) || !math.IsNaN(f.PValue(c)) || !math.IsInf(family[i].Half(), 1) {
					t.Fatalf("%+v has %v", e, own)
				}
				continue
			}
			if !(own.Half() > 0) || family[i].Half() < own.Half()*(1-1e-9) || two[i].Half() < family[i].Half() || !own.Contains(e.Mean) {
				t.Fatalf("alone %v, family %v, two %v", own, family[i], two[i])
			}
			agree(t, own, f.PValue(c), 0.05)
			agree(t, family[i], f.FamilyPValues(cs)[i], 0.05)
			agree(t, two[i], f.FamilyPValues(cs)[i], 0.025)
		}
	})
}

func agree(t *rapid.T, i Interval, p, alpha float64) {
	t.Helper()
	if !(p >= 0 && p <= 1) || i.Beyond(0) != (p < alpha) && math.Abs(p-alpha) > 1e-6 {
		t.Fatalf("interval %v and p %v", i, p)
	}
}

// Whatever comes in: no panic, no NaN in an interval, a reason where nothing is
// known.
func TestWindowsOfAnyKind(t *testing.T) {
	odd := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 1, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e-300}))
	rapid.Check(t, func(t *rapid.T) {
		w := Windows{Control: rapid.SliceOfN(rapid.IntRange(-1, 3), 0, 3).Draw(t, "control")}
		arms := rapid.IntRange(0, 5).Draw(t, "arms")
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			n := arms
			if rapid.IntRange(0, 40).Draw(t, "ragged") == 0 {
				n++
			}
			w.Y = append(w.Y, rapid.SliceOfN(odd, n, n).Draw(t, "row"))
			w.Launch = append(w.Launch, rapid.IntRange(0, 3).Draw(t, "launch"))
		}
		f := FitWindows(w, rapid.Bool().Draw(t, "robust"))
		if f.Known != (f.Why == "") {
			t.Fatalf("known %v: %q", f.Known, f.Why)
		}
		var cs [][]float64
		for a := range arms {
			cs = append(cs, f.Against(a))
		}
		intervals := f.Family(cs, 0.95)
		for i, c := range cs {
			e := f.Contrast(c)
			f.PValue(c)
			f.FamilyPValues(cs)
			f.Forecast(c, 0.95, 0.01)
			f.Bound(i, make([]float64, arms))
			intervals = append(intervals, f.Interval(c, 0.95))
			if !f.Known && e.Known() {
				t.Fatalf("%+v of what is not known", e)
			}
		}
		for _, v := range intervals {
			if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) {
				t.Fatalf("%v", v)
			}
		}
	})
}

func TestNothingIsKnown(t *testing.T) {
	same := []float64{1, 1.5, 2}
	for name, w := range map[string]Windows{
		"no block":     {Control: []int{0}},
		"no control":   {Y: [][]float64{same, same}, Launch: []int{0, 0}},
		"one block":    {Y: [][]float64{same}, Launch: []int{0}, Control: []int{0}},
		"constant":     {Y: [][]float64{same, same, same}, Launch: []int{0, 0, 1}, Control: []int{0}},
		"never paired": {Y: [][]float64{{1, math.NaN(), math.NaN()}, {math.NaN(), 2, math.NaN()}}, Launch: []int{0, 0}, Control: []int{0}},
		"other launch": {Y: [][]float64{same, same}, Launch: []int{0}, Control: []int{0}},
	} {
		f := FitWindows(w, true)
		if f.Known || f.Why == "" || f.Contrast([]float64{1, -1, 0}).Known() || !math.IsInf(f.Interval([]float64{1, -1, 0}, 0.95).Half(), 1) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// An arm that no block connects with the control is unknown; the others are not.
func TestArmsThatAreNotConnected(t *testing.T) {
	w := drawn(seeded(4), 4, []int{5, 5}, 0.01, 0.02, 0)
	for b, row := range w.Y {
		row[3] = math.NaN()
		if b == 2 {
			w.Y[b] = []float64{math.NaN(), math.NaN(), math.NaN(), 1}
		}
	}
	f := FitWindows(w, true)
	if !f.Contrast(f.Against(2)).Known() || f.Contrast(f.Against(3)).Known() || !math.IsNaN(f.Alpha[3]) {
		t.Errorf("%+v", f)
	}
}

// An arm that is in one launch only, there with a single other arm, says nothing about the launches
// of that other arm: the effect of a third one does not make it odd.
func TestOddLaunchesAreCompared(t *testing.T) {
	w := drawn(seeded(0x171dd668), 4, []int{5, 4, 5, 4, 1}, 0.05, 0.3, 0.125)
	for b, row := range w.Y {
		if b < 18 {
			row[3] = math.NaN()
		}
	}
	moved := copied(w)
	for _, row := range moved.Y {
		row[0]--
	}
	f, g := FitWindows(w, false), FitWindows(moved, false)
	for a := range 3 {
		near(t, "p", g.OwnLaunches(a).P, f.OwnLaunches(a).P, 1e-9)
		near(t, "SE", g.Contrast(g.Against(a)).SE, f.Contrast(f.Against(a)).SE, 1e-9)
	}
}

// One block a launch: the scatter between launches is the error of all, as in
// Student's test of launch values.
func TestOneBlockALaunch(t *testing.T) {
	w := drawn(seeded(5), 3, []int{1, 1, 1, 1, 1, 1}, 0.03, 0.01, 0)
	f := FitWindows(w, false)
	var d []float64
	for _, row := range w.Y {
		d = append(d, row[2]-(row[0]+row[1])/2)
	}
	want, got := Mean(d), f.Contrast(f.Against(2))
	near(t, "mean", got.Mean, want.Mean, 1e-13)
	near(t, "SE", got.SE, want.SE, 1e-12)
	near(t, "df", got.DF, want.DF, 1e-9)
	near(t, "half-width", f.Interval(f.Against(2), 0.95).Half(), want.At(0.95).Half(), 1e-10)
	if f.Launches != 6 || f.between.variance != 0 {
		t.Errorf("%d launches, SD %v", f.Launches, f.between.variance)
	}
}

// Columns without windows change nothing but the rounding.
func TestEmptyColumnsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, robust := pattern(t), rapid.Bool().Draw(t, "robust")
		wide := Windows{Launch: w.Launch, Control: w.Control}
		for _, row := range w.Y {
			wide.Y = append(wide.Y, append(slices.Clone(row), math.NaN(), math.NaN()))
		}
		f, g := FitWindows(w, robust), FitWindows(wide, robust)
		for a := range f.Alpha {
			x, y := f.Interval(f.Against(a), 0.95), g.Interval(g.Against(a), 0.95)
			if d := max(math.Abs(x.Lo-y.Lo), math.Abs(x.Hi-y.Hi)); d > 1e-5*x.Half() {
				t.Fatalf("arm %d: %v, and %v beside empty columns", a, x, y)
			}
		}
	})
}
