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

// farRoute is the way from a client's pod to a server by a Service, as both pods saw
// it when it was proved. Its zero value is none.
type farRoute struct {
	dial, pod netip.AddrPort
	met       reach.Handshake
}

// makeRoute makes the way to the server and proves it: the server's pod answers where the
// server is going to listen, and says who asked.
func (a *far) makeRoute(ctx context.Context) error {
	spec := a.server.spec
	if !spec.Service {
		return nil
	}
	pod, err := netip.ParseAddrPort(a.listen())
	if err != nil {
		return err
	}
	at, err := a.cluster.CreateService(ctx, spec.ServiceOf())
	if err != nil {
		return err
	}
	r := farRoute{dial: netip.AddrPortFrom(at, pod.Port()), pod: pod}
	word := rand.Text()
	if err := a.server.link.Echo(ctx, r.pod, word); err != nil {
		return err
	}
	_, err = a.client.link.Probe(ctx, r.dial, word, routeBound)
	met, silent := a.server.link.StopEcho(ctx)
	switch {
	case silent != nil:
		return silent
	case err == nil && len(met) == 0:
		err = errors.New("it was answered, and the server's pod saw nobody ask")
	}
	if err != nil {
		return noRoute(route{dial: r.dial}, err)
	}
	r.met = met[len(met)-1]
	a.route = r
	return nil
}

// settings say what was seen of the way: it is not looked at again.
func (r farRoute) settings(network string) ([]record.Setting, error) {
	if !r.dial.IsValid() {
		return nil, nil
	}
	leads, err := launch.Wanted("network.leads", r.pod.String(), r.met.At.String())
	return []record.Setting{
		{Name: "network." + network, Got: r.dial.String()}, leads, seenAs(r.met.From, r.met.Peer),
		{Name: "network.seen", Got: "by both pods, before the server began"},
	}, err
}
