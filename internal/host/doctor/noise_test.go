package doctor

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
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
	if got := (&loop{}).judge(1); got.Word != "" {
		t.Errorf("no slices: %+v", got)
	}
}

// White noise of slices is less by the root of two in windows of two, and more by that in differences.
func TestNeighbours(t *testing.T) {
	for _, sd := range []float64{0.001, 0.05, 0.3} {
		got, ok := neighbours([]*loop{made(4000, sd), made(4000, sd)})
		if !ok || math.Abs(got/sd-1) > 0.1 {
			t.Errorf("noise %v: %v, %v", sd, got, ok)
		}
	}
	if got, ok := neighbours([]*loop{made(5, 0.1), made(4, 0.1)}); ok {
		t.Errorf("a few slices: %v", got)
	}
	if got, ok := neighbours([]*loop{made(100, 0)}); ok {
		t.Errorf("no noise: %v", got)
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
	calm := Noise{Steal: record.Number(0), Foreign: record.Number(0), Loops: []Loop{{Word: Quiet}, {Word: Quiet}}}
	for _, c := range []struct {
		change func(*Noise)
		word   string
		why    string
	}{
		{func(*Noise) {}, Quiet, "nothing"},
		{func(n *Noise) { n.Foreign = record.Number(0.5) }, Hostile, "other processes use 50 %"},
		{func(n *Noise) { n.Steal = record.Number(0.1) }, Shared, "stolen"},
		{func(n *Noise) { n.Steal = record.Missing(record.InProse("x")) }, Quiet, "nothing"},
		{func(n *Noise) { n.Sleep.P99 = 0.02 }, Hostile, "wake-up delay: p99 20 ms"},
		{func(n *Noise) { n.Loops = []Loop{{Name: "alu", Word: Shared, CV: 0.03}} }, Shared, "the speed of arithmetic varies by 3.0 %"},
		{func(n *Noise) { n.Foreign = record.Number(0.5); n.Sleep.P99 = 0.02 }, Hostile, "other processes"},
	} {
		n := calm
		c.change(&n)
		n.conclude()
		if n.Word != c.word || !strings.Contains(said.English(n.Because), c.why) {
			t.Errorf("%s because %s, want %s because %s", n.Word, n.Because, c.word, c.why)
		}
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
		if steal, foreign := bad.since(before); steal.Reason().IsZero() || foreign.Reason().IsZero() {
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
	missing := record.Missing(record.InProse("not here"))
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
			if !strings.Contains(said.English(got[i]), w) {
				t.Errorf("%q is not in %q", w, got[i])
			}
		}
	}
}
