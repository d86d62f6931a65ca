package launch

import (
	"sync"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/record"
)

// Slot is the process in an arm that holds one process at a time.
type Slot struct {
	mu   sync.Mutex
	last environment.Running // nil: none was started
}

// Start keeps the process that start starts. It returns environment.ErrBusy while the last
// one runs.
func (o *Slot) Start(start func() (environment.Running, error)) (environment.Running, error) {
	return o.start(start, true)
}

// Replace is Start for an arm that may hold several processes: the last one is read back.
func (o *Slot) Replace(start func() (environment.Running, error)) (environment.Running, error) {
	return o.start(start, false)
}

func (o *Slot) start(start func() (environment.Running, error), alone bool) (environment.Running, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if alone && !environment.Ended(o.last) {
		return nil, environment.ErrBusy
	}
	running, err := start()
	if err != nil {
		return nil, err
	}
	o.last = running
	return running, nil
}

// Running is the process; nil if none runs.
func (o *Slot) Running() environment.Running {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running()
}

func (o *Slot) running() environment.Running {
	if environment.Ended(o.last) {
		return nil
	}
	return o.last
}

// Read calls read with the process, or with nil if none runs. No process is started meanwhile.
func (o *Slot) Read(read func(p environment.Running) ([]record.Setting, error)) ([]record.Setting, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return read(o.running())
}

// ReadBack is the function ReadBack for the process; it returns nothing if none runs.
func (o *Slot) ReadBack(expect func() Expect) ([]record.Setting, error) {
	return o.Read(func(p environment.Running) ([]record.Setting, error) {
		if p == nil {
			return nil, nil
		}
		return ReadBack(p.Pid(), expect())
	})
}
