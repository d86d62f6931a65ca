package session

import (
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// ErrNoNeighbour means that a window is to have a neighbour and none runs.
var ErrNoNeighbour = errors.New("it is not running")

// Neighbour is what runs beside an arm in some of its windows.
type Neighbour struct {
	Memory *counter.Memory
	Group  cgroup.Group // its zero value where tare is not
	Probes *probe.Set   // of what it does
	// Pause stops it. Remote controls it where tare is not; nil: it is here, and frozen
	// with the arm.
	Pause  wire.Freezer
	Remote wire.Remote
	// Ended says how it ended; nil while it runs.
	Ended func() error

	ops, opsShut  uint64
	before, after []float64
	kills         uint64 // in its group when the window opened
}

func (n *Neighbour) open() {
	n.ops = n.Memory.Ops()
	n.before = n.Probes.Read(n.before[:0])
	n.kills, _ = n.Group.OOMKills()
}

func (n *Neighbour) shut() {
	n.after = n.Probes.Read(n.after[:0])
	n.opsShut = n.Memory.Ops()
}

// sample is what it did between open and shut.
func (n *Neighbour) sample() *wire.NeighbourSample {
	return &wire.NeighbourSample{Ops: n.opsShut - n.ops, Probes: n.Probes.Values(n.before, n.after)}
}

// Kills is how many of its processes the out-of-memory killer has ended since the last
// window opened; 0 where that is not known.
func (n *Neighbour) Kills() uint64 {
	now, err := n.Group.OOMKills()
	if err != nil || now < n.kills {
		return 0
	}
	return now - n.kills
}

// Start opens the gate of one that is elsewhere.
func (n *Neighbour) Start() error {
	if n.Remote == nil {
		return nil
	}
	return n.Remote.Gate(false)
}

// Stop stops one that is elsewhere. One that is held back by others may take long to
// stop, and disturbs whoever comes next as long as it has not.
func (n *Neighbour) Stop() error {
	if n.Remote == nil {
		return nil
	}
	err := Patiently(func() error { return n.Pause.Freeze(FreezeTimeout) })
	if err != nil && n.Ended() == nil {
		return fmt.Errorf("stop the neighbour: %w", err)
	}
	return nil
}
