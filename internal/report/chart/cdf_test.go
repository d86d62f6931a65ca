package chart

import (
	"math"
	"regexp"
	"testing"
)

// A curve stays between nothing and all, whatever the shares add up to.
func TestCDFStaysInside(t *testing.T) {
	for _, shares := range [][]float64{{-1e305, 0.5}, {1e305, 0.5}, {-1000, 0.5}, {-1, 3}} {
		d := CDF{Low: 1, High: 10, Rows: []Curve{{Label: "host", Shares: shares}}, Tick: func(float64) string { return "" }}
		drawn := string(d.Draw(600))
		if bad := regexp.MustCompile(`Inf|NaN|[0-9]{5}`).FindString(drawn); bad != "" {
			t.Errorf("%v: %s in a drawing that is 600 wide", shares, bad)
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
