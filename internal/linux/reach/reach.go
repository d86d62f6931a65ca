// Package reach proves that a connection to one address arrives at another: Echo answers at the
// end, and Probe asks at the beginning.
package reach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Handshake is a connection with the addresses that each end saw.
type Handshake struct {
	From netip.AddrPort // of the client, as it saw itself
	Peer netip.AddrPort // of the client, as the server saw it
	At   netip.AddrPort // of the server
}

// bound is the time limit of one answer, every the pause between two questions.
const (
	bound = time.Second
	every = 100 * time.Millisecond
)

// Echo sends word to every client until the listener is closed. It calls seen, unless that is
// nil, with each connection.
func Echo(l *net.TCPListener, word string, seen func(Handshake)) {
	for {
		c, err := l.AcceptTCP()
		if err != nil {
			return
		}
		if m, err := echo(c, word); err == nil && seen != nil {
			seen(m)
		}
		c.Close()
	}
}

// echo sends word and reads the client's own address. The client closes first, so the TIME_WAIT
// is on its side.
func echo(c *net.TCPConn, word string) (Handshake, error) {
	_ = c.SetDeadline(time.Now().Add(bound))
	if _, err := io.WriteString(c, word); err != nil {
		return Handshake{}, err
	}
	text, err := bufio.NewReader(io.LimitReader(c, 256)).ReadString('\n')
	if err != nil {
		return Handshake{}, err
	}
	from, err := netip.ParseAddrPort(strings.TrimSpace(text))
	if err != nil {
		return Handshake{}, err
	}
	_, _ = io.Copy(io.Discard, c)
	return Handshake{from, c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort()}, nil
}

// Probe connects, expects word, and returns its own address.
func Probe(ctx context.Context, at netip.AddrPort, word string) (netip.AddrPort, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(bound))
	got := make([]byte, len(word))
	if _, err := io.ReadFull(c, got); err != nil {
		return netip.AddrPort{}, err
	}
	if string(got) != word {
		return netip.AddrPort{}, errors.New("another server answers there")
	}
	own := c.LocalAddr().(*net.TCPAddr).AddrPort()
	_, err = fmt.Fprintln(c, own)
	return own, err
}

// Until repeats ask until it succeeds, for a limited time.
func Until(ctx context.Context, within time.Duration, ask func() error) error {
	for end := time.Now().Add(within); ; time.Sleep(every) {
		err := ask()
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}
