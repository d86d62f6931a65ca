package record

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// The buckets of a latency histogram are log-linear, as in HdrHistogram: each power of two of
// nanoseconds has 2^(subBits-1) buckets of equal width. A bucket is at most 1/512 (0.2 %) as wide as
// the latencies in it.
const (
	subBits = 10
	subHalf = 1 << (subBits - 1)
	// maxBits bounds the latencies that have buckets of their own: 2^39 ns, 9 minutes.
	maxBits = 39
	// Buckets is the number of buckets that Bucket can return.
	Buckets = (maxBits-subBits+1)*subHalf + subHalf
)

// Bucket returns the index of the bucket of a latency in nanoseconds.
// Negative latencies fall into the first bucket, huge ones into the last.
func Bucket(ns int64) int {
	if ns < 0 {
		return 0
	}
	n := bits.Len64(uint64(ns))
	if n <= subBits {
		return int(ns)
	}
	if n > maxBits {
		return Buckets - 1
	}
	shift := n - subBits
	return shift*subHalf + int(ns>>shift)
}

// BucketBounds returns the smallest latency of bucket i and the smallest of
// the next one, both in nanoseconds.
func BucketBounds(i int) (low, high int64) {
	if i < 1<<subBits {
		return int64(i), int64(i) + 1
	}
	shift := i/subHalf - 1
	sub := int64(i%subHalf + subHalf)
	return sub << shift, (sub + 1) << shift
}

// Histogram holds the latencies of one window, sparse: Index is strictly
// increasing, Count[i] > 0 operations fell into bucket Index[i].
type Histogram struct {
	Index []uint32
	Count []uint64
}

// Total is the number of operations counted.
func (h Histogram) Total() uint64 {
	var n uint64
	for _, c := range h.Count {
		n += c
	}
	return n
}

// Quantile returns the latency in seconds below which the share q (0 to 1) of
// the operations lie, interpolated inside its bucket; NaN without operations.
func (h Histogram) Quantile(q float64) float64 {
	total := h.Total()
	if total == 0 {
		return math.NaN()
	}
	want, seen := q*float64(total), 0.0
	for i, c := range h.Count {
		if seen+float64(c) >= want {
			low, high := BucketBounds(int(h.Index[i]))
			return (float64(low) + (want-seen)/float64(c)*float64(high-low)) * 1e-9
		}
		seen += float64(c)
	}
	_, high := BucketBounds(int(h.Index[len(h.Index)-1]))
	return float64(high) * 1e-9
}

// Merge adds histograms.
func Merge(hs ...Histogram) Histogram {
	sums := map[uint32]uint64{}
	for _, h := range hs {
		for i, b := range h.Index {
			sums[b] += h.Count[i]
		}
	}
	out := Histogram{Index: make([]uint32, 0, len(sums)), Count: make([]uint64, 0, len(sums))}
	for b := range sums {
		out.Index = append(out.Index, b)
	}
	sort.Slice(out.Index, func(i, j int) bool { return out.Index[i] < out.Index[j] })
	for _, b := range out.Index {
		out.Count = append(out.Count, sums[b])
	}
	return out
}

// MarshalText packs the histogram: pairs of unsigned varints (distance to the
// bucket before, count), in base64 without padding.
func (h Histogram) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 3*len(h.Index))
	last := uint32(0)
	for i, b := range h.Index {
		raw = binary.AppendUvarint(raw, uint64(b-last))
		raw = binary.AppendUvarint(raw, h.Count[i])
		last = b
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

var errHistogram = errors.New("damaged histogram")

// UnmarshalText reads what MarshalText wrote and refuses anything else.
func (h *Histogram) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("%w: %v", errHistogram, err)
	}
	index, count := make([]uint32, 0, len(raw)/2), make([]uint64, 0, len(raw)/2)
	bucket := uint64(0)
	for len(raw) > 0 {
		var gap, c uint64
		if len(raw) > 1 && raw[0]|raw[1] < 0x80 { // single bytes, as most are
			gap, c, raw = uint64(raw[0]), uint64(raw[1]), raw[2:]
		} else {
			var n, m int
			gap, n = binary.Uvarint(raw)
			c, m = binary.Uvarint(raw[max(n, 0):])
			if n <= 0 || m <= 0 {
				return errHistogram
			}
			raw = raw[n+m:]
		}
		bucket += gap
		if c == 0 || gap > Buckets || bucket >= Buckets || (gap == 0 && len(index) > 0) {
			return errHistogram
		}
		index, count = append(index, uint32(bucket)), append(count, c)
	}
	*h = Histogram{}
	if len(index) > 0 {
		*h = Histogram{Index: index, Count: count}
	}
	return nil
}
