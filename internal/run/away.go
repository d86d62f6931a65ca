package run

import (
	"context"
	"errors"
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
	if a.Neighbour == "" {
		a.visited, err = a.place.Away.Visit(ctx, v)
	} else {
		a.visited, err = a.visitBeside(ctx, v)
	}
	a.freezing = a.visited.Pausing
	a.thawed = max(0, time.Duration(a.memory.Now()-began)-a.visited.Ran-a.visited.Pausing) // on the way
	return err
}

// visitBeside is a visit with the neighbour, which is let go before it and stopped
// after it. What that does is read in its own pod, in the same window but for the
// difference of the two ways there.
func (a *arm) visitBeside(ctx context.Context, v environment.Visit) (environment.Visited, error) {
	n := a.neighbour
	if n == nil {
		return environment.Visited{}, errNoNeighbour
	}
	n.beside = environment.Visited{}
	if err := n.pause.Thaw(); err != nil {
		return environment.Visited{}, fmt.Errorf("let neighbour %s go: %w", n.Name, err)
	}
	watched := make(chan error, 1)
	if v.Asked || v.Tick > 0 {
		watched <- nil
	} else {
		go func() {
			var err error
			n.beside, err = n.away.Watch(ctx, v)
			watched <- err
		}()
	}
	seen, err := a.place.Away.Visit(ctx, v)
	if werr := <-watched; err == nil && n.died() == nil {
		err = werr
	}
	return seen, errors.Join(err, n.stop())
}

// stop stops a neighbour that is elsewhere. One that is held back by others may take
// long to stop, and disturbs whoever comes next as long as it has not.
func (n *neighbour) stop() error {
	err := patiently(func() error { return n.pause.Freeze(freezeTimeout) })
	if err != nil && n.died() == nil {
		return fmt.Errorf("stop neighbour %s: %w", n.Name, err)
	}
	return nil
}
