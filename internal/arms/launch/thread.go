package launch

import (
	"errors"
	"runtime"
	"sync"
)

// Thread is a system thread that exists until Close. The kernel ends a child with the thread that
// started it (PR_SET_PDEATHSIG), so an arm starts its children from a thread that exists as long
// as the arm.
type Thread struct {
	jobs  chan func()
	end   chan struct{}
	ended chan struct{}
	once  sync.Once
}

// ErrClosed means that the arm was closed before.
var ErrClosed = errors.New("the arm is closed")

// NewThread starts a thread. The caller closes it.
func NewThread() *Thread {
	t := &Thread{jobs: make(chan func()), end: make(chan struct{}), ended: make(chan struct{})}
	go t.run()
	return t
}

func (t *Thread) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread() // the first thread of a process cannot end
	defer close(t.ended)
	for {
		select {
		case job := <-t.jobs:
			job()
		case <-t.end:
			return
		}
	}
}

// Do runs f on the thread and waits for it.
func (t *Thread) Do(f func()) error {
	done := make(chan struct{})
	job := func() {
		defer close(done)
		f()
	}
	select {
	case t.jobs <- job:
		<-done
		return nil
	case <-t.ended:
		return ErrClosed
	}
}

// Close ends the thread. Processes that were started from it have to end before.
func (t *Thread) Close() {
	t.once.Do(func() { close(t.end) })
	<-t.ended
}

// start is Do for a function with an error.
func (t *Thread) start(f func() error) error {
	var err error
	if closed := t.Do(func() { err = f() }); closed != nil {
		return closed
	}
	return err
}
