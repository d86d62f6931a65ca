package agent

import (
	"sync"
	"time"
)

// Ear is told when nothing is heard of an agent any more, and when something is again: one
// after the other, never two at once, and each Heard after its Quiet.
type Ear interface {
	Quiet(since time.Time)
	Heard()
}

// quietAfter is how long an agent, which answers each beat, may say nothing.
const quietAfter = beatEvery + 3*time.Second

// quietness tells an ear how long its agent has said nothing.
type quietness struct {
	ear   Ear
	timer *time.Timer

	mu   sync.Mutex
	last time.Time // when the agent said something
	told bool      // the ear knows that it is quiet
	over bool
}

func listen(ear Ear) *quietness {
	q := &quietness{ear: ear, last: time.Now()}
	q.timer = time.AfterFunc(quietAfter, q.fall)
	return q
}

// fall tells the ear of the silence, unless the agent spoke after the timer fired.
func (q *quietness) fall() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over || q.told || time.Since(q.last) < quietAfter {
		return
	}
	q.told = true
	q.ear.Quiet(q.last)
}

// heard notes that the agent said something.
func (q *quietness) heard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = time.Now()
	q.timer.Reset(quietAfter)
	if q.told {
		q.told = false
		q.ear.Heard()
	}
}

// stop ends it: nothing is told from here on.
func (q *quietness) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.timer.Stop()
}
