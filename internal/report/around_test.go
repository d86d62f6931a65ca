package report

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// ± stands for both sides; an interval of which one side is much wider has its bounds.
func TestAround(t *testing.T) {
	for want, r := range map[string]record.Ratio{
		"+3.1 ±1.2":         {Ratio: 1.031, Low: 1.02, High: 1.043},
		"-12 [-74, +232]":   {Ratio: 0.882, Low: 0.26, High: 3.32},
		"-1.0 [-1.8, +1.0]": {Ratio: 0.99, Low: 0.982, High: 1.01},
		"+40 [+31, +62]":    {Ratio: 1.4, Low: 1.31, High: 1.62},
		"-30 [-43, -15]":    {Ratio: 0.7, Low: 0.57, High: 0.85},
		"-30.0 ±13.4":       {Ratio: 0.7, Low: 0.566, High: 0.825},
	} {
		if estimate, rest := around(&r); estimate+" "+rest != want {
			t.Errorf("%+v: %q %q, want %q", r, estimate, rest, want)
		}
	}
}

// A capital letter is one of the user's alphabet, and no byte of it.
func TestUpper(t *testing.T) {
	for text, want := range map[string]string{"a load": "A load", "über": "Über", "данные": "Данные", "数据": "数据", "": "", "1 run": "1 run"} {
		if got := upper(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
