package pgbench

import (
	"testing"
	"time"
)

// The end of a transaction is the time in the log, also if this process was delayed between two polls, in
// a poll, or by a pause.
func TestPgbenchMoment(t *testing.T) {
	const ms = int64(time.Millisecond)
	const ahead = int64(1_800_000_000_000_000_000)
	plain := poll{since: 100 * ms, thawed: 50 * ms, over: 110 * ms, offset: ahead}
	paused := poll{since: 100 * ms, thawed: 130 * ms, over: 140 * ms, offset: ahead}
	late := poll{since: 100 * ms, thawed: 200 * ms, over: 240 * ms, offset: ahead}
	for _, c := range []struct {
		name      string
		poll      poll
		at, moved int64 // end of the transaction; by how much the log's clock was set meanwhile
		want      int64
	}{
		{"between two looks", plain, 104 * ms, 0, 104 * ms},
		{"its line was written after the poll before", plain, 99 * ms, 0, 100 * ms},
		{"after the clocks were read", plain, 111 * ms, 0, 110 * ms},
		{"clock set forward", plain, 104 * ms, 3600_000 * ms, 110 * ms},
		{"clock set back", plain, 104 * ms, -3600_000 * ms, 110 * ms},
		{"before the pause, unseen", paused, 101 * ms, 0, 100 * ms},
		{"before the pause, unseen for long", late, 180 * ms, 0, 100 * ms},
		{"right after the pause", paused, 131 * ms, 0, 131 * ms},
		{"clock slightly off", paused, 131 * ms, -2 * ms, 130 * ms},
		{"after the pause, clock set", paused, 131 * ms, 3600_000 * ms, 140 * ms},
	} {
		if got := c.poll.moment(c.at + c.moved + ahead); got != c.want {
			t.Errorf("%s: %v ms, want %v", c.name, float64(got)/float64(ms), float64(c.want)/float64(ms))
		}
	}
}
