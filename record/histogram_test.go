package record

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// latency draws nanoseconds evenly over the powers of two.
func latency() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		bits := rapid.IntRange(0, maxBits).Draw(t, "bits")
		return rapid.Int64Range(0, 1<<bits-1).Draw(t, "ns")
	})
}

func histogram(ns []int64) Histogram {
	counts := map[int]uint64{}
	for _, x := range ns {
		counts[Bucket(x)]++
	}
	var h Histogram
	for b := range counts {
		h.Index = append(h.Index, uint32(b))
	}
	slices.Sort(h.Index)
	for _, b := range h.Index {
		h.Count = append(h.Count, counts[int(b)])
	}
	return h
}

func TestABucketHoldsItsLatencies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := latency().Draw(rt, "latency")
		b := Bucket(x)
		low, high := BucketBounds(b)
		if x < low || x >= high {
			rt.Errorf("%d ns falls into bucket %d of [%d, %d)", x, b, low, high)
		}
		if width := high - low; width > 1 && width*512 > x {
			rt.Errorf("bucket %d of %d ns is %d wide, more than 1/512", b, x, width)
		}
	})
}

// The buckets cover everything once: each begins where the last one ends.
func TestBucketsAreContiguous(t *testing.T) {
	end := int64(0)
	for b := range Buckets {
		low, high := BucketBounds(b)
		if low != end || high <= low || Bucket(low) != b || Bucket(high-1) != b {
			t.Fatalf("bucket %d is [%d, %d), the one before ends at %d; its ends fall into %d and %d",
				b, low, high, end, Bucket(low), Bucket(high-1))
		}
		end = high
	}
	for x, want := range map[int64]int{-1: 0, math.MinInt64: 0, end: Buckets - 1, math.MaxInt64: Buckets - 1} {
		if got := Bucket(x); got != want {
			t.Errorf("%d ns falls into bucket %d, want %d", x, got, want)
		}
	}
}

// A quantile is off by the width of a bucket at most.
func TestQuantileIsNearTheSorted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ns := rapid.SliceOfN(latency(), 1, 200).Draw(rt, "latencies")
		q := rapid.Float64Range(0, 1).Draw(rt, "q")
		got := histogram(ns).Quantile(q)
		slices.Sort(ns)
		// The smallest x such that at least q of all are at or below it.
		i := max(int(math.Ceil(q*float64(len(ns))))-1, 0)
		low, high := BucketBounds(Bucket(ns[i]))
		const rounding = 1e-12
		if got < float64(low)*1e-9*(1-rounding) || got > float64(high)*1e-9*(1+rounding) {
			rt.Errorf("quantile %g of %v is %g s, want %d to %d ns", q, ns, got, low, high)
		}
	})
	if q := (Histogram{}).Quantile(0.5); !math.IsNaN(q) {
		t.Errorf("the median of nothing is %g, want NaN", q)
	}
}

func TestMergeIsTheHistogramOfAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SliceOfN(latency(), 0, 50), 0, 5).Draw(rt, "parts")
		var hs []Histogram
		var all []int64
		for _, ns := range parts {
			hs, all = append(hs, histogram(ns)), append(all, ns...)
		}
		got, want := Merge(hs...), histogram(all)
		if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Count, want.Count) || got.Total() != uint64(len(all)) {
			rt.Errorf("merged %v, want %v", got, want)
		}
	})
}

func TestHistogramsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := histogram(rapid.SliceOf(latency()).Draw(rt, "latencies"))
		if len(h.Count) > 0 {
			h.Count[0] += rapid.Uint64Range(0, 1<<60).Draw(rt, "many")
		}
		b, err := json.Marshal(h)
		if err != nil {
			rt.Fatal(err)
		}
		var back Histogram
		if err := json.Unmarshal(b, &back); err != nil {
			rt.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(h, back); diff != "" {
			rt.Error(diff)
		}
	})
}

func TestDamagedHistogramsAreRefused(t *testing.T) {
	encode := func(b ...byte) string { return base64.RawStdEncoding.EncodeToString(b) }
	for name, text := range map[string]string{
		"not base64":          "!!!!",
		"padded":              "AQE=",
		"a bucket, no count":  encode(1),
		"half a number":       encode(0x80),
		"half a count":        encode(1, 0x80),
		"a count of nothing":  encode(1, 0),
		"the same one twice":  encode(1, 1, 0, 1),
		"no such bucket":      encode(0xff, 0xff, 0x03, 1),
		"a gap that wraps":    encode(1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1),
		"number of 11 bytes":  encode(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1),
		"one bucket too many": encode(0x80, 0x7c, 1),
	} {
		h := histogram([]int64{1})
		if err := h.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%s: %q was read as %v", name, text, h)
		}
	}
}

func FuzzHistogram(f *testing.F) {
	for _, ns := range [][]int64{nil, {0}, {1, 2, 3}, {1 << 38, 1 << 38, 500}} {
		b, err := histogram(ns).MarshalText()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("AQE"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var h Histogram
		if h.UnmarshalText(text) != nil {
			return
		}
		if len(h.Index) != len(h.Count) || !sort.SliceIsSorted(h.Index, func(i, j int) bool { return h.Index[i] < h.Index[j] }) {
			t.Fatalf("%q was read as %v", text, h)
		}
		for i, b := range h.Index {
			if b >= Buckets || h.Count[i] == 0 || (i > 0 && b == h.Index[i-1]) {
				t.Fatalf("%q was read as %v", text, h)
			}
		}
		again, err := h.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Histogram
		if err := back.UnmarshalText(again); err != nil {
			t.Fatalf("%q was written as %q, which is refused: %v", text, again, err)
		}
		if diff := cmp.Diff(h, back); diff != "" {
			t.Error(diff)
		}
		h.Quantile(0.5)
	})
}
