package pods

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/netns"
	"github.com/tarelab/tare/internal/linux/reach"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// The words of the level network: how a client reaches the server in a pod.
const (
	podNetwork     = "pod"     // at the pod's address
	hostNetwork    = "host"    // the pod has the node's network
	serviceNetwork = "service" // at the cluster IP of a Service
)

var networks = []string{podNetwork, hostNetwork, serviceNetwork}

// setNetwork sets the network of the levels.
func (l Levels) setNetwork(s *kube.PodSpec) {
	s.HostNetwork, s.Service = l.network == hostNetwork, l.network == serviceNetwork
}

// checkServer refuses network=service for an arm without a server; port is 0 then.
func (l Levels) checkServer(port int) error {
	if port == 0 && l.network == serviceNetwork {
		return hint.New(errors.New("network=service: the arm has no server that a client outside of the pod would reach"),
			"leave network out, or let the client run outside (client=outside)")
	}
	return nil
}

// route is the way to a server through a Service. The zero value is no Service.
type route struct {
	dial, pod netip.AddrPort // of the Service and of the server
	seen      netns.Flow     // the connection that tested it
}

// routeBound is how long the cluster's proxy may take to make the rules of a Service.
const routeBound = 30 * time.Second

// makeRoute makes a Service and tests that it leads to the pod.
func (a *arm) makeRoute(ctx context.Context) error {
	if !a.spec.Service {
		return nil
	}
	pod, err := netip.ParseAddr(a.pod.Status.PodIP)
	if err != nil {
		return fmt.Errorf("find the pod's address: %w", err)
	}
	at, err := a.cluster.CreateService(ctx, a.spec.ServiceOf())
	if err != nil {
		return err
	}
	port := uint16(a.Spec.Port)
	r := route{dial: netip.AddrPortFrom(at, port), pod: netip.AddrPortFrom(pod, port)}
	if r.seen, err = prove(ctx, networkOf(a.agent.Pid), a.clientNetwork(), r, routeBound); err != nil {
		return noRoute(r, err)
	}
	a.route = r
	return nil
}

// networkOf is the file of a process's network namespace.
func networkOf(pid int) string { return fmt.Sprintf("/proc/%d/ns/net", pid) }

// clientNetwork is the file of the network namespace in which the client is going to run.
func (a *arm) clientNetwork() string {
	if a.client == nil {
		return "/proc/self/ns/net"
	}
	return networkOf(a.client.agent.Pid)
}

// noRoute is the error of a Service that does not lead to the pod.
func noRoute(r route, err error) error {
	return hint.New(fmt.Errorf("the Service of the pod does not answer at its cluster IP %s: %w", r.dial, err),
		"no proxy serves Services on this node: kube-proxy, or what stands in for it, must run there (kubectl get pods -A -o wide); network=pod does without")
}

// prove listens at the server's address in the network namespace of the file server, and
// connects from the namespace of the file client until it is answered, at most for bound. It
// returns this connection as the host's connection tracking has it; the zero value: it is not
// tracked.
func prove(ctx context.Context, server, client string, r route, bound time.Duration) (netns.Flow, error) {
	var none netns.Flow
	ns, err := os.Open(server)
	if err != nil {
		return none, fmt.Errorf("find the pod's network: %w", err)
	}
	defer ns.Close()
	outside, err := os.Open(client)
	if err != nil {
		return none, fmt.Errorf("find the client's network: %w", err)
	}
	defer outside.Close()
	var l *net.TCPListener
	err = netns.In(ns, func() (err error) {
		l, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(r.pod))
		return err
	})
	if err != nil {
		return none, fmt.Errorf("listen in the pod's network: %w", err)
	}
	word := rand.Text()
	var answering sync.WaitGroup
	answering.Go(func() { reach.Echo(l, word, nil) })
	defer answering.Wait()
	defer l.Close()
	var from netip.AddrPort
	err = reach.Until(ctx, bound, func() error {
		return netns.In(outside, func() (err error) { // a socket belongs to the namespace of the thread that makes it
			from, err = reach.Probe(ctx, r.dial, word)
			return err
		})
	})
	if err != nil {
		return none, err
	}
	return flowOf(from, r.dial), nil
}

// flowOf is the connection between two addresses in the kernel's connection tracking.
func flowOf(from, to netip.AddrPort) netns.Flow {
	flows, err := netns.Flows(to)
	if err != nil {
		return netns.Flow{}
	}
	i := slices.IndexFunc(flows, func(f netns.Flow) bool { return f.From == from })
	if i < 0 {
		return netns.Flow{}
	}
	return flows[i]
}

// settings reads back where the kernel leads open connections, or led the one that tested the
// way.
func (r route) settings(network string) ([]record.Setting, error) {
	if !r.dial.IsValid() {
		return nil, nil
	}
	all := []record.Setting{{Name: "network." + network, Got: r.dial.String()}}
	flows, _ := netns.Flows(r.dial) // none without connection tracking
	// The kernel also remembers connections to the port of a pod that is gone, and connections
	// that were refused before the rules were there.
	flows = slices.DeleteFunc(flows, func(f netns.Flow) bool { return !f.Open })
	if r.seen.To.IsValid() {
		flows = append(flows, r.seen)
	}
	if len(flows) == 0 {
		return append(all, record.Setting{Name: "network.leads", Got: "not by connection tracking (nftables, iptables, IPVS): the kernel does not show where"}), nil
	}
	var errs []error
	leads := record.Setting{}
	for _, f := range flows {
		var err error
		leads, err = launch.Wanted("network.leads", r.pod.String(), f.Server.String())
		if err != nil {
			errs = append(errs, err)
			break
		}
	}
	f := flows[len(flows)-1]
	return append(all, leads, seenAs(f.From, f.Client)), errors.Join(errs...)
}

// seenAs says at which address the server sees the client.
func seenAs(from, seen netip.AddrPort) record.Setting {
	client := "as it is"
	if seen.Addr() != from.Addr() {
		client = fmt.Sprintf("%s is seen as %s", from.Addr(), seen.Addr())
	}
	return record.Setting{Name: "network.client", Got: client}
}
