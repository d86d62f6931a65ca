package netns

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// The kernel shows where a connection through a forwarded port goes.
func TestFlows(t *testing.T) {
	gateway, arm, w := pair(t)
	const port = 4242
	if err := Forward(gateway, w.Gateway, w.Arm, port); err != nil {
		t.Fatal(err)
	}
	from, to := netip.AddrPortFrom(w.Gateway, port), netip.AddrPortFrom(w.Arm, port)
	echo(t, arm, to)
	if err := say(gateway, from); err != nil {
		t.Fatal(err)
	}
	var flows []Flow
	err := In(gateway, func() (err error) { flows, err = Flows(from); return err })
	testneed.Feature(t, "connection tracking over netlink", err)
	if len(flows) != 1 || flows[0].To != from || flows[0].Server != to || flows[0].From.Addr() != w.Gateway || flows[0].Open {
		t.Errorf("%+v", flows)
	}
	if !openFlow(t, gateway, arm, from, to) {
		t.Error("a connection that both ends have is not open")
	}
}

// openFlow says whether the kernel shows a connection as open that both ends have.
func openFlow(t *testing.T, gateway, arm *os.File, from, to netip.AddrPort) bool {
	t.Helper()
	peer := echo(t, arm, to)
	open := false
	err := In(gateway, func() error {
		c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(from))
		if err != nil {
			return err
		}
		defer c.Close()
		<-peer
		flows, err := Flows(from)
		own := c.LocalAddr().(*net.TCPAddr).AddrPort()
		open = slices.ContainsFunc(flows, func(f Flow) bool { return f.From == own && f.Open })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return open
}
