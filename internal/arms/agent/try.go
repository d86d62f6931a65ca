package agent

import (
	"context"
	"math"

	"github.com/tarelab/tare/internal/host/durability"
	"github.com/tarelab/tare/internal/linux/storage"
)

// trialResult is what was seen of the syncs on the volume under the data. JSON has no word
// for what was not counted, which is -1.
type trialResult struct {
	Trial storage.Trial
	Facts storage.Facts
}

// try has the devices count syncs beside the data. A pod sees the counters of its
// node's devices.
func (a *agent) try(r request) {
	c, err := a.current()
	if err != nil {
		a.answer(r, event{}, err)
		return
	}
	facts, err := storage.Of("/", c.dir)
	if err != nil {
		a.answer(r, event{}, err)
		return
	}
	t, err := durability.Try(context.Background(), c.dir, facts)
	for i, c := range t.Devices {
		t.Devices[i].Writes, t.Devices[i].Flushes = counted(c.Writes), counted(c.Flushes)
	}
	a.answer(r, event{Tried: &trialResult{t, facts}}, err)
}

func counted(x float64) float64 {
	if math.IsNaN(x) {
		return -1
	}
	return x
}

// Try tries what becomes of what is synced beside the data of what runs there. The
// volume is known also where the trial failed.
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
