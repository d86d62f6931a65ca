package launch

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/linux/oom"
)

// failed is the exit code of a child that could not become what it was to be.
const failed = 125

// selfPath leads to the binary that a process executes, wherever it is.
const selfPath = "/proc/self/exe"

// Main is the child's side: args are those behind InitCommand. It returns an
// exit code when something failed, which the parent was told, and when a
// container that it looked after has ended.
func Main(args []string) int {
	if len(args) == 3 && args[0] == copyWord {
		return copyTree(args[1], args[2])
	}
	if len(args) == 2 {
		switch args[0] {
		case attendWord:
			return said(InitCommand, reserve(args[1]))
		case attendedWord:
			return said(InitCommand, attend(args[1]))
		}
	}
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "tare %s is started by tare itself\n", InitCommand)
		return failed
	}
	// Credentials, namespaces and filters are properties of a thread; the exec
	// of a thread ends all others and makes it the process.
	runtime.LockOSThread()
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < FirstFile {
		fmt.Fprintf(os.Stderr, "tare %s: %q is no descriptor\n", InitCommand, args[0])
		return failed
	}
	unix.CloseOnExec(fd)
	socket := os.NewFile(uintptr(fd), "socket")
	l := newLine(socket)
	var r Request
	// Nothing to read means that the parent is gone.
	if err := l.in.Decode(&r); err != nil {
		return failed
	}
	err = nil
	if r.Runtime != nil {
		err = contain(r, l)
	} else {
		err = become(r, socket)
	}
	if err != nil {
		_ = l.out.Encode(message{Failure: agent.FailureOf(err)})
		return failed
	}
	return 0
}

// said is the exit code of what returns only on an error, which nobody else may
// have heard of.
func said(command string, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "tare %s: %v\n", command, err)
	return failed
}

// become does what the request says and executes the load. It returns only on
// an error.
func become(r Request, socket *os.File) error {
	for _, step := range []func() error{
		ordinaryTurn,
		goFirst,
		func() error { return join(r, int(socket.Fd())) },
		func() error { return mounts(r) },
		func() error { return settle(r) },
		func() error { return giveUp(r.Security) },
		func() error { return nobody(r.Nobody) },
		func() error { return keepOnly(FirstFile + r.Files) },
		func() error { return dieWithParent(socket) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return execute(r)
}

// goFirst offers whatever runs in the arm to the out-of-memory killer, also a runtime's
// processes outside of the container or sandbox in which a load offers itself.
func goFirst() error {
	_ = oom.Offer(oom.Load) // where /proc is read-only the process is one among others
	return nil
}

// execute makes this process the load.
func execute(r Request) error {
	path := selfPath // the same binary below any root
	if r.Exe != "" {
		path = r.Exe
	}
	return fmt.Errorf("execute this binary: %w", syscall.Exec(path, append([]string{"tare"}, r.Args...), r.Env))
}

// contain mounts the root file system where only this process and what it
// starts see it, and looks after the container.
func contain(r Request, l line) error {
	for _, step := range []func() error{
		ordinaryTurn,
		func() error { return mounts(r) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return lookAfter(r, l)
}

// ordinaryTurn takes the child off a real-time policy that it may have from
// the thread that started it.
func ordinaryTurn() error {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return fmt.Errorf("read the scheduling policy: %w", err)
	}
	if attr.Policy == unix.SCHED_NORMAL {
		return nil
	}
	attr = &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	if err := unix.SchedSetAttr(0, attr, 0); err != nil {
		return fmt.Errorf("set the ordinary scheduling policy: %w", err)
	}
	return nil
}

// keepOnly closes descriptors from first on when the load is executed.
func keepOnly(first int) error {
	err := unix.CloseRange(uint(first), ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// Before Linux 5.11.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list the open descriptors: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// dieWithParent makes the kernel end this process when the thread that started
// it ends. The setting belongs to a thread and does not survive a change of
// credentials, so it comes last.
func dieWithParent(socket *os.File) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask to end with the parent: %w", err)
	}
	// The parent may have ended before. Its end of the socket tells; the pid
	// does not, being 0 in a pid namespace.
	p := []unix.PollFd{{Fd: int32(socket.Fd())}}
	if _, err := unix.Poll(p, 0); err == nil && p[0].Revents&unix.POLLHUP != 0 {
		return errors.New("the parent is gone")
	}
	return nil
}
