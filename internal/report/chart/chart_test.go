package chart

import (
	"math"
	"strings"
	"testing"
)

// Thinning keeps the lowest and the highest point of a strip, and bounds what is drawn.
func TestThin(t *testing.T) {
	s := Series{From: 0, To: 99_999, Low: -1, High: 2}
	r := Strip{}
	for i := range 100_000 {
		v := float64(i%7) / 7
		switch i {
		case 33_333:
			v = 2
		case 77_777:
			v = -1
		}
		r.Points = append(r.Points, Point{At: float64(i), Value: v})
	}
	s.Rows = []Strip{r}
	drawn, all := s.Thin()
	if all != 100_000 || drawn > 2*mostDrawn+2 || drawn < mostDrawn {
		t.Errorf("%d of %d points are drawn", drawn, all)
	}
	d := s.dots(r.Points)
	for _, want := range []string{"M333 0h0", "M778 1000h0"} {
		if !strings.Contains(d, want) {
			t.Errorf("the drawing has no %s", want)
		}
	}
}

// A number that has no place is drawn at 0, also one that is too large to be rounded.
func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		1.26: "1.3", -0.04: "0", math.Inf(1): "0", math.MaxFloat64: "0", -math.MaxFloat64: "0",
	} {
		if got := number(x); got != want {
			t.Errorf("%g is drawn at %s, want %s", x, got, want)
		}
	}
	if got := number(math.NaN()); got != "0" {
		t.Errorf("what is no number is drawn at %s", got)
	}
}
