package agent

import (
	"sync"
	"time"
)

// SilenceListener hears when an agent falls silent and when it answers again. Calls are never
// concurrent, and each Heard follows a Quiet.
type SilenceListener interface {
	Quiet(since time.Time)
	Heard()
}

// quietAfter is how long an agent may be silent; it answers each heartbeat.
const quietAfter = beatEvery + 3*time.Second

// silenceWatch tells a listener when its agent is silent.
type silenceWatch struct {
	listener SilenceListener
	timer    *time.Timer

	mu      sync.Mutex
	last    time.Time // when the last event arrived
	told    bool      // the listener knows of the silence
	stopped bool
}

func watchSilence(listener SilenceListener) *silenceWatch {
	q := &silenceWatch{listener: listener, last: time.Now()}
	q.timer = time.AfterFunc(quietAfter, q.expire)
	return q
}

// expire tells the listener of the silence, unless an event arrived after the timer fired.
func (q *silenceWatch) expire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopped || q.told || time.Since(q.last) < quietAfter {
		return
	}
	q.told = true
	q.listener.Quiet(q.last)
}

// heard notes that an event arrived.
func (q *silenceWatch) heard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = time.Now()
	q.timer.Reset(quietAfter)
	if q.told {
		q.told = false
		q.listener.Heard()
	}
}

// stop ends the watch. The listener is not called after that.
func (q *silenceWatch) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.timer.Stop()
}
