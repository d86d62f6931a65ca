package analysis

import (
	"math"
	"testing"
)

// A change is a share of the value at the start: nothing falls by more than 100 %.
func TestFromItsBeginning(t *testing.T) {
	for _, c := range []struct {
		begin, end, want float64
	}{
		{1000, 60, -0.94}, {1000, 500, -0.5}, {500, 1000, 1}, {1000, -50, -1}, {-10, 500, math.Inf(1)},
	} {
		if got := changeFromStart((c.begin+c.end)/2, c.end-c.begin); got != c.want {
			t.Errorf("%v to %v: %v, want %v", c.begin, c.end, got, c.want)
		}
	}
}
