package agent

import (
	"errors"
	"time"

	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/wire"
)

// errEnded means that what runs here ended in a window.
var errEnded = errors.New("the load has ended")

// ended says whether the process has.
func (c *child) ended() error {
	if over(c.done) {
		return errEnded
	}
	return nil
}

// measure lets the load go by its gate, reads what is asked for and closes the gate
// again, whatever happens.
func measure(l *window.Load, v wire.WindowSpec) (wire.Sample, error) {
	l.Announce(v)
	l.Memory.SetGate(false)
	out, err := l.Cut(v)
	began := sched.Monotonic()
	window.Pause(l.Memory)
	out.Pausing = time.Duration(sched.Monotonic() - began)
	l.Fill(&out)
	return out, err
}
