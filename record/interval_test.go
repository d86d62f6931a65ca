package record

import (
	"math"
	"testing"
)

// Two intervals are apart where they have nothing in common, in either order.
func TestApart(t *testing.T) {
	interval := func(low, high float64) Ratio {
		return Ratio{Ratio: (low + high) / 2, Low: low, High: high}
	}
	for _, c := range []struct {
		a, b Ratio
		want bool
	}{
		{interval(0.46, 0.53), interval(0.13, 0.15), true}, {interval(4.8, 6.3), interval(3.3, 4.68), true}, {interval(0.4, 0.6), interval(0.6, 0.7), false}, {interval(0.1, 0.9), interval(0.4, 0.5), false},
	} {
		if Apart(c.a, c.b) != c.want || Apart(c.b, c.a) != c.want {
			t.Errorf("%+v, want %v", c, c.want)
		}
	}
}

// What an interval says of 1, of a value and of a margin agrees.
func TestIntervalsAgree(t *testing.T) {
	for _, r := range []Ratio{{1, 0.9, 1.1, 0, 0}, {0.8, 0.7, 0.9, 0, 0}, {1.2, 1.1, 1.4, 0, 0}, {1, 1, 1, 0, 0}, {0.995, 0.992, 0.999, 0, 0}, {2, 0, math.Inf(1), 0, 0}, {math.NaN(), math.NaN(), math.NaN(), 0, 0}} {
		if r.Known() && r.Holds(1) != (r.Side() == 0) {
			t.Errorf("%+v: holds 1 is %v, side %d", r, r.Holds(1), r.Side())
		}
		if r.Known() && (r.Inverse().Side() != -r.Side() || math.Abs(r.Inverse().Far()-r.Far()) > 1e-12) {
			t.Errorf("%+v and its inverse", r)
		}
		if !r.Known() && r.Side() != 0 && r.Side() != 1 {
			t.Errorf("%+v: side %d", r, r.Side())
		}
		if (math.Expm1(r.Far()) < 0.01) != r.Within(0.01) && r.Known() {
			t.Errorf("%+v: within is %v, far %v", r, r.Within(0.01), r.Far())
		}
	}
}
