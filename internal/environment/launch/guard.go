package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// guardWord makes Main end a process when tare has ended. An engine's container
// is no child of tare's, and the kernel does not end it with tare.
const guardWord = "guard"

// The descriptors of a guard: a pipe that ends with tare, and the process.
const (
	guardPipe = firstFile + iota
	guardPidfd
)

// guard waits for the end of the pipe. It thaws the freezers of version 1, which
// are joined by newlines, for a frozen process to die.
func guard(freezers string) error {
	_, _ = io.Copy(io.Discard, os.NewFile(guardPipe, "pipe"))
	err := unix.PidfdSendSignal(guardPidfd, unix.SIGKILL, nil, 0)
	if err == unix.ESRCH {
		return nil
	}
	for _, file := range strings.Fields(freezers) {
		_ = os.WriteFile(file, []byte("THAWED"), 0)
	}
	return err
}

// Guard ends a process with tare, however tare ends.
type Guard struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// NewGuard starts a guard of the process behind a descriptor, which is in a
// group. The caller closes it when the process has ended.
func NewGuard(pidfd int, g cgroup.Group) (*Guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	var freezers []string
	for _, dir := range g.Dirs {
		if file := filepath.Join(dir, "freezer.state"); exists(file) {
			freezers = append(freezers, file)
		}
	}
	// A copy, for the file closes it.
	fd, err := unix.FcntlInt(uintptr(pidfd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("hold the process: %w", err)
	}
	process := os.NewFile(uintptr(fd), "process")
	defer process.Close()
	cmd := exec.Command(selfPath, InitCommand, guardWord, strings.Join(freezers, "\n"))
	cmd.Args[0] = "tare"
	cmd.ExtraFiles = []*os.File{r, process}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for tare alone
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start this binary: %w", err)
	}
	return &Guard{w, cmd}, nil
}

// Close ends the guard, and the process if it has not ended.
func (g *Guard) Close() error {
	g.pipe.Close()
	return g.cmd.Wait()
}
