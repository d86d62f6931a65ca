package load

import (
	"math"
	"math/rand/v2"
	"sync"
)

// arrivals is the schedule of an open loop: a Poisson process that all
// threads of a load take from, in order, so that they are servers of one
// queue. It begins anew at every thaw: a pause leaves no debt. The same seed
// gives the same gaps, whatever the load does.
type arrivals struct {
	gap float64 // mean, nanoseconds

	mu    sync.Mutex
	began bool
	thaw  int64  // that the schedule belongs to
	next  stream // the next arrival that nobody has taken
	due   stream // the first arrival that is not due yet; runs ahead of next
}

// stream walks along the process.
type stream struct {
	rng *rand.Rand
	at  float64 // CLOCK_MONOTONIC nanoseconds; exact to a microsecond for centuries
	n   uint64  // arrivals passed
}

// newArrivals makes a process of rate arrivals per second.
func newArrivals(rate float64) *arrivals { return &arrivals{gap: 1e9 / rate} }

// take returns when the next arrival is, and how many others are due by now
// and wait. thaw is the last thaw; at a new one the schedule begins at now.
func (a *arrivals) take(now, thaw int64, seed uint64) (at int64, waiting uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.began || a.thaw != thaw {
		a.began, a.thaw = true, thaw
		a.next, a.due = a.start(now, seed), a.start(now, seed)
	}
	at = int64(a.next.at)
	a.step(&a.next)
	for a.due.at <= float64(now) {
		a.step(&a.due)
	}
	if a.due.n > a.next.n {
		waiting = a.due.n - a.next.n
	}
	return at, waiting
}

func (a *arrivals) start(now int64, seed uint64) stream {
	s := stream{rng: rand.New(rand.NewPCG(seed, 0)), at: float64(now)}
	s.at += a.draw(&s)
	return s
}

func (a *arrivals) step(s *stream) {
	s.at += a.draw(s)
	s.n++
}

// draw is one exponential gap, by inversion: -ln(1-u) times the mean.
func (a *arrivals) draw(s *stream) float64 { return -math.Log1p(-s.rng.Float64()) * a.gap }
