package load

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestDigitsAreSysbenchs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var room [2][textBytes]byte
	c, pad := string(digits(rng, room[0][:], cGroups)), string(digits(rng, room[1][:], padGroups))
	if !regexp.MustCompile(`^\d{11}(-\d{11}){9}$`).MatchString(c) || len(c) != 119 {
		t.Errorf("c is %q", c)
	}
	if !regexp.MustCompile(`^\d{11}(-\d{11}){4}$`).MatchString(pad) || len(pad) != 59 {
		t.Errorf("pad is %q", pad)
	}
}

func TestPicksAreRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 1e7).Draw(rt, "rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for name, p := range map[string]pick{"uniform": uniform(rng), "special": special(rng)} {
			for range 50 {
				if id := p(n); id < 1 || id > n {
					rt.Fatalf("%s picked %d of %d", name, id, n)
				}
			}
		}
	})
}

// Three quarters of the special picks are in the middle 1 %, and some of the others by chance.
func TestSpecialIsUneven(t *testing.T) {
	const rows, n = 100_000, 100_000
	p, few := special(rand.New(rand.NewPCG(1, 0))), 0
	for range n {
		if id := p(rows); id >= rows/2-rows/200 && id <= rows/2+rows/200 {
			few++
		}
	}
	if share := float64(few) / n; share < 0.75 || share > 0.80 {
		t.Errorf("%g of the picks are in the middle 1 %%, want 0.75 and a little", share)
	}
}

func BenchmarkDigits(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var room [textBytes]byte
	b.ReportAllocs()
	for b.Loop() {
		digits(rng, room[:], cGroups)
	}
}
