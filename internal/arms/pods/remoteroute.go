package pods

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/linux/reach"
	"github.com/tarelab/tare/record"
)

// remoteRoute is the way from a client's pod to a server through a Service, as both pods saw it
// when it was tested. The zero value is no Service.
type remoteRoute struct {
	dial, pod netip.AddrPort
	handshake reach.Handshake // of the test
}

// makeRoute makes a Service and tests it: the agent of the server's pod answers at the server's
// address and reports who asked.
func (a *remoteArm) makeRoute(ctx context.Context) error {
	spec := a.server.spec
	if !spec.Service {
		return nil
	}
	pod, err := netip.ParseAddrPort(a.listen())
	if err != nil {
		return err
	}
	create := func() (netip.Addr, error) { return a.cluster.CreateService(ctx, spec.ServiceOf()) }
	at, err := a.kind.On.sharedBy(spec.Run).service(spec.Arm, create)
	if err != nil {
		return err
	}
	r := remoteRoute{dial: netip.AddrPortFrom(at, pod.Port()), pod: pod}
	word := rand.Text()
	if err := a.server.Link.Echo(ctx, r.pod, word); err != nil {
		return err
	}
	_, err = a.client.Link.Probe(ctx, r.dial, word, routeBound)
	handshakes, stopErr := a.server.Link.StopEcho(ctx)
	switch {
	case stopErr != nil:
		return stopErr
	case err == nil && len(handshakes) == 0:
		err = errors.New("the Service answered, but the server's pod got no connection")
	}
	if err != nil {
		return noRoute(route{dial: r.dial}, err)
	}
	r.handshake = handshakes[len(handshakes)-1]
	a.route = r
	return nil
}

// settings are what the test saw; the way is not tested again.
func (r remoteRoute) settings(network string) ([]record.Setting, error) {
	if !r.dial.IsValid() {
		return nil, nil
	}
	leads, err := launch.Wanted("network.leads", r.pod.String(), r.handshake.At.String())
	return []record.Setting{
		{Name: "network." + network, Got: r.dial.String()}, leads, seenAs(r.handshake.From, r.handshake.Peer),
		{Name: "network.seen", Got: "by both pods, before the server began"},
	}, err
}
