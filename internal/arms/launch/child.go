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
	"github.com/tarelab/tare/internal/wire/hidden"
)

// failed is the exit code of a child that could not become the load.
const failed = 125

// selfPath is the binary that the current process executes.
const selfPath = "/proc/self/exe"

// The hidden commands of this package, but for GuardCommand.
const (
	InitCommand     = "__init"
	attendCommand   = "__attend"
	attendedCommand = "__attended"
)

// Roles are the hidden commands of this package without the guard, which needs the kinds of
// steps (GuardMain).
func Roles() []hidden.Role {
	return []hidden.Role{
		{
			Name: InitCommand, Args: "DESCRIPTOR", Run: initMain,
			Purpose: "the first process of an arm: reads a Request from the socket and becomes the load, looks after a container, or copies a data set",
		},
		{
			Name: attendCommand, Args: "SOCKET", Run: func(args []string) int { return exitCode(attendCommand, reserve(args[0])) },
			Purpose: "the first process of an engine's container: reserves descriptors and executes " + attendedCommand,
		},
		{
			Name: attendedCommand, Args: "SOCKET", Run: func(args []string) int { return exitCode(attendedCommand, attend(args[0])) },
			Purpose: "the same process: asks tare at the socket, takes over descriptors and becomes the load",
		},
	}
}

// Before main: InitCommand runs as soon as the packages that this one imports are initialised. Those of
// which the first process of an arm needs nothing (SQLite, Kubernetes' client, the command line) take a
// third of its CPU time, and a launch starts up to two such processes for each arm.
var _ = runInit()

func runInit() bool {
	if len(os.Args) == 3 && os.Args[1] == InitCommand {
		os.Exit(initMain(os.Args[2:]))
	}
	return false
}

// initMain is a child of tare: args has the number of the socket's descriptor. It returns an
// exit code when a step failed, which the parent was told, and when the container that the
// child looked after has ended.
func initMain(args []string) int {
	// Credentials, namespaces and filters belong to a thread; an exec ends all other threads.
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
	// The end of the stream means that the parent is gone.
	if err := l.in.Decode(&r); err != nil {
		return failed
	}
	if r.Runtime != nil {
		err = makeContainer(r, l)
	} else {
		err = become(r, socket)
	}
	if err != nil {
		_ = l.out.Encode(message{Failure: agent.FailureOf(err)})
		return failed
	}
	return 0
}

// exitCode prints the error of a hidden command and returns its exit code.
func exitCode(command string, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "tare %s: %v\n", command, err)
	return failed
}

// become executes the request and then the load. It returns only on an error.
func become(r Request, socket *os.File) error {
	for _, step := range []func() error{
		setOrdinaryPolicy,
		offerToOOMKiller,
		func() error { return join(r, int(socket.Fd())) },
		func() error { return copyTree(r.Copy) },
		func() error { return mounts(r) },
		func() error { return setNameAndDir(r) },
		func() error { return dropPrivileges(r.Security) },
		func() error { return nobody(r.Nobody) },
		func() error { return closeOnExecFrom(FirstFile + r.Files) },
		func() error { return dieWithParent(socket) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return execute(r)
}

// offerToOOMKiller makes the arm's processes the first victims of the out-of-memory killer. A load does
// that itself; processes of a runtime outside of the container or sandbox do not.
func offerToOOMKiller() error {
	_ = oom.Offer(oom.Load) // a read-only /proc leaves the process as likely a victim as others
	return nil
}

// execute makes this process the load.
func execute(r Request) error {
	path := selfPath // valid in any root file system
	if r.Exe != "" {
		path = r.Exe
	}
	return fmt.Errorf("execute this binary: %w", syscall.Exec(path, append([]string{"tare"}, r.Args...), r.Env))
}

// makeContainer mounts the root file system in this process's mount namespace and looks after the
// container.
func makeContainer(r Request, l line) error {
	for _, step := range []func() error{
		setOrdinaryPolicy,
		func() error { return mounts(r) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return lookAfter(r, l)
}

// setOrdinaryPolicy sets the ordinary scheduling policy. The child may inherit a real-time policy from
// the thread that started it.
func setOrdinaryPolicy() error {
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

// closeOnExecFrom sets close-on-exec for the descriptors from first on.
func closeOnExecFrom(first int) error {
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

// dieWithParent makes the kernel kill this process when the thread that started it ends. A change
// of credentials clears the setting, so this is the last step.
func dieWithParent(socket *os.File) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ask to end with the parent: %w", err)
	}
	// The parent may have ended before. The socket shows it; the parent's pid does not, because
	// it is 0 in a pid namespace.
	p := []unix.PollFd{{Fd: int32(socket.Fd())}}
	if _, err := unix.Poll(p, 0); err == nil && p[0].Revents&unix.POLLHUP != 0 {
		return errors.New("the parent is gone")
	}
	return nil
}
