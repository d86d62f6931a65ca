package pods

import (
	"context"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// watchedServer controls the load in a client's pod and reads the probes in its server's pod.
type watchedServer struct {
	*agent.Link // of the client's pod
	server      *agent.Link
}

var _ wire.Remote = watchedServer{}

// Measure lets the load run for a window.
func (s watchedServer) Measure(ctx context.Context, w wire.WindowSpec) (wire.Sample, error) {
	measured, watched, watchErr, err := wire.MeasureBeside(ctx, s.Link, s.server, w)
	why := record.Say("length_of_load")
	if watchErr != nil {
		why = record.InProse(watchErr.Error())
	}
	for name := range measured.Probes {
		value, ok := watched.Probes[name]
		if !ok {
			value = record.Missing(why)
		}
		measured.Probes[name] = value
	}
	return measured, err
}

// Try tries the volume of the server: the client has none.
func (s watchedServer) Try(ctx context.Context) (storage.Trial, storage.Facts, error) {
	return s.server.Try(ctx)
}
