package probe

import (
	"errors"
	"math"
)

// sum adds several readers of the same numbers up (disks, network namespaces).
// A sum without one of them would be too small, so a number that one of them
// misses is missing. Of a reader of more numbers the first ones count.
type sum struct {
	noEdges
	parts   []files
	bad     []int // by number: the part that missed it last
	scratch []float64
}

func newSum(width int) *sum { return &sum{bad: make([]int, width), scratch: make([]float64, 0, width)} }

func (s *sum) Read(dst []float64) []float64 {
	from := len(dst)
	for range s.bad {
		dst = append(dst, 0)
	}
	for part, r := range s.parts {
		s.scratch = r.Read(s.scratch[:0])
		for i := range s.bad {
			dst[from+i] += s.scratch[i]
			if math.IsNaN(s.scratch[i]) {
				s.bad[i] = part
			}
		}
	}
	return dst
}

func (s *sum) Reason(i int) string { return s.parts[s.bad[i]].Reason(i) }

func (s *sum) Close() error {
	var errs []error
	for _, r := range s.parts {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
