package stat

import (
	"fmt"
	"testing"
)

// widths are the half-widths of the first arm beside the control alone, and of the
// others together, in the median over runs.
func (d design) widths(seed uint64, runs int) (question, others float64) {
	rng := seeded(seed)
	var q, o []float64
	for range runs {
		f := FitWindows(d.run(rng), true)
		q = append(q, f.Interval(f.Against(2), 0.95).Half())
		var cs [][]float64
		for a := 3; a < d.arms; a++ {
			cs = append(cs, f.Against(a))
		}
		o = append(o, f.Family(cs, 0.95)[0].Half())
	}
	return Median(q), Median(o)
}

// TestTheQuestionTwice: of as many windows, an arm that has its turn in blocks of its own,
// too, is known better, and the others not much worse.
func TestTheQuestionTwice(t *testing.T) {
	type cell struct{ once, twice design }
	var cells []cell
	for _, m := range machines() {
		for _, sd := range []float64{0, 0.005} {
			once := design{machine: m, arms: 10, launches: 10, blocks: 8, launchSD: sd} // 800 windows
			twice := once
			twice.blocks, twice.asked = 12, true // 780
			cells = append(cells, cell{once, twice})
		}
	}
	lines := inParallel(cells, func(i int, c cell) string {
		n := runsOf(t, 60)
		q1, o1 := c.once.widths(uint64(7000+i), n)
		q2, o2 := c.twice.widths(uint64(7100+i), n)
		line := fmt.Sprintf("| %s | %.1f | %.2f | %.2f |", c.once.name, 100*c.once.launchSD, q2/q1, o2/o1)
		// More blocks alone would make both narrower by the same factor.
		if q2/q1 > 1 || o2/o1 > 1.3 || q2/q1 > o2/o1-0.03 {
			t.Error("no gain: " + line)
		}
		return line
	})
	t.Log("\n| host | launch SD % | width of the question x | of the others x |\n|---|---|---|---|")
	for _, l := range lines {
		t.Log(l)
	}
}
