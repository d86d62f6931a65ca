// Package unixsock connects tare's own processes by Unix sockets: it accepts one client,
// identifies the process, and passes descriptors.
package unixsock

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// MostFiles is the most descriptors in one message.
const MostFiles = 20

// AcceptOne listens at a path that only this user can connect to, and returns the first
// connection. It then stops listening. No connection within the bound is an error.
func AcceptOne(path string, bound time.Duration) (*net.UnixConn, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for tare: %w", err)
	}
	defer l.Close()
	if err := errors.Join(os.Chmod(path, 0o600), l.SetDeadline(time.Now().Add(bound))); err != nil {
		return nil, fmt.Errorf("listen for tare: %w", err)
	}
	conn, err := l.AcceptUnix()
	if err != nil {
		return nil, fmt.Errorf("wait for tare: %w", err)
	}
	return conn, nil
}

// Peer is the pid of the process at the other end in this pid namespace; 0: it is in a
// namespace that is not below this one.
func Peer(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, credErr); err != nil {
		return 0, fmt.Errorf("ask who is at the other end: %w", err)
	}
	return int(cred.Pid), nil
}

// Send writes text; the descriptors go with its first byte.
func Send(conn *net.UnixConn, text []byte, files ...*os.File) error {
	if len(files) > MostFiles {
		return fmt.Errorf("%d descriptors, at most %d can be handed over", len(files), MostFiles)
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	n, _, err := conn.WriteMsgUnix(text, unix.UnixRights(fds...), nil)
	if err == nil && n < len(text) {
		_, err = conn.Write(text[n:])
	}
	return err
}

// ControlSize is the size in bytes of the control data of a message with MostFiles descriptors.
func ControlSize() int { return unix.CmsgSpace(4 * MostFiles) }

// Descriptors are the descriptors in the control data of a message.
func Descriptors(control []byte) ([]int, error) {
	if len(control) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, fmt.Errorf("receive descriptors: %w", err)
	}
	var all []int
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, fmt.Errorf("receive descriptors: %w", err)
		}
		all = append(all, fds...)
	}
	return all, nil
}

// Receiver reads from a connection and keeps the descriptors that came with the bytes.
type Receiver struct {
	*net.UnixConn
	files []*os.File
}

func (r *Receiver) Read(b []byte) (int, error) {
	control := make([]byte, ControlSize())
	n, nc, _, _, err := r.ReadMsgUnix(b, control)
	if err != nil {
		return 0, err // n is -1 then
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	fds, err := Descriptors(control[:nc])
	for _, fd := range fds {
		r.files = append(r.files, os.NewFile(uintptr(fd), "received"))
	}
	return n, err
}

// Take returns the next n descriptors, or as many as there are.
func (r *Receiver) Take(n int) []*os.File {
	n = min(n, len(r.files))
	taken := r.files[:n:n]
	r.files = r.files[n:]
	return taken
}
