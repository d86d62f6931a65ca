// Package unixsock is what both agents of tare do with a socket in a pod: wait for the
// one who is to ask there.
package unixsock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// AcceptOne listens at a path, for this user alone, and returns the first connection.
// Nobody can connect after that. Nobody within the bound is an error.
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
