package analysis

import (
	"encoding/binary"
	"math"

	"github.com/tarelab/tare/record"
)

func pack(h record.Histogram) packed {
	if len(h.Index) == 0 {
		return nil
	}
	out := make(packed, 0, 2*len(h.Index)+2)
	last := uint32(0)
	for i, b := range h.Index {
		if gap, c := b-last, h.Count[i]; gap < 0x80 && c < 0x80 {
			out = append(out, byte(gap), byte(c))
		} else {
			out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(gap)), c)
		}
		last = b
	}
	return out
}

// next returns the first bucket, as the distance to the one before, its count and the rest. It
// is not ok at the end, and where the rest is damaged.
func (p packed) next() (gap int, count uint64, rest packed, ok bool) {
	if len(p) > 1 && p[0]|p[1] < 0x80 { // two single bytes, as in most cases
		return int(p[0]), uint64(p[1]), p[2:], true
	}
	return p.nextLong()
}

func (p packed) nextLong() (gap int, count uint64, rest packed, ok bool) {
	distance, n := binary.Uvarint(p)
	count, m := binary.Uvarint(p[max(n, 0):])
	if n <= 0 || m <= 0 {
		return 0, 0, nil, false
	}
	return int(distance), count, p[n+m:], true
}

// each yields the buckets in ascending order.
func (p packed) each(yield func(bucket int, count uint64) bool) {
	bucket := 0
	for {
		gap, count, rest, ok := p.next()
		if bucket += gap; !ok || !yield(bucket, count) {
			return
		}
		p = rest
	}
}

// below is the number of operations that took less than ns nanoseconds. The operations of a
// bucket are taken to be spread evenly over it.
func (p packed) below(ns float64) float64 {
	last := record.Bucket(int64(min(ns, math.MaxInt64/2)))
	n, bucket := uint64(0), 0
	for {
		gap, c, rest, ok := p.next()
		if bucket += gap; !ok || bucket > last {
			return float64(n)
		}
		if bucket == last {
			low, high := record.BucketBounds(bucket)
			return float64(n) + float64(c)*min(max(ns-float64(low), 0)/float64(high-low), 1)
		}
		n, p = n+c, rest
	}
}

// quantile is the quantile q in seconds; all is the number of operations. NaN without any.
func (p packed) quantile(q float64, all uint64) float64 {
	want, seen, bucket := q*float64(all), 0.0, 0
	for {
		gap, c, rest, ok := p.next()
		if !ok {
			return math.NaN()
		}
		bucket += gap
		if seen+float64(c) >= want {
			low, high := record.BucketBounds(bucket)
			return (float64(low) + (want-seen)/float64(c)*float64(high-low)) * 1e-9
		}
		seen, p = seen+float64(c), rest
	}
}

// pooled is the histogram of latencies of all windows of one arm.
type pooled struct {
	all   []uint64 // by bucket
	total uint64
}

func (t *table) pool(arm string) *pooled { return poolOf(t.windowsOf(arm)) }

func poolOf(ws []*window) *pooled {
	p := &pooled{all: make([]uint64, record.Buckets)}
	for _, w := range ws {
		for b, c := range w.latency.each {
			p.all[b] += c
			p.total += c
		}
	}
	return p
}

// quantiles returns the quantiles qs (ascending) in seconds; NaN without operations.
func (p *pooled) quantiles(qs ...float64) []float64 {
	out := make([]float64, len(qs))
	for i := range out {
		out[i] = math.NaN()
	}
	seen, next := 0.0, 0
	for b, c := range p.all {
		if next == len(qs) || p.total == 0 {
			break
		}
		if c == 0 {
			continue
		}
		for next < len(qs) && seen+float64(c) >= qs[next]*float64(p.total) {
			low, high := record.BucketBounds(b)
			part := (qs[next]*float64(p.total) - seen) / float64(c)
			out[next] = (float64(low) + part*float64(high-low)) * 1e-9
			next++
		}
		seen += float64(c)
	}
	return out
}
