package enter

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// Command is the hidden command as which tare executes itself on the host of its container.
const Command = "__entered"

// roleTare is the role of Command that is the ordinary command line; the other one has a descriptor in its place.
const roleTare = "tare"

// NotHost says why this process cannot measure the host, with the remedy; nothing: it is on a host.
func NotHost(f proc.FS) (why, remedy record.Said) {
	switch where(f) {
	case enclosed:
		return record.Say("in_container"), record.Say("install_on_host", "options", `--privileged --pid=host -v "$PWD:$PWD" -w "$PWD"`)
	case seesHost:
		return record.Say("in_closed_container"), record.Say("start_privileged")
	}
	return record.Said{}, record.Said{}
}

// aboutHost are the commands that run on the host of a container. Others read files and stay where they are: a
// systemd service with RootDirectory= or RootImage= is such a container, too.
var aboutHost = []string{"run", "plan", "advise", "doctor", "cleanup", "calibrate", "cache", "image"}

// isAboutHost says whether a command line is of one of these commands. Before the command there may be flags.
func isAboutHost(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return slices.Contains(aboutHost, args[i])
		case args[i] == "--color", args[i] == "--lang":
			i++ // its value
		}
	}
	return false
}

// Run runs a command line about the host on the host of the container that this process is in. ok is false if it is
// in none, may not enter the host, or the command needs no host: the command line then runs where it is.
func Run(args []string) (code int, ok bool) {
	if !isAboutHost(args) || where("/") != seesHost || !mayEnter("/") {
		return 0, false
	}
	door, err := Find(kindsOfContainer())
	if err != nil {
		return 0, false
	}
	err = through(door, args) // returns only on errors
	fmt.Fprintln(os.Stderr, notEntered, err)
	return 1, true
}

// hostUsers is the user namespace of a machine: PROC_USER_INIT_INO of the kernel.
const hostUsers = "user:[4026531837]"

// mayEnter says whether this process has the capabilities that entering needs, not only in a user namespace of the
// container.
func mayEnter(f proc.FS) bool {
	if ns, err := os.Readlink(f.Path("proc/self/ns/user")); err != nil || ns != hostUsers {
		return false
	}
	b, err := f.Text("proc/self/status")
	if err != nil {
		return false
	}
	effective, err := strconv.ParseUint(proc.ParseStatus(b)["CapEff"], 16, 64)
	const needed = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_SYS_CHROOT
	return err == nil && effective&needed == needed
}

func through(door Namespaces, args []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := door.Go(); err != nil {
		return err
	}
	return Execute([]*os.File{self}, []string{"tare", Command}, append([]string{dir}, args...), environment(os.Environ()))
}

// kept are the variables of the container that mean the same on the host.
var kept = []string{"TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "LC_MESSAGES", "COLUMNS", "LINES", "DOCKER_HOST", "KUBECONFIG",
	"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}

// environment is the environment of tare on the host, from that in the container.
func environment(all []string) []string {
	env := []string{Path, "HOME=/root"}
	for _, variable := range all {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(kept, name) || strings.HasPrefix(name, "TARE_") {
			env = append(env, variable)
		}
	}
	return env
}

// Main is the hidden command Command. Its arguments are the descriptor of this binary, the directory in which
// the container started tare, and tare's arguments; or roleTare and these. tare is the ordinary command line.
func Main(args []string, tare func(args []string) int) int {
	if len(args) > 0 && args[0] == roleTare {
		return tare(args[1:])
	}
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, onlyTare)
		return 2
	}
	code, err := onHost(args[0], args[1], args[2:])
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, "tare:", err)
	if remedy := hint.Of(err); remedy != "" {
		fmt.Fprintln(os.Stderr, "hint:", remedy)
	}
	return max(code, 1)
}

// onHost runs a copy of this binary on the host, outside of the container's control groups, and removes what it
// made. tare cleanup does that if this process is killed.
func onHost(descriptor, dir string, args []string) (code int, err error) {
	fd, err := strconv.Atoi(descriptor)
	if err != nil {
		return 1, err
	}
	unix.CloseOnExec(fd)
	if err := os.Chdir(dir); err != nil {
		return 1, hint.New(fmt.Errorf(noDirectory, dir), directoryThere)
	}
	j, err := journal.Open(journal.StateDir(), strings.ToLower(rand.Text()[:8]))
	if err != nil {
		return 1, err
	}
	var undo journal.UndoStack
	code, err = settle(j, &undo, os.NewFile(uintptr(fd), "tare"), args)
	if undoErr := undo.Undo(); undoErr != nil {
		err = errors.Join(err, hint.New(fmt.Errorf("restore the host: %w", undoErr), "tare cleanup"))
	}
	return code, errors.Join(err, j.Close())
}

// settle makes the directory with the copy and a group of its own, and runs tare there.
func settle(j *journal.Journal, undo *journal.UndoStack, self *os.File, args []string) (int, error) {
	dir := filepath.Join(journal.StateDir(), journal.Prefix+j.Run())
	if err := undo.Record(j, steps.Directory{Path: dir}, func() error { return steps.RemoveDirectory(dir) }); err != nil {
		return 1, err
	}
	path := filepath.Join(dir, "tare")
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		err = CopySelf(self, path)
	}
	if err != nil {
		return 1, fmt.Errorf("copy this binary to the host: %w", err)
	}
	tree, _, err := LeaveGroups(j, undo)
	if err != nil {
		return 1, errors.Join(fmt.Errorf("leave the control groups of the container: %w", err), leaveOwn(tree))
	}
	code, err := startTare(path, args, tree)
	return code, errors.Join(err, leaveOwn(tree))
}

// leaveOwn moves this process out of its own group, so that it can be removed.
func leaveOwn(tree *cgroup.Tree) error {
	if tree == nil {
		return nil
	}
	return tree.Leave(os.Getpid())
}

// startTare runs tare, passes signals on to it, and returns its exit code. On a terminal it has the foreground, so
// that Ctrl-C reaches it once.
func startTare(path string, args []string, tree *cgroup.Tree) (int, error) {
	runtime.LockOSThread() // Pdeathsig fires when the thread ends that forked
	cmd := exec.Command(path, append([]string{Command, roleTare}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGTERM, Setpgid: true}
	if group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
		cmd.SysProcAttr.Foreground = true
	}
	signal.Ignore(unix.SIGTSTP, unix.SIGTTOU) // nobody could let a stopped command go on
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, append(child.Ending(), unix.SIGQUIT)...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start tare on the host: %w", err)
	}
	// At the end tare kills all processes in its control group; this process must not be among them.
	left := tree.Leave(os.Getpid())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
		case <-ended:
			if code := cmd.ProcessState.ExitCode(); code >= 0 {
				return code, left
			}
			return 1, errors.Join(fmt.Errorf("tare on the host: %s", cmd.ProcessState), left)
		}
	}
}
