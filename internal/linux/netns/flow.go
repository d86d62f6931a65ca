package netns

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Flow is a TCP connection in the kernel's connection tracking: the client's view of it, and
// the server's view after address translation.
type Flow struct {
	From, To       netip.AddrPort // the client, and the address that it connected to
	Client, Server netip.AddrPort // the same two as the server sees them
	Open           bool           // established: neither refused nor closed
}

// established is the kernel's TCP_CONNTRACK_ESTABLISHED.
const established = 3

// Flows are the connections of this network namespace whose client connected to an address.
func Flows(to netip.AddrPort) ([]Flow, error) {
	family := netlink.InetFamily(unix.AF_INET)
	if to.Addr().Is6() {
		family = unix.AF_INET6
	}
	list, err := netlink.ConntrackTableList(netlink.ConntrackTable, family)
	if err != nil {
		return nil, fmt.Errorf("read the kernel's connection tracking: %w", err)
	}
	var all []Flow
	for _, f := range list {
		if f.Forward.Protocol != unix.IPPROTO_TCP {
			continue
		}
		flow := Flow{
			From: addrPortOf(f.Forward.SrcIP, f.Forward.SrcPort), To: addrPortOf(f.Forward.DstIP, f.Forward.DstPort),
			Client: addrPortOf(f.Reverse.DstIP, f.Reverse.DstPort), Server: addrPortOf(f.Reverse.SrcIP, f.Reverse.SrcPort),
		}
		if tcp, ok := f.ProtoInfo.(*netlink.ProtoInfoTCP); ok {
			flow.Open = tcp.State == established
		}
		if flow.To == to {
			all = append(all, flow)
		}
	}
	return all, nil
}

func addrPortOf(ip net.IP, port uint16) netip.AddrPort {
	a, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(a.Unmap(), port)
}
