package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
)

// Wire is a bridge in one namespace and a veth pair from it to another namespace, like Docker's
// default network.
type Wire struct {
	// Gateway and Arm are the addresses of the two ends, in one subnet.
	Gateway, Arm netip.Addr
	// Bits is the length of the subnet's prefix.
	Bits int
}

// DefaultWire uses the range for benchmarks of network devices (RFC 2544, RFC 6815). All wires
// have the same addresses, since each is in namespaces of its own: one difference less between
// arms.
func DefaultWire() Wire {
	return Wire{Gateway: netip.AddrFrom4([4]byte{198, 18, 0, 1}), Arm: netip.AddrFrom4([4]byte{198, 18, 0, 2}), Bits: 24}
}

// The names of the links: the bridge, its port and the arm's end.
const (
	Bridge  = "tare0"
	Port    = "tare0p0"
	ArmLink = "eth0"
)

// Connect makes the wire between two namespaces.
func (w Wire) Connect(gateway, arm *os.File) error {
	if err := In(gateway, func() error { return w.gatewaySide(arm) }); err != nil {
		return fmt.Errorf("make the gateway's side of the network: %w", err)
	}
	if err := In(arm, w.armSide); err != nil {
		return fmt.Errorf("make the arm's side of the network: %w", err)
	}
	return nil
}

// Restore gives the arm's end its address and route again after something removed them.
func (w Wire) Restore(arm *os.File) error {
	addrs, err := Addresses(arm)
	if err != nil || addrs[ArmLink] != "" {
		return err
	}
	if err := In(arm, w.armSide); err != nil {
		return fmt.Errorf("restore the arm's side of the network: %w", err)
	}
	return nil
}

// Disconnect removes the gateway's side of the wire.
func (w Wire) Disconnect(gateway *os.File) error {
	err := In(gateway, func() error {
		for _, name := range []string{Port, Bridge} {
			link, err := netlink.LinkByName(name)
			if err == nil {
				err = netlink.LinkDel(link)
			}
			var none netlink.LinkNotFoundError
			if err != nil && !errors.As(err, &none) { // the port goes with the other end
				return fmt.Errorf("remove %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take the network apart: %w", err)
	}
	return nil
}

func (w Wire) gatewaySide(arm *os.File) error {
	bridge := &netlink.Bridge{LinkAttrs: named(Bridge)}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("make bridge %s: %w", Bridge, err)
	}
	attrs := named(Port)
	attrs.MasterIndex = bridge.Attrs().Index
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: ArmLink, PeerNamespace: netlink.NsFd(arm.Fd())}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("make veth pair %s: %w", Port, err)
	}
	if err := w.address(Bridge, w.Gateway); err != nil {
		return err
	}
	return up(Port)
}

func (w Wire) armSide() error {
	if err := w.address(ArmLink, w.Arm); err != nil {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{Gw: w.Gateway.AsSlice()}); err != nil {
		return fmt.Errorf("set the default route: %w", err)
	}
	return nil
}

func named(name string) netlink.LinkAttrs {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	return attrs
}

// address gives a link its address and sets it up.
func (w Wire) address(link string, a netip.Addr) error {
	l, err := netlink.LinkByName(link)
	if err != nil {
		return fmt.Errorf("find %s: %w", link, err)
	}
	addr, err := netlink.ParseAddr(netip.PrefixFrom(a, w.Bits).String())
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(l, addr); err != nil {
		return fmt.Errorf("give %s the address %s: %w", link, addr, err)
	}
	return up(link)
}

func up(link string) error {
	l, err := netlink.LinkByName(link)
	if err == nil {
		err = netlink.LinkSetUp(l)
	}
	if err != nil {
		return fmt.Errorf("set %s up: %w", link, err)
	}
	return nil
}

// Addresses reads back the IPv4 addresses in a namespace, by link, without
// loopback.
func Addresses(ns *os.File) (map[string]string, error) {
	found := map[string]string{}
	err := In(ns, func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		for _, l := range links {
			addrs, err := netlink.AddrList(l, netlink.FAMILY_V4)
			if err != nil {
				return err
			}
			for _, a := range addrs {
				if !a.IP.IsLoopback() {
					found[l.Attrs().Name] = a.IPNet.String()
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read back the addresses: %w", err)
	}
	return found, nil
}
