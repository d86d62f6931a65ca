package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Runtime is an OCI runtime and the container that it makes. The child that gets it looks after
// the container: it mounts the root file system in its own mount namespace, lets the runtime
// create and start the container, waits for it and reports how it ended. When tare is gone the
// child ends the container.
type Runtime struct {
	Path   string // of runc or crun
	Root   string // state directory of the runtime
	Bundle string // directory of config.json
	ID     string
	Log    string // where the runtime writes errors
	// Hide are mount points that the child unmounts in its namespace before it calls the runtime.
	Hide []string
	// Thaw are files freezer.state of version 1, in which a frozen process does not end before
	// THAWED is written.
	Thaw []string
}

// Command is a call of the runtime. The process ends with the thread that starts it.
func (r Runtime) Command(args ...string) *exec.Cmd {
	log := r.Log
	if filepath.Base(r.Path) == "crun" {
		log = "file:" + log // crun takes the part before a colon as the log driver
	}
	cmd := exec.Command(r.Path, append([]string{"--root", r.Root, "--log", log}, args...)...)
	cmd.Dir = filepath.Dir(r.Log)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Failed is the error of a call of the runtime, with the last line of its log.
func (r Runtime) Failed(what string, err error) error {
	b, _ := os.ReadFile(r.Log)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Errorf("%s %s: %w: %s", r.Path, what, err, last)
	}
	return fmt.Errorf("%s %s: %w", r.Path, what, err)
}

// lookAfter makes the container, waits for it and reports how it ended.
func lookAfter(r Request, l line) error {
	for _, point := range r.Runtime.Hide {
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("hide %s from the runtime: %w", point, err)
		}
	}
	// Orphans of the runtime become children of this process: the container is one.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the subreaper of the container: %w", err)
	}
	pid, err := create(r)
	if err != nil {
		return err
	}
	process := &containerProcess{pid: pid, thaw: r.Runtime.Thaw}
	if err := l.out.Encode(message{Created: pid}); err != nil {
		process.end()
		return err
	}
	if m, err := l.receive(); err != nil || !m.Start {
		process.end()
		return errors.Join(errors.New("the parent is gone"), err)
	}
	if err := r.Runtime.Command("start", r.Runtime.ID).Run(); err != nil {
		process.end()
		return r.Runtime.Failed("start", err)
	}
	if err := l.out.Encode(message{Started: true}); err != nil {
		process.end()
		return err
	}
	go func() { // tare sends nothing more; receive returns when tare is gone
		_, _ = l.receive()
		process.kill()
	}()
	ended, err := process.wait()
	if err != nil {
		return err
	}
	status := int(ended)
	return l.out.Encode(message{Exit: &status})
}

// create makes the container. Its first process inherits the descriptors of this process and
// waits to be started.
func create(r Request) (pid int, err error) {
	pidFile := r.Runtime.Log + ".pid"
	cmd := r.Runtime.Command("create", "--bundle", r.Runtime.Bundle, "--pid-file", pidFile,
		"--preserve-fds", strconv.Itoa(r.Files), r.Runtime.ID)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	for i := range r.Files {
		f := os.NewFile(uintptr(FirstFile+i), "inherited")
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	if err := cmd.Run(); err != nil {
		return 0, r.Runtime.Failed("create", err)
	}
	b, err := os.ReadFile(pidFile)
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	if err != nil {
		return 0, r.Runtime.Failed("create", fmt.Errorf("read the container's process id: %w", err))
	}
	return pid, nil
}

// containerProcess waits for the container's first process and ends it. It never signals a pid
// that was waited for: another process may have it.
type containerProcess struct {
	pid  int
	thaw []string

	mu     sync.Mutex
	reaped bool
}

// end kills the process and waits until it is gone. Its control group can be used again then.
func (p *containerProcess) end() {
	p.kill()
	_, _ = p.wait() // the caller has an error already
}

func (p *containerProcess) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	_ = unix.Kill(p.pid, unix.SIGKILL)
	for _, file := range p.thaw {
		_ = os.WriteFile(file, []byte("THAWED"), 0)
	}
}

// errNotChild means that the container is no child of this process, so that its exit status is unknown.
var errNotChild = errors.New("the runtime did not make this process the parent of the container: its exit status is unknown")

// wait waits for the process, and reaps orphans meanwhile.
func (p *containerProcess) wait() (unix.WaitStatus, error) {
	for {
		// WNOWAIT: reap waits for the process under the lock.
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOWAIT, nil); err == unix.EINTR {
			continue
		}
		if status, done, err := p.reap(); done || err != nil {
			return status, err
		}
	}
}

func (p *containerProcess) reap() (status unix.WaitStatus, done bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
		case pid == p.pid:
			p.reaped = true
			return status, true, nil
		case err != nil: // no children
			p.reaped = true
			return 0, false, fmt.Errorf("%w: %w", errNotChild, err)
		case pid == 0:
			return 0, false, nil
		}
	}
}
