// Package load runs tare's own loads inside an arm, as a hidden command of tare's binary, and has
// what the drivers of tools share. A load counts its operations in shared memory that it
// inherits, stops while the gate in that memory is closed, and runs until SIGTERM or SIGKILL. It
// knows nothing of arms, windows, rotation or statistics.
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

// Command is the hidden command that runs a load; its arguments are the kind and the parameters
// in JSON.
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

// countersFd is the inherited descriptor of the counters.
const countersFd = 3

// Grace is how long a load waits for its operations in flight after SIGTERM.
const Grace = 3 * time.Second

// Body runs a load with its parameters, in JSON, until ctx ends.
type Body func(ctx context.Context, params []byte) error

// Bodies are tare's own loads, by kind. Each driver of a tool has its own list.
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

// Main runs the hidden command: args are a kind out of bodies and its parameters in JSON.
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

// Counted opens the inherited counters for a load, and writes the load's error into them. The
// memory stays mapped: a thread that did not end in time may still write to it.
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

// Each calls work once for each slot of the counters, concurrently. It returns when all calls
// have returned, or Grace after ctx ended. The first error stops the load and is returned.
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

// DisableGC switches the garbage collector off until the heap reaches 128 MiB, for loads whose
// operations allocate nothing: Go collects at least every two minutes, which would slow down some
// windows and not others.
func DisableGC() {
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
