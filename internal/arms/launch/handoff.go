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

	"github.com/tarelab/tare/internal/linux/unixsock"
)

// socketName is the name of the socket in the directory that is bound into a container.
const socketName = "ask"

// HandoffListener is the socket at which the first process of a container asks for its Request.
type HandoffListener struct{ l *net.UnixListener }

// ListenHandoff listens in a directory. The caller closes it.
func ListenHandoff(dir string) (*HandoffListener, error) {
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
	l.SetUnlinkOnClose(false) // the path is not valid any more then
	return &HandoffListener{l}, nil
}

// Socket is the path of the socket below dir, the directory as the container sees it.
func Socket(dir string) string { return filepath.Join(dir, socketName) }

// Close closes the socket.
func (h *HandoffListener) Close() error { return h.l.Close() }

// HandoffConn is the connection to the first process of a container, which waits for its Request.
type HandoffConn struct {
	Pid  int // in tare's pid namespace
	conn *net.UnixConn
}

// Accept waits for a container. It calls alive five times a second and returns its error, which
// says why no container is going to ask.
func (h *HandoffListener) Accept(ctx context.Context, alive func() error) (*HandoffConn, error) {
	const turn = 200 * time.Millisecond
	for {
		if err := h.l.SetDeadline(time.Now().Add(turn)); err != nil {
			return nil, err
		}
		conn, err := h.l.AcceptUnix()
		switch {
		case err == nil:
			h, err := identifyPeer(conn)
			if err != nil {
				conn.Close()
			}
			return h, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("wait for the container: %w", err)
		}
		if err := alive(); err != nil {
			return nil, err
		}
	}
}

func identifyPeer(conn *net.UnixConn) (*HandoffConn, error) {
	pid, err := unixsock.Peer(conn)
	if err == nil && pid == 0 {
		err = errors.New("the container is in no pid namespace below this one")
	}
	return &HandoffConn{Pid: pid, conn: conn}, err
}

// Close closes the connection. A process that got no Request ends then.
func (h *HandoffConn) Close() error { return ignoreClosed(h.conn.Close()) }

// Send sends the Request and returns when the process executes the load.
func (h *HandoffConn) Send(ctx context.Context, c Child) error {
	stop := context.AfterFunc(ctx, func() { h.conn.Close() })
	err := h.send(c)
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	return errors.Join(err, ignoreClosed(h.conn.Close()))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (h *HandoffConn) send(c Child) error {
	log, err := c.log()
	if err != nil {
		return err
	}
	defer log.Close()
	r := c.Request
	r.Files = len(c.Files)
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	if err := unixsock.Send(h.conn, append(text, '\n'), append([]*os.File{log, log}, c.Files...)...); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	answer, err := io.ReadAll(h.conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("wait for the load to be executed: %w", err)
	}
	var m message
	if len(answer) == 0 {
		return nil // the exec closed the socket
	}
	if err := json.Unmarshal(answer, &m); err != nil || m.Failure == nil {
		return fmt.Errorf("the container sent %q instead of executing the load", answer)
	}
	return m.Failure
}
