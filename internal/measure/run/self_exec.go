package run

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// endSelf is how long a task may take to end after SIGTERM.
const endSelf = 20 * time.Second

// runSelf runs a task, which is this binary with other arguments, on the host and waits for its end.
// The process dies with tare. enter puts it into a control group before it starts processes of its
// own.
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
	// It ends a server with its children, and removes what it has begun.
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(unix.SIGTERM) }, endSelf
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	err = cmd.Start()
	if err == nil {
		if err = enter(cmd.Process.Pid); errors.Is(err, unix.ESRCH) {
			err = nil // it has ended; Wait says why
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

// taskName is the name of a task for people.
func taskName(t workload.Task) string {
	var words []string
	for _, a := range t.Args {
		if !strings.HasPrefix(a, "{") { // its parameters
			words = append(words, strings.TrimPrefix(a, "__"))
		}
	}
	return strings.Join(words, " ")
}
