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

// A container that a daemon starts inherits no descriptors of tare's. Its first
// process is this binary, which asks at a socket what to do, is handed the
// descriptors there and executes the load: the load is then what the engine
// started, to the process, with its filter, capabilities and groups.

const (
	// attendWord makes Main reserve descriptors, attendedWord ask at the socket
	// that is the next argument.
	attendWord   = "attend"
	attendedWord = "attended"
	// mostFiles are the descriptors that can be handed over.
	mostFiles = 16
	// mostWords is the size of a request.
	mostWords = 1 << 20
)

// AttendArgs are the arguments of this binary in a container, with the socket as
// the container sees it.
func AttendArgs(socket string) []string { return []string{InitCommand, attendWord, socket} }

// reserve takes the descriptors that are going to be handed over before the Go
// runtime of the next program can, and executes that.
func reserve(socket string) error {
	null, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for fd := FirstFile; fd < FirstFile+mostFiles; fd++ {
		if fd == null {
			continue
		}
		if held, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && strings.HasPrefix(held, "anon_inode:") {
			return fmt.Errorf("descriptor %d is the Go runtime's %s", fd, held)
		}
		if err := unix.Dup3(null, fd, 0); err != nil {
			return fmt.Errorf("reserve descriptor %d: %w", fd, err)
		}
	}
	return syscall.Exec(selfPath, []string{"tare", InitCommand, attendedWord, socket}, os.Environ())
}

// attend asks what to do and does it. It returns only on an error.
func attend(path string) error {
	runtime.LockOSThread()
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a socket: %w", err)
	}
	if err := unix.Connect(socket, &unix.SockaddrUnix{Name: path}); err != nil {
		return fmt.Errorf("ask tare at %s: %w", path, err)
	}
	err = obey(socket)
	text, _ := json.Marshal(message{Failure: agent.FailureOf(err)})
	_, _ = unix.Write(socket, append(text, '\n'))
	return err
}

// obey receives the request and executes the load.
func obey(socket int) error {
	r, files, err := receive(socket)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		ordinaryTurn,
		func() error { return settle(r) },
		func() error { return arrange(files) },
		func() error { return keepOnly(FirstFile + len(files) - 2) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return execute(r)
}

// arrange puts descriptors where the load expects them: standard output and
// error, then those from 3 on.
func arrange(files []int) error {
	for i, fd := range files {
		if err := unix.Dup3(fd, i+1, 0); err != nil {
			return fmt.Errorf("take descriptor %d: %w", i+1, err)
		}
	}
	return nil
}

// receive reads a request, which ends with a newline, and the descriptors that
// came with its beginning.
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
		if len(text) > mostWords {
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
