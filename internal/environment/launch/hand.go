package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socketName is the socket in the directory that a container has bound.
const socketName = "ask"

// Desk is the socket at which the first process of a container asks what to do.
type Desk struct{ l *net.UnixListener }

// NewDesk listens in a directory. The caller closes it.
func NewDesk(dir string) (*Desk, error) {
	at, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of the socket: %w", err)
	}
	defer at.Close()
	// The path of a socket has at most 107 bytes: this one is always short.
	path := fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), socketName)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen in %s: %w", dir, err)
	}
	l.SetUnlinkOnClose(false) // the path is no longer valid then
	return &Desk{l}, nil
}

// Socket is the socket in a container that has the directory bound.
func Socket(dir string) string { return filepath.Join(dir, socketName) }

// Close ends the listening.
func (d *Desk) Close() error { return d.l.Close() }

// Visitor is the first process of a container, which waits for its request.
type Visitor struct {
	Pid  int // as tare's pid namespace numbers it
	conn *net.UnixConn
}

// Accept waits for a visitor. given, which may be called often, says why none is
// going to come.
func (d *Desk) Accept(ctx context.Context, given func() error) (*Visitor, error) {
	const turn = 200 * time.Millisecond
	for {
		if err := d.l.SetDeadline(time.Now().Add(turn)); err != nil {
			return nil, err
		}
		conn, err := d.l.AcceptUnix()
		switch {
		case err == nil:
			v, err := visitor(conn)
			if err != nil {
				conn.Close()
			}
			return v, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("wait for the container: %w", err)
		}
		if err := given(); err != nil {
			return nil, err
		}
	}
}

func visitor(conn *net.UnixConn) (*Visitor, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, credErr); err != nil {
		return nil, fmt.Errorf("ask who is in the container: %w", err)
	}
	if cred.Pid == 0 {
		return nil, errors.New("the container is in no pid namespace below this one")
	}
	return &Visitor{Pid: int(cred.Pid), conn: conn}, nil
}

// Close lets the visitor go; one that was sent nothing ends.
func (v *Visitor) Close() error { return ignoreClosed(v.conn.Close()) }

// Send tells the visitor what to do, and returns when it executes the load.
func (v *Visitor) Send(ctx context.Context, c Child) error {
	stop := context.AfterFunc(ctx, func() { v.conn.Close() })
	err := v.send(c)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	return errors.Join(err, ignoreClosed(v.conn.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (v *Visitor) send(c Child) error {
	log := c.Log
	if log == nil {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer null.Close()
		log = null
	}
	r := c.Request
	r.Files = len(c.Files)
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	text = append(text, '\n')
	fds := []int{int(log.Fd()), int(log.Fd())}
	for _, f := range c.Files {
		fds = append(fds, int(f.Fd()))
	}
	n, _, err := v.conn.WriteMsgUnix(text, unix.UnixRights(fds...), nil)
	if err == nil && n < len(text) {
		_, err = v.conn.Write(text[n:])
	}
	if err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	answer, err := io.ReadAll(v.conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("wait for the load to be executed: %w", err)
	}
	var m message
	if len(answer) == 0 {
		return nil // executed: the socket closed with it
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.Failure == nil {
		return fmt.Errorf("the container said %q instead of executing the load", answer)
	}
	return m.Failure
}
