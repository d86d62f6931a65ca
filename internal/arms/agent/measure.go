package agent

import (
	"errors"
	"os"
	"time"

	"github.com/tarelab/tare/internal/host/window"
	"github.com/tarelab/tare/internal/linux/sched"
)

// errEnded means that the load ended within a window.
var errEnded = errors.New("the load has ended")

// ended is errEnded when the process was reaped.
func (c *child) ended() error {
	if isClosed(c.done) {
		return errEnded
	}
	return nil
}

// measure opens the gate of the load, cuts a window and closes the gate again, on errors too.
func (a *agent) measure(r request, _ []*os.File) (event, error) {
	return a.withLoad(func(l *window.Load) (event, error) {
		l.Announce(*r.Measure)
		l.Memory.SetGate(false)
		out, err := l.Cut(*r.Measure)
		began := sched.Monotonic()
		window.Pause(l.Memory)
		out.Pausing = time.Duration(sched.Monotonic() - began)
		l.Fill(&out)
		return event{Sample: &out}, err
	})
}
