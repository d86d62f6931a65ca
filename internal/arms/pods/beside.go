package pods

import (
	"context"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// served leads the load of a client's pod, and reads the probes in its server's.
type served struct {
	*agent.Link // of the client's
	server      *agent.Link
}

var _ wire.Remote = served{}

// Measure lets the load run for a window. What is observed in the server's pod begins
// and ends with that, but for the difference of the two ways there.
func (s served) Measure(ctx context.Context, v wire.WindowSpec) (wire.Sample, error) {
	type watched struct {
		wire.Sample
		err error
	}
	over := make(chan watched, 1)
	if whole := !v.Asked && v.Tick == 0; whole {
		go func() {
			p, err := s.server.Watch(ctx, v)
			over <- watched{p, err}
		}()
	} else {
		over <- watched{}
	}
	seen, err := s.Link.Measure(ctx, v)
	w := <-over
	why := "its window is as long as the load says, which is not known in the server's pod"
	if w.err != nil {
		why = w.err.Error()
	}
	for name := range seen.Probes {
		value, ok := w.Probes[name]
		if !ok {
			value = record.Missing(why)
		}
		seen.Probes[name] = value
	}
	return seen, err
}

// Try tries the volume of the server: the client has none.
func (s served) Try(ctx context.Context) (storage.Trial, storage.Facts, error) {
	return s.server.Try(ctx)
}
