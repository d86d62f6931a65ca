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
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// isolatedEnv is set in the process that Main started in its own namespaces.
const isolatedEnv = "TARETEST_ISOLATED"

// onHost is its value for tests that stay in the host's namespaces.
const onHost = "not, but as if"

func isolated() bool { return os.Getenv(isolatedEnv) != "" }

// Main is the TestMain of a package that runs the suite. The test binary plays the roles
// that the environments start, and Load of the suite; envs are the environments that the
// suite opens in another process to kill that.
//
// As root the tests run in mount and network namespaces of their own, which stand for the
// host's: changes that other tests make to the host do not show there, and every mount, link
// and rule that an environment leaves does.
func Main(m *testing.M, roles []hidden.Role, envs []environment.Environment) int {
	if code, ok := hidden.Run(roles, os.Args[1:]); ok {
		exitNow(code)
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.GuardCommand:
			exitNow(launch.GuardMain(steps.Kinds()))
		case Command:
			exitNow(load(os.Args[2:]))
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

// MainOnHost is Main for environments that a daemon makes on the host: it would not see the
// tests' own namespaces.
func MainOnHost(m *testing.M, roles []hidden.Role, envs []environment.Environment) int {
	if err := os.Setenv(isolatedEnv, onHost); err != nil {
		return fail(err)
	}
	return Main(m, roles, envs)
}

// exitNow skips the end of a test binary, which takes a second with the race detector.
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
