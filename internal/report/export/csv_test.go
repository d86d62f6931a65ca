package export

import "testing"

// Whole numbers are exact, fractions have nine digits.
func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		25276063744: "2.5276063744e+10", 1795754481443.5: "1.79575448e+12", 0.1 + 0.2: "0.3", 1.0 / 3: "0.333333333", -2: "-2",
	} {
		if got := number(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
