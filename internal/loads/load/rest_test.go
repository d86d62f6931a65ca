package load

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The idle share is the one that was asked for, up to the pause that is due, whatever the operations take
// and however late pauses end.
func TestRestKeepsItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rest{share: rapid.Float64Range(0.001, 0.5).Draw(t, "share")}
		late := rapid.SliceOfN(rapid.Int64Range(0, int64(leastRest)), 1, 20).Draw(t, "late")
		took := rapid.SliceOfN(rapid.Int64Range(1_000, int64(longestWork)), 200, 600).Draw(t, "took")
		var work, idle time.Duration
		for i, x := range took {
			work += time.Duration(x)
			if d := r.worked(time.Duration(x)); d > 0 {
				actual := d + time.Duration(late[i%len(late)])
				r.paused(actual)
				idle += actual
			}
		}
		want := float64(work) * r.share / (1 - r.share)
		if off := math.Abs(want - float64(idle+r.owed)); off > float64(len(took)) {
			t.Fatalf("idle %v and owed %v, want %v together", idle, r.owed, time.Duration(want))
		}
	})
}

// A freeze during work causes no long pause, and a freeze during a pause no long time without pauses.
func TestRestAcrossAFreeze(t *testing.T) {
	r := rest{share: 0.01}
	if d := r.worked(10 * time.Second); d != 0 || r.owed > 60*time.Microsecond {
		t.Errorf("a frozen operation earns %v", r.owed)
	}
	d := r.worked(longestWork)
	for d == 0 {
		d = r.worked(longestWork)
	}
	r.paused(10 * time.Second)
	if r.owed < -leastRest {
		t.Errorf("a frozen sleep is a credit of %v", -r.owed)
	}
}
