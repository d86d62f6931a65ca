package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// createLog creates what a load says as a file, or empties it; it follows no link.
func createLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
}

// runSelf runs this binary with the task's arguments on the host, to its end.
// It dies with tare. What it starts in its turn is where enter has put it.
func runSelf(ctx context.Context, t workload.Task, log string, enter func(pid int) error) error {
	f, err := createLog(log)
	if err != nil {
		return err
	}
	defer f.Close()
	runtime.LockOSThread() // Pdeathsig is bound to the thread that forks
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", t.Args...)
	cmd.Stdout, cmd.Stderr = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	err = cmd.Start()
	if err == nil {
		if err = enter(cmd.Process.Pid); errors.Is(err, unix.ESRCH) {
			err = nil // it has ended, and says why
		}
		if err != nil {
			_ = cmd.Process.Kill()
		}
		err = errors.Join(err, cmd.Wait())
	}
	if err != nil {
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		err = fmt.Errorf("%s: %w", taskName(t), err)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == hidden.ShortCode {
			err = fmt.Errorf("%w: %w", reserve.ErrShort, err)
		}
		return err
	}
	return nil
}
