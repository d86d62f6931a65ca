package load

// fifoLock is a lock that waiters get in the order in which they came. A
// sync.Mutex lets whoever has just released it barge in again and hands over
// only after 1 ms, which would show as a step in the latencies.
type fifoLock chan struct{}

func newFIFOLock() fifoLock { return make(fifoLock, 1) }

// take relies on the runtime serving blocked senders first come, first served.
func (t fifoLock) lock() { t <- struct{}{} }

func (t fifoLock) unlock() { <-t }
