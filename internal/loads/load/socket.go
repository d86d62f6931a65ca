package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Link is a TCP or Unix connection, read and written by blocking system calls on one thread, as
// database servers do. Through the poller of the Go runtime the speed of a connection changed by a
// factor of two over time, because any thread may poll. A link has no timeout: either end may be
// frozen for any time.
type Link struct {
	fd  int
	raw bool // raw system calls, see RaiseMaxProcs
}

// NewLink duplicates the descriptor of a connection and closes the connection. With raw it uses raw
// system calls; the caller has raised GOMAXPROCS for that many links.
func NewLink(c net.Conn, raw bool) (*Link, error) {
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
	conn, err := s.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	// The poller does not know the duplicate.
	outer := conn.Control(func(original uintptr) {
		fd, err = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(outer, err); err != nil {
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("take over a connection: %w", err)
	}
	return &Link{fd: fd, raw: raw}, nil
}

// readFull fills b. It returns io.EOF if the connection ends before the first byte.
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

// Read implements io.Reader.
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

// Shut shuts the connection down, which wakes a thread that is blocked in it.
func (l *Link) Shut() { unix.Shutdown(l.fd, unix.SHUT_RDWR) }

func (l *Link) close() { unix.Close(l.fd) }
