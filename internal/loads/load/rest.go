package load

import (
	"time"

	"github.com/tarelab/tare/internal/wire/counter"
)

// rest keeps a thread from its work for a share of its time, in pauses of leastRest
// or a little more: a loss of known size. The thread keeps its CPU meanwhile. A CPU
// that is given up comes back slower, in a virtual machine above all: sleeps of 1 % of
// the time lost 2.3 to 2.9 % of the operations there.
type rest struct {
	share float64       // of the time that is idle, 0 to below 1
	owed  time.Duration // time that is still to be lost
}

// A stretch of work beyond longestWork was frozen or deprived of the CPU and counts
// as that long; a pause that lasts too long counts as at most leastRest too many.
const (
	longestWork = 5 * time.Millisecond
	leastRest   = 200 * time.Microsecond
)

// after pauses for what is due after an operation that began at start.
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

// worked adds a stretch of work and returns how long to pause now; 0: not yet.
func (r *rest) worked(took time.Duration) time.Duration {
	r.owed += time.Duration(float64(min(took, longestWork)) * r.share / (1 - r.share))
	if r.owed < leastRest {
		return 0
	}
	return r.owed
}

// paused takes off what the pause took.
func (r *rest) paused(took time.Duration) { r.owed -= min(took, r.owed+leastRest) }
