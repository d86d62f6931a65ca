package launch

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/netns"
	"github.com/tarelab/tare/record"
)

// Network is an arm's own network: the arm's namespace and a gateway namespace, which stands for
// the host's side of it. Descriptors keep both alive, so they end with tare and are in no journal.
type Network struct {
	Gateway, Arm *os.File
	Wire         netns.Wire
	// Port is published by destination NAT at the gateway's address; 0: none.
	Port int
	// Taken says that gVisor's network stack took the arm's address from the link: it cannot
	// be read back there.
	Taken bool
}

// Restore gives the arm's link its address again.
func (n *Network) Restore() error { return n.Wire.Restore(n.Arm) }

// NewNetwork makes the network of an arm and publishes the port publish; 0: none. The caller
// closes it.
func NewNetwork(publish int) (_ *Network, err error) {
	n := &Network{Wire: netns.DefaultWire(), Port: publish}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.Gateway, err = netns.New(); err != nil {
		return nil, err
	}
	if n.Arm, err = netns.New(); err != nil {
		return nil, err
	}
	if err := n.Wire.Connect(n.Gateway, n.Arm); err != nil {
		return nil, err
	}
	if publish == 0 {
		return n, nil
	}
	return n, netns.Forward(n.Gateway, n.Wire.Gateway, n.Wire.Arm, uint16(publish))
}

// OpenNetwork makes the network of a container with a server, unless it has the host's network.
// Close closes it.
func (g *Sandbox) OpenNetwork() error {
	publish := g.Spec.Port
	if publish == 0 {
		return nil
	}
	switch g.Spec.Container.Network {
	case environment.NetworkHost:
		return nil
	case environment.NetworkEngine:
		return fmt.Errorf("network %s: %w: no engine makes this container", environment.NetworkEngine, facts.ErrUnsupported)
	case environment.NetworkBridge:
		publish = 0
	}
	return g.MakeNetwork(publish)
}

// MakeNetwork makes a network of the arm's own and publishes the port publish; 0: none. Close
// closes it.
func (g *Sandbox) MakeNetwork(publish int) (err error) {
	if g.Net, err = NewNetwork(publish); err != nil {
		return err
	}
	g.Undo(g.Net.Close)
	return nil
}

// addresses are where a server in the arm listens and where a client dials; empty without a
// server.
func (g *Sandbox) addresses() (listen, dial string) {
	port := g.Spec.Port
	switch {
	case port == 0:
		return "", ""
	case g.Net == nil:
		at := fmt.Sprintf("127.0.0.1:%d", port)
		return at, at
	}
	return g.Net.Listen(port), g.Net.Dial(port)
}

// Attach connects a container's network namespace instead of the one that NewNetwork made.
func (n *Network) Attach(arm *os.File) error {
	if err := n.Wire.Disconnect(n.Gateway); err != nil {
		return err
	}
	if err := n.Arm.Close(); err != nil {
		return err
	}
	n.Arm = arm
	return n.Wire.Connect(n.Gateway, n.Arm)
}

// Listen is the address at which a server in the arm listens.
func (n *Network) Listen(port int) string { return addrPort(n.Wire.Arm, port) }

// Dial is the address that a client dials: the published one, if the port is published.
func (n *Network) Dial(port int) string {
	if n.Port == port {
		return addrPort(n.Wire.Gateway, port)
	}
	return addrPort(n.Wire.Arm, port)
}

func addrPort(a netip.Addr, port int) string {
	return netip.AddrPortFrom(a, uint16(port)).String()
}

// Settings reads addresses and rules back.
func (n *Network) Settings() ([]record.Setting, error) {
	var all []record.Setting
	var errs []error
	add := func(name, wanted, got string) {
		s, err := Wanted(name, wanted, got)
		all, errs = append(all, s), append(errs, err)
	}
	for _, side := range []struct {
		name, link string
		ns         *os.File
		addr       netip.Addr
	}{
		{"network.address", netns.ArmLink, n.Arm, n.Wire.Arm},
		{"network.gateway", netns.Bridge, n.Gateway, n.Wire.Gateway},
	} {
		addrs, err := netns.Addresses(side.ns)
		if err != nil {
			return all, err
		}
		want := netip.PrefixFrom(side.addr, n.Wire.Bits).String()
		if n.Taken && side.ns == n.Arm {
			all = append(all, record.Setting{Name: side.name, Got: want + " of a stack of its own"})
			continue
		}
		add(side.name, want, addrs[side.link])
	}
	if n.Port == 0 {
		return all, errors.Join(errs...)
	}
	rules, err := netns.Forwards(n.Gateway)
	if err != nil {
		return all, err
	}
	for _, r := range rules {
		add("nat."+r.Hook, addrPort(n.Wire.Arm, n.Port), r.To.String())
	}
	if len(rules) != 2 {
		errs = append(errs, fmt.Errorf("nat: %d rules read back, want 2", len(rules)))
	}
	return all, errors.Join(errs...)
}

// Close closes the descriptors of both namespaces.
func (n *Network) Close() error {
	var errs []error
	for _, f := range []*os.File{n.Arm, n.Gateway} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// NetworkChanges lists what NewNetwork makes. Nothing of it is in the host's network namespace.
func NetworkChanges(s environment.Spec, publish bool) []facts.Change {
	if s.Container.Network == environment.NetworkHost {
		return nil
	}
	publish = publish && s.Container.Network != environment.NetworkBridge
	w := netns.DefaultWire()
	out := []facts.Change{
		facts.Changed(messages.Say("change.networks"), messages.Say("change.nameless"), messages.Say("change.networks.apart")),
		facts.Changed(messages.Say("change.bridge", "bridge", netns.Bridge, "port", netns.Port, "link", netns.ArmLink),
			messages.Say("change.bridge.wire", "from", w.Gateway, "to", w.Arm)),
	}
	if publish && s.Port != 0 {
		out = append(out, facts.Changed(messages.Say("change.rules"), messages.Say("change.rules.gateway", "rule", netns.Describe(w.Gateway, w.Arm, uint16(s.Port)))))
	}
	return out
}
