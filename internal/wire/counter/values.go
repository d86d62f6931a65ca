package counter

import (
	"math"
	"sync/atomic"
)

// MaxValues is the largest number of values that a load reports beside
// operations and latencies.
const MaxValues = 48

// sum adds up one value. It is written by one thread; version is odd meanwhile.
type sum struct {
	version atomic.Uint64
	total   atomic.Uint64 // float64
	count   atomic.Uint64
}

// Sum is a value added up: the mean of a window is the difference of two.
type Sum struct {
	Total float64
	Count uint64
}

// Mean is the mean of what was added after the earlier sum; NaN without any.
func (s Sum) Mean(earlier Sum) float64 {
	if s.Count == earlier.Count {
		return math.NaN()
	}
	return (s.Total - earlier.Total) / float64(s.Count-earlier.Count)
}

// AddValue adds to value i, from 0 in the order in which the workload describes
// them. One thread at a time may call it.
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
	// A load that lost its CPU, or was killed, in between is not waited for.
	for range 1000 {
		before := v.version.Load()
		s = Sum{Total: math.Float64frombits(v.total.Load()), Count: v.count.Load()}
		if before%2 == 0 && v.version.Load() == before {
			break
		}
	}
	return s
}
