package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/linux/unixsock"
)

// A container that a daemon starts inherits no descriptors from tare. Its first process is tare's
// binary: it connects to a socket, receives a Request and descriptors there, and executes the
// load. So the load is the very process that the engine started, with the engine's seccomp
// filter, capabilities and groups.

const (
	mostFiles = 16      // descriptors that can be handed over
	mostBytes = 1 << 20 // of a request
)

// AttendArgs are the arguments of tare's binary in an engine's container. socket is a path in the
// container.
func AttendArgs(socket string) []string { return []string{attendCommand, socket} }

// reserve opens all descriptors that are going to be handed over and executes tare again: the Go
// runtime of that program then takes none of these numbers.
func reserve(socket string) error {
	null, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for fd := FirstFile; fd < FirstFile+mostFiles; fd++ {
		if fd == null {
			continue
		}
		if target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && strings.HasPrefix(target, "anon_inode:") {
			return fmt.Errorf("descriptor %d is the Go runtime's %s", fd, target)
		}
		if err := unix.Dup3(null, fd, 0); err != nil {
			return fmt.Errorf("reserve descriptor %d: %w", fd, err)
		}
	}
	return syscall.Exec(selfPath, []string{"tare", attendedCommand, socket}, os.Environ())
}

// attend connects to tare and becomes the load. It returns only on an error.
func attend(path string) error {
	runtime.LockOSThread()
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a socket: %w", err)
	}
	if err := unix.Connect(socket, &unix.SockaddrUnix{Name: path}); err != nil {
		return fmt.Errorf("ask tare at %s: %w", path, err)
	}
	err = executeRequest(socket)
	text, _ := json.Marshal(message{Failure: agent.FailureOf(err)})
	_, _ = unix.Write(socket, append(text, '\n'))
	return err
}

// executeRequest receives the request and executes the load.
func executeRequest(socket int) error {
	r, files, err := receive(socket)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		setOrdinaryPolicy,
		func() error { return setNameAndDir(r) },
		func() error { return moveDescriptors(files) },
		func() error { return closeOnExecFrom(FirstFile + len(files) - 2) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return execute(r)
}

// moveDescriptors moves descriptors to the numbers that the load expects: standard output, standard
// error, then 3 and up.
func moveDescriptors(files []int) error {
	for i, fd := range files {
		if err := unix.Dup3(fd, i+1, 0); err != nil {
			return fmt.Errorf("take descriptor %d: %w", i+1, err)
		}
	}
	return nil
}

// receive reads a request, which ends with a newline, and the descriptors that come with its
// first bytes.
func receive(socket int) (r Request, files []int, err error) {
	var text []byte
	buf, control := make([]byte, 1<<16), make([]byte, unixsock.ControlSize())
	for {
		n, nc, _, _, err := unix.Recvmsg(socket, buf, control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return r, nil, fmt.Errorf("receive the request: %w", err)
		case n == 0:
			return r, nil, errors.New("the parent is gone")
		}
		text = append(text, buf[:n]...)
		got, err := unixsock.Descriptors(control[:nc])
		if err != nil {
			return r, nil, err
		}
		files = append(files, got...)
		if text[len(text)-1] == '\n' {
			break
		}
		if len(text) > mostBytes {
			return r, nil, errors.New("the request has no end")
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, nil, fmt.Errorf("read the request: %w", err)
	}
	if len(files) != r.Files+2 || r.Files > mostFiles {
		return r, nil, fmt.Errorf("%d descriptors came, want %d and two for the log", len(files), r.Files)
	}
	return r, files, nil
}
