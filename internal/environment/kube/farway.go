package kube

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"

	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/linux/reach"
	"github.com/tarelab/tare/record"
)

// farWay is the way from a client's pod to a server by a Service, as both pods saw
// it when it was proved. Its zero value is none.
type farWay struct {
	dial, pod netip.AddrPort
	met       reach.Met
}

// lead makes the way to the server and proves it: the server's pod answers where the
// server is going to listen, and says who asked.
func (a *far) lead(ctx context.Context) error {
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
	w := farWay{dial: netip.AddrPortFrom(at, pod.Port()), pod: pod}
	word := rand.Text()
	if err := a.server.link.Answer(ctx, w.pod, word); err != nil {
		return err
	}
	_, err = a.client.link.Ask(ctx, w.dial, word, wayBound)
	met, silent := a.server.link.Hush(ctx)
	switch {
	case silent != nil:
		return silent
	case err == nil && len(met) == 0:
		err = errors.New("it was answered, and the server's pod saw nobody ask")
	}
	if err != nil {
		return noWay(spec, way{dial: w.dial}, err)
	}
	w.met = met[len(met)-1]
	a.way = w
	return nil
}

// settings say what was seen of the way: it is not looked at again.
func (w farWay) settings(network string) ([]record.Setting, error) {
	if !w.dial.IsValid() {
		return nil, nil
	}
	leads, err := launch.Wanted("network.leads", w.pod.String(), w.met.At.String())
	return []record.Setting{
		{Name: "network." + network, Got: w.dial.String()}, leads, seenAs(w.met.From, w.met.Peer),
		{Name: "network.seen", Got: "by both pods, before the server began"},
	}, err
}
