// Package stream is the half of an arm whose processes run where tare does not: in a pod on another node, or in a machine
// with a kernel of its own. tare's binary is there, its first process the agent, and everything goes over one stream. What
// carries the stream is a Machine; the package sends the data, connects to the agent, and starts one process at a time.
package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/dirtar"
)

// Machine is where the processes run. tare's binary was brought in.
type Machine interface {
	// Name is what errors call it, such as "pod tare-1/arm".
	Name() string
	// Run runs tare's binary in it until it ends, with what it printed on standard error.
	Run(ctx context.Context, in io.Reader, out io.Writer, args []string) (said string, err error)
	// Send is Run for much input: it gives up when nothing is read for bound.
	Send(ctx context.Context, from io.Reader, bound time.Duration, args []string) (said string, err error)
	// Lost is how the processes ended when the stream broke.
	Lost() environment.Exit
	agent.SilenceListener
}

// Guest is the agent in a Machine, and the process and the data that it has.
type Guest struct {
	Machine
	Socket  string        // of the agent
	Dir     string        // of the data
	Lasting bool          // Dir may outlive the machine: the agent removes it before it ends
	Data    string        // the data set, a directory of this host; empty: none
	Copy    string        // where the machine keeps a copy of the data set for Refill; empty: it is sent again
	Bounds  *agent.Bounds // of its processes; nil: none

	Link   *agent.Link // after Join
	inside launch.Slot
}

// AgentArgs are the arguments of tare's binary as the machine's first process.
func (g *Guest) AgentArgs() []string {
	lasting := ""
	if g.Lasting {
		lasting = g.Dir
	}
	return agent.Args(g.Socket, lasting)
}

// fillBound is how long a machine may accept no byte of a data set: on a network volume, closing a
// large file waits until all of it is written.
const fillBound = 10 * time.Minute

// mostCopied is the size in bytes of the largest data set of which a machine keeps a copy. Larger ones are sent again.
const mostCopied = 1 << 30

// Fill sends the data set.
func (g *Guest) Fill(ctx context.Context) error {
	if g.Copy != "" && g.Data != "" {
		bytes, err := clonetree.Size(g.Data)
		if err != nil {
			return fmt.Errorf("find the size of the data set: %w", err)
		}
		if bytes <= mostCopied {
			if err := g.send(ctx, g.Copy); err != nil {
				return err
			}
			return g.Refill(ctx)
		}
	}
	g.Copy = ""
	return g.send(ctx, g.Dir)
}

// Refill replaces the data by that of a new launch.
func (g *Guest) Refill(ctx context.Context) error {
	if g.Copy == "" {
		return g.send(ctx, g.Dir)
	}
	if said, err := g.Run(ctx, nil, nil, agent.RefillArgs(g.Dir, g.Copy)); err != nil {
		return fmt.Errorf("copy the data set in %s: %w: %s", g.Name(), err, said)
	}
	return nil
}

// send sends the data set into a directory of the machine.
func (g *Guest) send(ctx context.Context, to string) error {
	r, w := io.Pipe()
	go func() {
		data := g.Data
		if data == "" {
			data = filepath.Join(os.DevNull, "none") // makes an empty archive
		}
		w.CloseWithError(dirtar.Write(w, data))
	}()
	said, err := g.Send(ctx, r, fillBound, agent.FillArgs(to))
	r.CloseWithError(err)
	if err != nil {
		return fmt.Errorf("send the data set into %s: %w: %s", g.Name(), err, said)
	}
	return nil
}

// clearBound is how long the agent may take to remove the data.
const clearBound = time.Minute

// Join makes the stream to the agent. undo takes the functions that end it.
func (g *Guest) Join(ctx context.Context, undo func(func() error)) error {
	events, fromMachine := io.Pipe()
	toMachine, requests := io.Pipe()
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	undo(func() error {
		if g.Lasting {
			select {
			case <-over: // the agent has removed the data
			case <-time.After(clearBound):
			}
		}
		cancel()
		<-over
		return nil
	})
	go func() {
		defer close(over)
		said, err := g.Run(lasting, toMachine, fromMachine, agent.JoinArgs(g.Socket))
		if err != nil && said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		fromMachine.CloseWithError(err)
		toMachine.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	var err error
	if g.Link, err = agent.Connect(ctx, events, requests, g.Lost, g); err != nil {
		return err
	}
	undo(g.Link.Close)
	return nil
}

// Start starts a process, one at a time.
func (g *Guest) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	return g.inside.Start(func() (environment.Running, error) {
		running, err := g.Link.Start(ctx, p, g.Dir, g.Bounds)
		if err != nil {
			return nil, err
		}
		return running, nil
	})
}

// endBound is how long a killed process may take to end.
const endBound = 10 * time.Second

// Emptied ends the process. It says whether it has ended, so that the machine can be used again.
func (g *Guest) Emptied() bool {
	running := g.inside.Running()
	if running == nil {
		return true
	}
	if running.Kill() != nil {
		return false
	}
	select {
	case <-running.Done():
		return true
	case <-time.After(endBound):
		return false
	}
}

// Connected says whether the stream exists.
func (g *Guest) Connected() bool {
	select {
	case <-g.Link.Over():
		return false
	default:
		return true
	}
}
