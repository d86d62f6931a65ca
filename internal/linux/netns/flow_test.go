package netns

import (
	"net/netip"
	"testing"

	"github.com/tarelab/tare/internal/testneed"
)

// A connection through a forwarded port is where the kernel says.
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
	if len(flows) != 1 || flows[0].To != from || flows[0].Server != to || flows[0].From.Addr() != w.Gateway {
		t.Errorf("%+v", flows)
	}
}
