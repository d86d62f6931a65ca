package counter

import (
	"math"
	"sync/atomic"
)

// MaxValues is the largest number of values that a load can report in addition to operations and
// latencies.
const MaxValues = 48

// sum adds up one value. One thread writes it; version is odd while it does.
type sum struct {
	version atomic.Uint64
	total   atomic.Uint64 // float64
	count   atomic.Uint64
}

// Sum is the sum of a value so far. The mean within a window needs the sums at both ends: see Mean.
type Sum struct {
	Total float64
	Count uint64
}

// Mean is the mean of the values that were added after the earlier sum; NaN if there are none.
func (s Sum) Mean(earlier Sum) float64 {
	if s.Count == earlier.Count {
		return math.NaN()
	}
	return (s.Total - earlier.Total) / float64(s.Count-earlier.Count)
}

// AddValue adds x to value i; the workload's description numbers the values from 0. Only one thread at
// a time may call it.
func (m *Memory) AddValue(i int, x float64) {
	v := &m.head.values[i]
	v.version.Add(1)
	v.total.Store(math.Float64bits(math.Float64frombits(v.total.Load()) + x))
	v.count.Add(1)
	v.version.Add(1)
}

// Value reads value i.
func (m *Memory) Value(i int) Sum {
	v := &m.head.values[i]
	var s Sum
	// The number of tries is limited: the writer may have lost its CPU or may be dead.
	for range 1000 {
		before := v.version.Load()
		s = Sum{Total: math.Float64frombits(v.total.Load()), Count: v.count.Load()}
		if before%2 == 0 && v.version.Load() == before {
			break
		}
	}
	return s
}
