package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/tarelab/tare/internal/workload"
)

// runSelf runs this binary with the task's arguments on the host, to its end.
// It dies with tare.
func runSelf(ctx context.Context, t workload.Task, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	runtime.LockOSThread() // Pdeathsig is bound to the thread that forks
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", t.Args...)
	cmd.Stdout, cmd.Stderr = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		return fmt.Errorf("%s: %w", taskName(t), err)
	}
	return nil
}
