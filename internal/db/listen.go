package db

import (
	"fmt"
	"net"
	"strconv"
)

// hostPort splits an address; both parts are empty for an empty one.
func hostPort(address string) (host string, port int, err error) {
	if address == "" {
		return "", 0, nil
	}
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 || net.ParseIP(host) == nil {
		return "", 0, fmt.Errorf("address %q: want IP:port", address)
	}
	return host, port, nil
}

// Listen sets where the server listens for TCP: "IP:port", or nowhere when the
// address is empty.
func (c *Config) Listen(address string) (err error) {
	c.Host, c.Port, err = hostPort(address)
	return err
}
