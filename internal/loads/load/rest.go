package load

import (
	"time"

	"github.com/tarelab/tare/internal/wire/counter"
)

// rest plants a loss of known size: a thread pauses for a share of its time, leastRest or a little
// more at once. It spins during the pause, because a CPU that was given up comes back slower, above
// all in a virtual machine: sleeping for 1 % of the time lost 2.3 to 2.9 % of the operations there.
type rest struct {
	share float64       // idle share of the time, from 0 to below 1
	owed  time.Duration // pauses that are still due
}

// A stretch of work longer than longestWork was interrupted by a freeze or by the scheduler, and
// counts as longestWork. A pause that takes too long counts as at most leastRest too long.
const (
	longestWork = 5 * time.Millisecond
	leastRest   = 200 * time.Microsecond
)

// after makes the pause that is due after an operation that began at start, if any.
func (r *rest) after(m *counter.Memory, start int64) {
	began := m.Now()
	d := r.worked(time.Duration(began - start))
	if d == 0 {
		return
	}
	now := began
	for now-began < int64(d) {
		now = m.Now()
	}
	r.paused(time.Duration(now - began))
}

// worked adds a stretch of work and returns the pause that is due now, 0 if none is.
func (r *rest) worked(took time.Duration) time.Duration {
	r.owed += time.Duration(float64(min(took, longestWork)) * r.share / (1 - r.share))
	if r.owed < leastRest {
		return 0
	}
	return r.owed
}

// paused subtracts a pause that was made.
func (r *rest) paused(took time.Duration) { r.owed -= min(took, r.owed+leastRest) }
