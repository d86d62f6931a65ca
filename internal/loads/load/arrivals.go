package load

import (
	"math"
	"math/rand/v2"
	"sync"
)

// arrivals is the schedule of an open loop: a Poisson process from which all threads of a load
// take arrivals in order, as the servers of one queue. The schedule restarts at each thaw, so a
// pause leaves no backlog. The same seed gives the same gaps.
type arrivals struct {
	gap   float64 // mean between batches, nanoseconds
	batch uint64  // arrivals at the same time

	mu    sync.Mutex
	began bool
	thaw  int64  // the thaw at which the schedule began
	next  stream // the next arrival to be taken
	due   stream // the first arrival in the future, at or after next
}

// stream is a position in the Poisson process.
type stream struct {
	rng *rand.Rand
	at  float64 // CLOCK_MONOTONIC in nanoseconds; a float64 is exact to 1 µs for centuries
	n   uint64  // number of arrivals before this one
}

// newArrivals is a schedule of rate arrivals per second, of which batch come at a time.
func newArrivals(rate float64, batch int) *arrivals {
	b := max(batch, 1)
	return &arrivals{gap: 1e9 / rate * float64(b), batch: uint64(b)}
}

// take returns the time of the next arrival and how many later arrivals are already due. thaw is
// the time of the last thaw; when it changes, the schedule restarts at now.
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
	if s.n++; s.n%a.batch == 0 {
		s.at += a.draw(s)
	}
}

// draw returns an exponential gap in nanoseconds, by inversion: -ln(1-u) times the mean.
func (a *arrivals) draw(s *stream) float64 { return -math.Log1p(-s.rng.Float64()) * a.gap }
