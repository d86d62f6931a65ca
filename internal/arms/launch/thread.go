package launch

import (
	"errors"
	"runtime"
	"sync"
)

// Thread is one thread of the system that is held until Close. The kernel ends
// a child with the *thread* that started it, so an arm starts its children from
// one that lives as long as the arm, whichever goroutine asks.
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
	defer runtime.UnlockOSThread() // the first thread could not end
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

// Close lets go of the thread. End what was started from it before.
func (t *Thread) Close() {
	t.once.Do(func() { close(t.end) })
	<-t.ended
}

// start runs what may fail.
func (t *Thread) start(f func() error) error {
	var err error
	if closed := t.Do(func() { err = f() }); closed != nil {
		return closed
	}
	return err
}
