package session

import (
	"errors"
	"fmt"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/internal/wire/counter"
)

// ErrNoNeighbour means that a window needs a neighbour and none runs.
var ErrNoNeighbour = errors.New("it is not running")

// Neighbour is a neighbour of an arm, which runs in some of its windows.
type Neighbour struct {
	Memory *counter.Memory
	Group  cgroup.Group // the zero value on a node where tare is not
	Probes *probe.Set   // of the neighbour
	Pause  wire.Freezer
	// Remote controls a neighbour on a node where tare is not; nil: it is on this host and is
	// frozen with the arm.
	Remote wire.Remote
	// Ended returns how it ended; nil while it runs.
	Ended func() error

	ops, opsShut  uint64    // when the window opened and closed
	before, after []float64 // readings of the probes at the same moments
	kills         uint64    // out-of-memory kills in its group when the window opened
}

// open reads the neighbour when a window opens, shut when it closes.
func (n *Neighbour) open() {
	n.ops = n.Memory.Ops()
	n.before = n.Probes.Read(n.before[:0])
	n.kills, _ = n.Group.OOMKills()
}

func (n *Neighbour) shut() {
	n.after = n.Probes.Read(n.after[:0])
	n.opsShut = n.Memory.Ops()
}

// sample is the difference between open and shut.
func (n *Neighbour) sample() *wire.NeighbourSample {
	return &wire.NeighbourSample{Ops: n.opsShut - n.ops, Probes: n.Probes.Values(n.before, n.after)}
}

// Kills is the number of out-of-memory kills in its group since the last window opened; 0 where it
// is not known.
func (n *Neighbour) Kills() uint64 {
	now, err := n.Group.OOMKills()
	if err != nil || now < n.kills {
		return 0
	}
	return now - n.kills
}

// Start opens the gate of a remote neighbour.
func (n *Neighbour) Start() error {
	if n.Remote == nil {
		return nil
	}
	return n.Remote.Gate(false)
}

// Stop stops a remote neighbour. It waits until the neighbour has stopped, which may take long
// beside a busy load: otherwise it would disturb the next arm.
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
