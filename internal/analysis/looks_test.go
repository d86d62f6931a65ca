package analysis

import (
	"math"
	"testing"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/record"
)

// A run that ends as soon as its limit is decided is wrong about an arm that loses exactly the limit in less than
// 5 % of the runs, as one that looks once: each look has an error of its own.
func TestLooksKeepTheErrorRate(t *testing.T) {
	const most, runs = 16, 600
	wrong, once := 0, 0
	for i := range runs {
		w := world{seed: uint64(i + 1), generations: most, blocks: 4, light: true, launchSD: 0.01, windowSD: 0.01,
			effects: map[string]float64{"container": math.Log(0.95)}}
		r := w.result()
		load := r.Plan.Workloads[0]
		load.UntilDecided = true
		excluded := func(launches int, until bool) bool {
			var lines []record.Line
			for _, l := range r.Lines {
				if l.End == nil && (l.Block == nil || l.Block.Generation < launches) && (l.Check == nil || l.Check.Generation < launches) {
					lines = append(lines, l)
				}
			}
			load.UntilDecided = until
			tab := tabulate(load, 0, lines)
			m, _ := tab.measureOf("throughput")
			f := tab.fit(m, tab.pools())
			for _, group := range f.groups {
				for j, c := range tab.against(f.typical, group) {
					if group[j] == "container" {
						interval := f.typical.Contrast(c).At(1 - tab.alpha)
						return interval.Lo > math.Log(0.95) || interval.Hi < math.Log(0.95)
					}
				}
			}
			t.Fatal("the container is not compared")
			return false
		}
		for n := 1; n <= most; n++ {
			if stat.IsLook(n) && excluded(n, true) {
				wrong++
				break
			}
		}
		if excluded(4, false) || excluded(8, false) || excluded(16, false) {
			once++
		}
	}
	rate, naive := float64(wrong)/runs, float64(once)/runs
	t.Logf("wrong in %.1f %% of the runs; three looks at 95 %% each: %.1f %%", 100*rate, 100*naive)
	if rate > 0.05+2.6*math.Sqrt(0.05*0.95/runs) || naive <= rate {
		t.Errorf("wrong in %.1f %% of the runs, %.1f %% without correction", 100*rate, 100*naive)
	}
}

// The looks double, and the end counts as one.
func TestLooks(t *testing.T) {
	for launches, want := range map[int]int{1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 16: 3, 17: 4} {
		if got := stat.Looks(launches); got != want {
			t.Errorf("%d launches: %d looks, want %d", launches, got, want)
		}
	}
	sum := 0.0
	for look := 1; look <= 12; look++ {
		sum += 1 - stat.Level(true, false, look)
	}
	if sum >= 0.05 || !stat.IsLook(4) || !stat.IsLook(32) || stat.IsLook(12) || stat.IsLook(2) {
		t.Errorf("the error of all looks is %v", sum)
	}
}
