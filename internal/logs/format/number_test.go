package format

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/tarelab/tare/record"
)

func TestNumber(t *testing.T) {
	for in, want := range map[string]struct {
		x float64
		n int
	}{
		"": {0, 0}, "-": {0, 0}, ".": {0, 0}, "x1": {0, 0}, "nan": {0, 0}, "inf": {0, 0}, "e5": {0, 0}, "-.": {0, 0},
		"0": {0, 1}, "12": {12, 2}, "-3.5x": {-3.5, 4}, "+3": {3, 2}, "1.": {1, 2}, ".5": {0.5, 2}, "1e3": {1000, 3}, "1e": {1, 1}, "1e+": {1, 1}, "2E-2": {0.02, 4},
		"1,5": {1, 1}, "3.3.3": {3.3, 3}, "22154.20 ": {22154.20, 8}, "18446744073709551617": {18446744073709551617, 20},
		"0.00000000000000000000000000001": {1e-29, 31}, "9007199254740993": {9007199254740992, 16}, "1e999": {0, 0},
	} {
		if x, n := Number([]byte(in)); x != want.x || n != want.n {
			t.Errorf("%q: %v, %d; want %v, %d", in, x, n, want.x, want.n)
		}
	}
}

// A printed number is read back exactly.
func TestNumberExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Ldexp(r.Float64(), r.IntN(120)-60)
		for _, prec := range []int{2, 3, 6, -1} {
			s := strconv.FormatFloat(x, "fge"[r.IntN(3)], prec, 64)
			want, _ := strconv.ParseFloat(s, 64)
			if got, n := Number([]byte(s)); got != want || n != len(s) {
				t.Fatalf("%s: %v, %d; want %v", s, got, n, want)
			}
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-2.5e-7", "18446744073709551616.5", ".", "1e400", "00000000000000000000000001"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, n := Number(b)
		if n == 0 {
			return
		}
		want, err := strconv.ParseFloat(string(b[:n]), 64)
		if err != nil || want != x {
			t.Fatalf("%q: %v, want %v, %v", b[:n], x, want, err)
		}
	})
}

func TestNum(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if Some(x).Known() {
			t.Error(x)
		}
	}
	b, _ := Num{}.MarshalJSON()
	c, _ := Some(1.5).Over(1000).MarshalJSON()
	if string(b) != "null" || string(c) != "0.0015" || Some(0).NonZero().Known() || Some(1).Over(0).Known() {
		t.Errorf("%s %s", b, c)
	}
	if v := (Num{}).Value(record.InProse("not printed")); v.Reason() != record.InProse("not printed") {
		t.Error(v)
	}
	if Share(99.99) != 0.9999 || Share(95) != 0.95 || Share(99.9) != 0.999 {
		t.Error(Share(99.99))
	}
}

func TestCommas(t *testing.T) {
	for in, want := range map[string]string{"1,5": "1.5", "a,5": "", "1, 5": "", "(ms,95%): 2,61": "(ms,95%): 2.61", "": "", ",": "", "1,": ""} {
		if got, ok := Commas([]byte(in)); string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	in := []byte("310143.73/")
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		Number(in)
	}
}

// A number is read to its end, or it is missing.
func TestLeading(t *testing.T) {
	none := math.NaN()
	for in, want := range map[string]float64{
		"569,152.00": 569152, " 1,234,567 x": 1234567, "12,345,678.9": 12345678.9, "569,152": none, "1,5": none, "1,5 ms": none,
		"1,234,56": none, "1,234,5678": none, "12 ms": 12, "12, then": 12, "12,": 12, "1.5,": 1.5, "-3.5x": -3.5, "x": none,
	} {
		got, ok := Leading([]byte(in)).Get()
		if ok == math.IsNaN(want) || ok && got != want {
			t.Errorf("%q: %v %v, want %v", in, got, ok, want)
		}
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[string]string{"4096B": "4096", "4K": "4096", "4k": "4096", "16Kb": "16384", "64.0KiB": "65536", "1M": "1.048576e+06",
		"512": "512", "": "-", "k": "-", "4 apples": "-", "-4k": "-"} {
		if got := Size([]byte(in)).String(); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
