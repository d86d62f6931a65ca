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

// Programs that make noise and are measured from outside.
const (
	KindStream  = "stream"  // parameters: Stream
	KindProgram = "program" // parameters: Program
	KindRepeat  = "repeat"  // parameters: Executions
)

// Program is a program that runs until it is ended.
type Program struct {
	// Args are the program and its arguments; it is looked for in PATH.
	Args []string `json:"args"`
}

// runProgram becomes the program: same process, so that it ends as the load
// would. It is ready as soon as it is started, for nobody can ask it.
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

// runRepeat executes a command over and over, without being asked: an execution
// is an operation.
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
		runtime.LockOSThread() // a child ends with the thread that started it
		w := c.workers[i]
		for !m.Stopped() {
			start := m.Begin(w.slot)
			took, err := w.execute()
			if m.Stopped() {
				w.slot.Idle()
				return nil
			}
			m.End(w.slot, start, err)
			if took == 0 { // it cannot be started at all
				return err
			}
		}
		return nil
	})
}
