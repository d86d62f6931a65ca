package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/namespace"
)

// runAsWord makes Main become another program in a group, as another user.
const runAsWord = "runas"

// RunAs is who a program is to be run as, and where. Its zero value changes nothing.
type RunAs struct {
	// UID, GID and Groups are the user's; 0 stays whoever tare is.
	UID, GID int
	Groups   []int
	// Dir is a directory that the program has at Here too, in a mount namespace of its
	// own: the user may not reach it otherwise, and its path may be too long for a
	// socket. Empty: none.
	Dir string
	// Tasks and Processes are files of control groups, of version 1 and 2.
	Tasks, Processes []string
}

// Here is where a program that is run as somebody has its directory.
const Here = "/tmp"

// In is the same in a group.
func (a RunAs) In(g cgroup.Group) RunAs {
	tasks, rest := split(g)
	a.Tasks = tasks
	a.Processes = nil
	for _, dir := range rest.Dirs {
		a.Processes = append(a.Processes, dir+"/cgroup.procs")
	}
	return a
}

// Command makes a command one that this binary becomes first.
func (a RunAs) Command(cmd *exec.Cmd) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	cmd.Args = append([]string{"tare", InitCommand, runAsWord, string(text), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = selfPath
	return nil
}

// runAs is the child's side. It returns only on an error.
func runAs(text, path string, args []string) error {
	runtime.LockOSThread()
	var a RunAs
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return fmt.Errorf("read whom to be: %w", err)
	}
	if err := ordinaryTurn(); err != nil {
		return err
	}
	for _, file := range append(a.Tasks, a.Processes...) {
		if err := os.WriteFile(file, []byte("0"), 0); err != nil {
			return fmt.Errorf("join the control group: %w", err)
		}
	}
	if a.Dir != "" {
		for _, step := range []func() error{
			func() error { return unix.Unshare(unix.CLONE_NEWNS) },
			namespace.Private,
			func() error { return unix.Mount(a.Dir, Here, "", unix.MS_BIND|unix.MS_REC, "") },
		} {
			if err := step(); err != nil {
				return fmt.Errorf("bind %s to %s: %w", a.Dir, Here, err)
			}
		}
	}
	if a.UID != 0 {
		for _, step := range []func() error{
			func() error { return syscall.Setgroups(a.Groups) },
			func() error { return syscall.Setresgid(a.GID, a.GID, a.GID) },
			func() error { return syscall.Setresuid(a.UID, a.UID, a.UID) },
		} {
			if err := step(); err != nil {
				return fmt.Errorf("become user %d: %w", a.UID, err)
			}
		}
		// The change took it away, and the user's own programs look at themselves.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("become user %d: %w", a.UID, err)
		}
	}
	return &os.PathError{Op: "execute", Path: path, Err: syscall.Exec(path, append([]string{path}, args...), os.Environ())}
}
