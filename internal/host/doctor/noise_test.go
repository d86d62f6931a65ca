package doctor

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// made is a loop whose slices have white noise with this standard deviation.
func made(n int, sd float64) *loop {
	rng := rand.New(rand.NewPCG(7, 11))
	l := &loop{name: "made", title: "made up work"}
	for range n {
		l.steps = append(l.steps, 1e6*math.Exp(sd*rng.NormFloat64()))
		l.seconds = append(l.seconds, slice.Seconds())
	}
	return l
}

func TestJudge(t *testing.T) {
	const n, seconds = 60, 2.0 // windows of 0.25 s have 8 slices
	for _, c := range []struct {
		sd   float64 // of a slice; of a window it is that over the root of 8
		word string
	}{{0.012, Quiet}, {0.11, Shared}, {0.5, Hostile}} {
		got := made(n, c.sd).judge(seconds)
		if got.Word != c.word {
			t.Errorf("slices with %v of noise: %s, CV %v", c.sd, got.Word, got.CV)
		}
		if math.Abs(got.SliceCV/c.sd-1) > 0.5 || got.Slices != n || math.Abs(got.Window-8*seconds/n) > 1e-9 {
			t.Errorf("%+v", got)
		}
	}
	if got := (&loop{}).judge(1); got.Word != "" || got.Predicted.Reason() == "" {
		t.Errorf("no slices: %+v", got)
	}
}

// TestPredictIsTheFormula compares predict with blocks = 2 (z sd / 1 %)^2 / (slices per window) for
// white noise and the best length of window.
func TestPredictIsTheFormula(t *testing.T) {
	for _, sd := range []float64{0.05, 0.1, 0.2} {
		want := math.Inf(1)
		for _, per := range []float64{1, 2, 4, 8} {
			blocks := max(minBlocks, 2*math.Pow(2.05*sd/goal, 2)/per)
			want = min(want, blocks*2*(max(shortest, per*slice.Seconds())+switching))
		}
		got, window, noise := made(400, sd).predict()
		if white := sd * math.Sqrt2; math.Abs(math.Log(got/want)) > 0.3 || !(window > 0) || !(noise < 1.2*white) || !(noise > white/math.Sqrt(10)) {
			t.Errorf("noise %v: %v s, the formula says %v s", sd, got, want)
		}
	}
	if got, _, _ := made(3, 0.1).predict(); got != 0 {
		t.Errorf("three slices predict %v s", got)
	}
	if got, _, _ := made(400, 1e-4).predict(); math.Abs(got-minBlocks*2*(shortest+switching)) > 1e-9 {
		t.Errorf("hardly any noise: %v s, want the fewest blocks", got)
	}
}

func TestCorrelation(t *testing.T) {
	var slow []float64
	for i := range 60 {
		slow = append(slow, math.Sin(float64(i)/10))
	}
	if r, ok := correlation(slow, 1); !ok || r < 0.9 {
		t.Errorf("slow: %v", r)
	}
	if r, ok := correlation(made(500, 1).steps, 1); !ok || math.Abs(r) > 0.15 {
		t.Errorf("white: %v", r)
	}
	if _, ok := correlation(slow[:5], 1); ok {
		t.Error("five slices tell")
	}
	if _, ok := correlation(make([]float64, 60), 1); ok {
		t.Error("equal slices tell")
	}
}

func TestConclude(t *testing.T) {
	calm := Noise{Steal: record.Number(0), Foreign: record.Number(0), Loops: []Loop{{Word: Quiet, Predicted: record.Number(2)}, {Word: Quiet, Predicted: record.Missing("x")}}}
	for _, c := range []struct {
		change func(*Noise)
		word   string
		why    string
	}{
		{func(*Noise) {}, Quiet, "nothing"},
		{func(n *Noise) { n.Foreign = record.Number(0.5) }, Hostile, "other processes use 50 %"},
		{func(n *Noise) { n.Steal = record.Number(0.1) }, Shared, "stolen"},
		{func(n *Noise) { n.Steal = record.Missing("x") }, Quiet, "nothing"},
		{func(n *Noise) { n.Sleep.P99 = 0.02 }, Hostile, "late by 20 ms"},
		{func(n *Noise) { n.Loops = []Loop{{Title: "work", Word: Shared, CV: 0.03}} }, Shared, "work varies by 3.0 %"},
		{func(n *Noise) { n.Foreign = record.Number(0.5); n.Sleep.P99 = 0.02 }, Hostile, "other processes"},
	} {
		n := calm
		c.change(&n)
		n.conclude()
		if n.Word != c.word || !strings.Contains(n.Because, c.why) {
			t.Errorf("%s because %s, want %s because %s", n.Word, n.Because, c.word, c.why)
		}
	}
	calm.conclude()
	if x, ok := calm.Predicted.Get(); !ok || x != 2 {
		t.Errorf("predicted %v", calm.Predicted)
	}
}

func TestUse(t *testing.T) {
	before := use{steal: 1, busy: 10, total: 100, self: 5}
	steal, foreign := use{steal: 2, busy: 15, total: 110, self: 7}.since(before)
	if s, _ := steal.Get(); s != 0.1 {
		t.Errorf("steal %v", steal)
	}
	if f, _ := foreign.Get(); f != 0.3 {
		t.Errorf("foreign %v", foreign)
	}
	for _, bad := range []use{{steal: math.NaN(), busy: math.NaN(), total: math.NaN()}, before} {
		if steal, foreign := bad.since(before); steal.Reason() == "" || foreign.Reason() == "" {
			t.Errorf("%+v: %v, %v", bad, steal, foreign)
		}
	}
}

func BenchmarkChunks(b *testing.B) {
	all, release, err := loops()
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	for _, l := range all {
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				l.chunk()
			}
		})
	}
}

// The advice follows from the causes of the noise.
func TestQuieter(t *testing.T) {
	missing := record.Missing("not here")
	for _, c := range []struct {
		n    Noise
		want []string
	}{
		{Noise{Word: Quiet, Foreign: record.Number(0.01), Steal: record.Number(0)}, nil},
		{Noise{Word: Shared, Foreign: missing, Steal: missing}, []string{"cannot be seen"}},
		{Noise{Word: Hostile, Foreign: record.Number(0.4), Steal: record.Number(0.1)}, []string{"use 40 %", "takes 10 %"}},
	} {
		got := c.n.Quieter()
		if len(got) != len(c.want) {
			t.Fatalf("%+v: %q", c.n, got)
		}
		for i, w := range c.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%q is not in %q", w, got[i])
			}
		}
	}
}

// The worst loop is the one with the longest prediction; a loop without one is skipped.
func TestWorst(t *testing.T) {
	n := Noise{Loops: []Loop{{Name: "a", Predicted: record.Number(3)}, {Name: "b", Predicted: record.Number(7)}, {Name: "c", Predicted: record.Missing("few")}}}
	if l, ok := n.Worst(); !ok || l.Name != "b" {
		t.Errorf("%v %+v", ok, l)
	}
	n.Loops = n.Loops[2:]
	if l, ok := n.Worst(); ok {
		t.Errorf("%+v", l)
	}
}
