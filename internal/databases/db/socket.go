package db

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// DialSocket connects to a Unix socket. It goes through a descriptor of the directory, because the
// path may be longer than the 107 bytes of a socket's address.
func DialSocket(ctx context.Context, _, path string) (net.Conn, error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Dir(path), err)
	}
	defer unix.Close(fd)
	var d net.Dialer
	return d.DialContext(ctx, "unix", "/proc/self/fd/"+strconv.Itoa(fd)+"/"+filepath.Base(path))
}

// Listen sets the TCP address, "IP:port"; empty: the server listens on its socket alone.
func (c *Config) Listen(address string) (err error) {
	if c.Host, c.Port = "", 0; address == "" {
		return nil
	}
	c.Host, c.Port, err = SplitAddress(address)
	if err != nil || c.Port == 0 || net.ParseIP(c.Host) == nil {
		return fmt.Errorf("address %q: want IP:port", address)
	}
	return nil
}

// SplitAddress splits "host:port".
func SplitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		var n uint64
		n, err = strconv.ParseUint(text, 10, 16)
		port = int(n)
	}
	if err != nil {
		return "", 0, fmt.Errorf("address of the server: %w", err)
	}
	return host, port, nil
}
