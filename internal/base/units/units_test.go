package units

import (
	"math"
	"testing"
)

func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		s    Spelling
		good map[string]int64
		bad  []string
	}{
		"tare's own": {IEC(), map[string]int64{"0B": 0, "64KiB": 65536, "3GiB": 3 << 30, "7B": 7},
			[]string{"", "64", "64K", "64kib", "64 KiB", "1.5MiB", "-1B", "MiB", "9999999999GiB", "1e3B", "1TB"}},
		"bare":   {IEC().Bare(), map[string]int64{"64": 64, "2MiB": 2 << 20}, []string{"", "64K"}},
		"server": {Server(), map[string]int64{"128M": 128 << 20, "2GiB": 2 << 30, "1k": 1024, "1kiB": 1024, "5": 5, "0": 0, "3T": 3 << 40}, []string{"", "5iB", "5B", "2gib", "1.5G", "-1", "16777216T"}},
		"printed": {Printed(), map[string]int64{"4096B": 4096, "4K": 4096, "4k": 4096, "16Kb": 16384, "64kib": 65536, "1P": 1 << 50, "512": 512},
			[]string{"k", "", "4 apples", "4ki", "-4k", "9000000p"}},
	} {
		for in, want := range c.good {
			if got, err := c.s.Whole(in); err != nil || got != want {
				t.Errorf("%s: %q: %d, %v, want %d", name, in, got, err, want)
			}
		}
		for _, in := range c.bad {
			if got, err := c.s.Whole(in); err == nil {
				t.Errorf("%s: %q: %d", name, in, got)
			}
		}
	}
}

func TestPart(t *testing.T) {
	for in, want := range map[string]int64{"1.5GiB": 3 << 29, "64MiB": 64 << 20, "1e3B": 1000} {
		if got, err := IEC().Part(in); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "0B", "-1MiB", "NaNB", "InfGiB", "1e300GiB", "1.5"} {
		if got, err := IEC().Part(bad); err == nil {
			t.Errorf("%q: %d", bad, got)
		}
	}
}

// fio 2 prints KB and MB of 1024, fio 3 kB and MB of 1000 beside KiB and MiB.
func TestFioText(t *testing.T) {
	for in, want := range map[string][2]float64{
		"B": {1, 1}, "KB": {1024, 1024}, "K": {1024, 1024}, "KiB": {1024, 1024}, "Ki": {1024, 1024}, "MiB": {1 << 20, 1 << 20},
		"kB": {1024, 1000}, "MB": {1 << 20, 1e6}, "M": {1 << 20, 1e6}, "GB": {1 << 30, 1e9}, "PB": {1 << 50, 1e15},
		"": {math.NaN(), math.NaN()}, "Mbit": {math.NaN(), math.NaN()}, "s": {math.NaN(), math.NaN()},
	} {
		for i, decimal := range []float64{1024, 1000} {
			got, ok := FioText(decimal).Unit(in)
			if ok == math.IsNaN(want[i]) || ok && got != want[i] {
				t.Errorf("%q with %v: %v %v, want %v", in, decimal, got, ok, want[i])
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1: "1B", 1024: "1KiB", 1025: "1025B", 64 << 20: "64MiB", 3 << 40: "3072GiB"} {
		if got := IEC().Format(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
		if back, err := IEC().Whole(want); err != nil || back != n {
			t.Errorf("%s: %d, %v", want, back, err)
		}
	}
}

func TestOfHeading(t *testing.T) {
	for name, want := range map[string]Heading{
		"ms": {"s", 1e-3}, "MSec": {"s", 1e-3}, "MiB/s": {"B/s", 1 << 20}, "KB/s": {"B/s", 1e3}, "mb/sec": {"B/s", 1e6}, "TPS": {"1/s", 1},
		"%": {"ratio", 0.01}, "GiB": {"B", 1 << 30}, "kB": {"B", 1e3}, "IOPS": {"1/s", 1}, "h": {"s", 3600},
	} {
		if got, ok := OfHeading(name); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "1", "points", "furlongs/s", "Mb/s", "Gb", "mbit/s", "s/s"} {
		if got, ok := OfHeading(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
