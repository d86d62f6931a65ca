package agent

import (
	"context"
	"math"
	"os"

	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/internal/linux/storage"
)

// trialResult is the result of a trial of syncs on the volume under the data. JSON has no
// NaN: a count that is not known is -1.
type trialResult struct {
	Trial storage.Trial
	Facts storage.Facts
}

// try syncs beside the data and reads what the devices count. A pod sees the counters of its
// node's devices.
func (a *agent) try(request, []*os.File) (event, error) {
	c, err := a.current()
	if err != nil {
		return event{}, err
	}
	facts, err := storage.Of("/", c.dir)
	if err != nil {
		return event{}, err
	}
	t, err := durability.Try(context.Background(), c.dir, facts)
	for i, c := range t.Devices {
		t.Devices[i].Writes, t.Devices[i].Flushes = minusOne(c.Writes), minusOne(c.Flushes)
	}
	return event{Tried: &trialResult{t, facts}}, err
}

// minusOne makes -1 of NaN.
func minusOne(x float64) float64 {
	if math.IsNaN(x) {
		return -1
	}
	return x
}

// Try finds out whether syncs beside the data reach the device. The facts of the volume are
// known also where the trial failed.
func (l *Link) Try(ctx context.Context) (storage.Trial, storage.Facts, error) {
	n, err := l.ask(ctx, request{Try: true}, askBound)
	if n.Tried == nil {
		return storage.Trial{}, storage.Facts{}, err
	}
	t := n.Tried.Trial
	for i, c := range t.Devices {
		if c.Writes < 0 {
			t.Devices[i].Writes = math.NaN()
		}
		if c.Flushes < 0 {
			t.Devices[i].Flushes = math.NaN()
		}
	}
	return t, n.Tried.Facts, err
}
