package units

import (
	"math"
	"testing"
)

// A printed size is read as fio and others mean it.
func TestPrinted(t *testing.T) {
	for in, want := range map[string]int64{"4096B": 4096, "4K": 4096, "4k": 4096, "16Kb": 16384, "64kib": 65536, "1P": 1 << 50, "512": 512} {
		if got, err := Printed().Whole(in); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"k", "", "4 apples", "4ki", "-4k", "9000000p"} {
		if got, err := Printed().Whole(in); err == nil {
			t.Errorf("%q: %d", in, got)
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
