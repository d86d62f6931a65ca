package analysis

import "testing"

// A change is a share of the value at the start: nothing falls by more than 100 %.
func TestFromItsBeginning(t *testing.T) {
	for _, c := range []struct {
		begin, end float64
		want       string
	}{
		{1000, 60, "falls by 94.0 %"}, {1000, 500, "falls by 50.0 %"}, {500, 1000, "rises by 100.0 %"}, {1000, -50, "falls by 100.0 %"}, {-10, 500, "rises from nearly nothing"},
	} {
		if got := changeFromStart((c.begin+c.end)/2, c.end-c.begin); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.begin, c.end, got, c.want)
		}
	}
}
