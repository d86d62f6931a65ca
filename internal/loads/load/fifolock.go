package load

// fifoLock is a lock that goes to waiters in the order in which they came. A sync.Mutex lets the
// thread that released it lock it again before a waiter, for up to 1 ms, which would be a step in
// the latencies.
type fifoLock chan struct{}

func newFIFOLock() fifoLock { return make(fifoLock, 1) }

// lock relies on the runtime: it serves blocked senders first come, first served.
func (t fifoLock) lock() { t <- struct{}{} }

func (t fifoLock) unlock() { <-t }
