package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Link is a connection, TCP or a Unix socket, read and written by blocking system calls on a
// thread of its own, as a database serves its clients, and not through the
// poller of the Go runtime: with that, one connection was seen to wander
// between two speeds a factor of two apart (its wake-ups go through whichever
// thread happens to poll), which no layer of a container causes. There is no
// time-out anywhere: either end may be frozen for as long as it likes.
type Link struct {
	fd  int
	raw bool // by calls that the runtime does not know of, see Blocking
}

// NewLink takes the connection over and closes it in any case. own is for as
// many links as there is room made for.
func NewLink(c net.Conn, own bool) (*Link, error) {
	defer c.Close()
	if t, ok := c.(*net.TCPConn); ok {
		if err := errors.Join(t.SetNoDelay(true), t.SetKeepAlive(false)); err != nil {
			return nil, err
		}
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("%s is not a connection of the kernel's", c.RemoteAddr())
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	// A copy that the poller does not know; the original is closed.
	outer := raw.Control(func(original uintptr) {
		fd, err = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(outer, err); err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &Link{fd: fd, raw: own}, nil
}

// readFull fills b. The end of the connection before the first byte is io.EOF.
func (l *Link) readFull(b []byte) error {
	for got := 0; got < len(b); {
		n, err := l.read(b[got:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0 && got == 0:
			return io.EOF
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			got += n
		}
	}
	return nil
}

// Read is for readers that have a buffer of their own.
func (l *Link) Read(b []byte) (int, error) {
	for {
		switch n, err := l.read(b); {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (l *Link) read(b []byte) (int, error) {
	if l.raw {
		return rawRead(l.fd, b)
	}
	return unix.Read(l.fd, b)
}

func (l *Link) write(b []byte) (int, error) {
	if l.raw {
		return rawWrite(l.fd, b)
	}
	return unix.Write(l.fd, b)
}

// WriteFull writes all of b.
func (l *Link) WriteFull(b []byte) error {
	for len(b) > 0 {
		n, err := l.write(b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Shut ends the connection and wakes a thread that is blocked in it.
func (l *Link) Shut() { unix.Shutdown(l.fd, unix.SHUT_RDWR) }

func (l *Link) close() { unix.Close(l.fd) }
