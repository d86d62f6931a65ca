// Package load is what a load does in an arm, in the re-executed binary: the bodies
// of tare's own loads, and what they share with the drivers of tools. A load counts in the shared memory that it inherits,
// obeys the gate in it and runs until it is told to end or is killed. It knows
// nothing of arms, windows, rotation or statistics, and asks nobody.
package load

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// Command is the hidden command under which the binary is a load: Command,
// kind, parameters in JSON.
const Command = "__load"

// The kinds of loads.
const (
	KindOLTP        = "oltp"         // parameters: OLTP
	KindOLTPPrepare = "oltp-prepare" // parameters: OLTP
	KindCommit      = "commit"       // parameters: Commit
	KindRPC         = "rpc"          // parameters: RPC
	KindRPCServer   = "rpc-server"   // parameters: RPCServer
	KindSpin        = "spin"         // parameters: Spin
)

// countersFd is the descriptor at which a load inherits its counters.
const countersFd = 3

// Grace is how long a load that was told to end waits for its operations in
// flight.
const Grace = 3 * time.Second

// Body is what a load does with its parameters until ctx ends.
type Body func(ctx context.Context, params []byte) error

// Bodies are the loads of tare's own, by kind. Those of tools are in their folders.
func Bodies() map[string]Body {
	return map[string]Body{
		KindOLTP:        Counted(asNobody(runOLTP)),
		KindOLTPPrepare: prepareOLTP,
		KindCommit:      Counted(asNobody(runCommit)),
		KindRPC:         Counted(asNobody(runRPC)),
		KindRPCServer:   serveRPC,
		KindSpin:        Counted(asNobody(runSpin)),

		KindCommand:        Counted(runCommand),
		KindCommandPrepare: copyFiles,

		KindStream:  Counted(runStream),
		KindProgram: Counted(runProgram),
		KindRepeat:  Counted(runRepeat),
	}
}

// Main is the hidden command: args are the kind, one of the bodies, and its
// parameters in JSON. What goes wrong is in the counters too.
func Main(args []string, bodies map[string]Body) int {
	return hidden.Main(Command, args, func(ctx context.Context, kind string, params []byte) error {
		run, ok := bodies[kind]
		if !ok {
			return fmt.Errorf("%w: no load %q", hidden.ErrKind, kind)
		}
		if err := run(ctx, params); err != nil {
			return fmt.Errorf("load %s: %w", kind, err)
		}
		return nil
	})
}

// Counted gives a load its counters and says there why it gave up. The memory
// stays mapped: a thread that did not end in time may still write to it.
func Counted(run func(context.Context, *counter.Memory, []byte) error) Body {
	return func(ctx context.Context, params []byte) error {
		m, err := counter.Open(os.NewFile(countersFd, "counters"))
		if err != nil {
			return fmt.Errorf("no counters at descriptor %d (tare itself starts this): %w", countersFd, err)
		}
		context.AfterFunc(ctx, m.Stop)
		if err := run(ctx, m, params); err != nil {
			m.Fail(err.Error())
			return err
		}
		return nil
	}
}

// Each runs work once for every slot of the counters, at the same time. It
// returns when all have ended, and for a load that was told to end after the
// grace period at the latest. The first error ends them all.
func Each(ctx context.Context, m *counter.Memory, work func(i int) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, m.Threads())
	for i := range m.Threads() {
		wg.Go(func() {
			if err := work(i); err != nil {
				m.Stop()
				failed <- err
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		select {
		case <-ended:
		case <-time.After(Grace):
		}
	}
	return first(failed)
}

// KeepGarbage ends the collection of garbage, of a load whose operations make
// none, while its heap is small: a collection every two minutes would fall into
// some window.
func KeepGarbage() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(128 << 20)
}

func first(errs <-chan error) error {
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}
