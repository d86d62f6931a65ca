package load

// turn is a lock that waiters get in the order in which they came. A
// sync.Mutex lets whoever has just released it barge in again and hands over
// only after 1 ms, which would show as a step in the latencies.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take relies on the runtime serving blocked senders first come, first served.
func (t turn) take() { t <- struct{}{} }

func (t turn) give() { <-t }
