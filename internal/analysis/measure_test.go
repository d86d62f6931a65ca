package analysis

import (
	"testing"

	"github.com/tarelab/tare/internal/wire/metric"
)

// tare plan says by metric.LeastBeyond which loads have a p99.
func TestPlansKnowTheTail(t *testing.T) {
	if tail != metric.LeastBeyond {
		t.Errorf("%d operations, plans say %d", tail, metric.LeastBeyond)
	}
}
