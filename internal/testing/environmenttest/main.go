package environmenttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/environment"
)

// isolatedEnv says that this process is the one that Main started.
const isolatedEnv = "TARETEST_ISOLATED"

// onHost is its value where that stays in the host's own namespaces.
const onHost = "not, but as if"

func isolated() bool { return os.Getenv(isolatedEnv) != "" }

// Main lets a test binary be what the suite starts. hidden are the commands
// that the environments themselves need, by the first argument; envs are those
// that the suite opens in another process to kill it.
//
// As root the tests run in mount and network namespaces of their own, which
// stand for the host's: what other tests do to the host does not show there,
// and every mount, link and rule that an environment leaves does.
func Main(m *testing.M, hidden map[string]func([]string) int, envs []environment.Environment) int {
	if len(os.Args) > 1 {
		if do, ok := hidden[os.Args[1]]; ok {
			exitNow(do(os.Args[2:]))
		}
		switch os.Args[1] {
		case Command:
			exitNow(Load(os.Args[2:]))
		case holdCommand:
			return fail(hold(envs, os.Args[2:]))
		}
	}
	if os.Geteuid() != 0 {
		return m.Run()
	}
	if !isolated() {
		return isolate()
	}
	if err := loopback(); err != nil {
		return fail(err)
	}
	return m.Run()
}

// MainOnHost is Main for environments that somebody else makes on the host, who
// would not see the tests' own namespaces.
func MainOnHost(m *testing.M, hidden map[string]func([]string) int, envs []environment.Environment) int {
	if err := os.Setenv(isolatedEnv, onHost); err != nil {
		return fail(err)
	}
	return Main(m, hidden, envs)
}

// exitNow ends the process without what a test binary does in the end: with
// the race detector that takes a second.
func exitNow(code int) {
	unix.Exit(code)
}

// isolate runs this test binary again in namespaces of its own.
func isolate() int {
	runtime.LockOSThread() // the child's death signal is bound to this thread
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), isolatedEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET, // os/exec makes the mounts private
		Pdeathsig:    syscall.SIGKILL,
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fail(fmt.Errorf("run the tests in namespaces of their own: %w", err))
	}
	return cmd.ProcessState.ExitCode()
}

func loopback() error {
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	return err
}
