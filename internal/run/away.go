package run

import (
	"context"
	"fmt"
	"time"

	"github.com/tarelab/tare/internal/environment"
)

// Loads that count where tare is not: the window is cut there, and what is here of
// the counters is no more than the state of the load.

// gate closes or opens the gate of the load, wherever that is.
func (a *site) gate(closed bool) error {
	if a.place.Away != nil {
		return a.place.Away.Gate(closed)
	}
	a.memory.SetGate(closed)
	return nil
}

// pauseAway closes the gate of a load that is elsewhere.
func (a *site) pauseAway() error {
	began := a.memory.Now()
	err := a.place.Away.Pause()
	a.freezing = time.Duration(a.memory.Now() - began)
	a.paused = err == nil
	return err
}

// visitAway lets the load run there. Between visits it is paused.
func (a *arm) visitAway(ctx context.Context, v environment.Visit) (err error) {
	a.visited, a.thawed, a.freezing = environment.Visited{}, 0, 0
	if err := a.hold(); err != nil {
		return fmt.Errorf("%w: %w", errIsolation, err)
	}
	began := a.memory.Now()
	a.visited, err = a.place.Away.Visit(ctx, v)
	a.freezing = a.visited.Pausing
	a.thawed = max(0, time.Duration(a.memory.Now()-began)-a.visited.Ran-a.visited.Pausing) // on the way
	return err
}
