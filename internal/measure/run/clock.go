package run

import "time"

// clock is a time that something may take: a turn, or the whole run.
type clock struct {
	began  time.Time
	budget time.Duration
}

func startClock(budget time.Duration) clock { return clock{time.Now(), budget} }

// spent is the time since it was started.
func (c clock) spent() time.Duration { return time.Since(c.began) }

// left is the rest of the budget; negative: it is used up.
func (c clock) left() time.Duration { return c.budget - c.spent() }
