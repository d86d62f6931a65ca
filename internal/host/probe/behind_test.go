package probe

import (
	"math"
	"testing"
)

// TestBehind checks that ticks of many CPUs that lag make no value of the host's foreign CPU time missing, and that
// an arm with more CPU time than its host still does.
func TestBehind(t *testing.T) {
	for cpus, hz := 1, 100.0; cpus <= 4096; cpus *= 2 {
		h := &hostReader{foreign: 100, behind: behind(cpus)}
		lag := float64(cpus) * (1/hz + 0.01) // a tick of the kernel and one of /proc/stat for each CPU
		if got := h.rest(150, 50+lag*0.99, 0); got != 100 {
			t.Errorf("%d CPUs that lag by %g s: %v (%s), want the largest value so far", cpus, lag, got, h.why)
		}
		if got := h.rest(150, 50+h.behind+lag+0.1, 0); !math.IsNaN(got) {
			t.Errorf("%d CPUs: %v, want none: the arm used more than the host", cpus, got)
		}
	}
}
