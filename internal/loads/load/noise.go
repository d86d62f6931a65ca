package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/wire/counter"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// The kinds of neighbours; Program and Executions are measured from outside, by their control group.
const (
	KindStream  = "stream"  // parameters: Stream
	KindProgram = "program" // parameters: Program
	KindRepeat  = "repeat"  // parameters: Executions
)

// Program is a program that runs until it is killed.
type Program struct {
	// Args are the program, looked up in PATH, and its arguments.
	Args []string `json:"args"`
}

// runProgram executes the program in this process, so that signals reach it. The load counts as
// ready at once: the program cannot say when it is.
func runProgram(_ context.Context, m *counter.Memory, params []byte) error {
	var p Program
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	if len(p.Args) == 0 {
		return errors.New("no program")
	}
	path, err := exec.LookPath(p.Args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(countersFd)
	unix.CloseOnExec(FactsFd)
	m.SetReady()
	return fmt.Errorf("execute %s: %w", path, syscall.Exec(path, p.Args, os.Environ()))
}

// runRepeat executes a command over and over, also outside of windows. One execution is one
// operation.
func runRepeat(ctx context.Context, m *counter.Memory, params []byte) error {
	var p Executions
	if err := hidden.Decode(params, &p); err != nil {
		return err
	}
	c, err := newCommander(ctx, m, p)
	if err != nil {
		return err
	}
	defer c.close()
	m.SetReady()
	return Each(ctx, m, func(i int) error {
		runtime.LockOSThread() // Pdeathsig kills the child when the thread that forked it ends
		w := c.workers[i]
		for !m.Stopped() {
			start := m.Begin(w.slot)
			took, err := w.execute()
			if m.Stopped() {
				w.slot.Idle()
				return nil
			}
			m.End(w.slot, start, err)
			if took == 0 { // the command cannot be started
				return err
			}
		}
		return nil
	})
}
