// Package reach proves a way between two addresses: somebody answers where it is
// to lead, and is asked at its begin.
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

// Handshake is a connection as both of its ends saw it.
type Handshake struct {
	From netip.AddrPort // who asked, as it saw itself
	Peer netip.AddrPort // the same, as the one who answered saw it
	At   netip.AddrPort // where it was answered
}

// bound is how long one answer may take, and every the pause between two questions.
const (
	bound = time.Second
	every = 100 * time.Millisecond
)

// Echo says the word to whoever connects, until the listener is closed, and what
// connection that was; met may be nil.
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

// answer says the word, and hears who asked, who closes first and keeps the memory
// of the connection.
func echo(c *net.TCPConn, word string) (Handshake, error) {
	_ = c.SetDeadline(time.Now().Add(bound))
	if _, err := io.WriteString(c, word); err != nil {
		return Handshake{}, err
	}
	said, err := bufio.NewReader(io.LimitReader(c, 256)).ReadString('\n')
	if err != nil {
		return Handshake{}, err
	}
	from, err := netip.ParseAddrPort(strings.TrimSpace(said))
	if err != nil {
		return Handshake{}, err
	}
	_, _ = io.Copy(io.Discard, c)
	return Handshake{from, c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort()}, nil
}

// Probe wants to hear the word, and returns its own address.
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
		return netip.AddrPort{}, errors.New("somebody else answers there")
	}
	own := c.LocalAddr().(*net.TCPAddr).AddrPort()
	_, err = fmt.Fprintln(c, own)
	return own, err
}

// Until asks until the answer comes, for as long as that may take.
func Until(ctx context.Context, within time.Duration, ask func() error) error {
	for end := time.Now().Add(within); ; time.Sleep(every) {
		err := ask()
		if err == nil || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}
