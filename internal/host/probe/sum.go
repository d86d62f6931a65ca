package probe

import (
	"errors"
	"github.com/tarelab/tare/record"
	"math"
)

// sum adds up the same numbers of several readers (disks, network namespaces). A number that
// one reader misses is missing in the sum, which would be too small otherwise. A reader may
// have more numbers than the sum: the first ones count.
type sum struct {
	noEdges
	parts   []Reader
	bad     []int // for each number: index of the part that last missed it
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

func (s *sum) Reason(i int) record.Said { return s.parts[s.bad[i]].Reason(i) }

func (s *sum) Close() error {
	var errs []error
	for _, r := range s.parts {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}
