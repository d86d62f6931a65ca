package netns

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// natTable is the name of the nftables table.
const natTable = "tare"

// natHooks are the hooks at which Docker forwards a published port: prerouting for connections
// from outside, output for those from the host itself.
func natHooks() map[string]*nftables.ChainHook {
	return map[string]*nftables.ChainHook{
		"prerouting": nftables.ChainHookPrerouting,
		"output":     nftables.ChainHookOutput,
	}
}

// Forward publishes a TCP port in the namespace: it forwards connections from address from to
// address to with the same port (destination NAT).
func Forward(ns *os.File, from, to netip.Addr, port uint16) error {
	err := In(ns, func() error {
		// As Docker does. This thread is in the namespace, so the sysctl is the namespace's.
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil {
			return err
		}
		return addRules(from, to, port)
	})
	if err != nil {
		return fmt.Errorf("forward port %d: %w", port, err)
	}
	return nil
}

func addRules(from, to netip.Addr, port uint16) error {
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open nftables: %w", err)
	}
	table := c.AddTable(&nftables.Table{Name: natTable, Family: nftables.TableFamilyIPv4})
	for name, hook := range natHooks() {
		chain := c.AddChain(&nftables.Chain{
			Name: name, Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: hook, Priority: nftables.ChainPriorityNATDest,
		})
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: dnat(from, to, port)})
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("set the nftables rules: %w", err)
	}
	return nil
}

// dnat is the rule: ip daddr FROM tcp dport PORT counter dnat to TO:PORT.
func dnat(from, to netip.Addr, port uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: from.AsSlice()},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.Counter{},
		&expr.Immediate{Register: 1, Data: to.AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1, RegProtoMin: 2, Specified: true},
	}
}

// Forwarded is one rule, read back, with the number of connections that it forwarded.
type Forwarded struct {
	Hook        string
	To          netip.AddrPort
	Connections uint64
}

// Forwards reads back the rules of Forward.
func Forwards(ns *os.File) ([]Forwarded, error) {
	var found []Forwarded
	err := In(ns, func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		table := &nftables.Table{Name: natTable, Family: nftables.TableFamilyIPv4}
		for _, hook := range []string{"prerouting", "output"} {
			rules, err := c.GetRules(table, &nftables.Chain{Name: hook, Table: table})
			if err != nil {
				return err
			}
			for _, r := range rules {
				found = append(found, forwarded(hook, r))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read back the nftables rules: %w", err)
	}
	return found, nil
}

func forwarded(hook string, r *nftables.Rule) Forwarded {
	f := Forwarded{Hook: hook}
	var addr netip.Addr
	var port uint16
	for _, e := range r.Exprs {
		switch e := e.(type) {
		case *expr.Counter:
			f.Connections = e.Packets
		case *expr.Immediate:
			if a, ok := netip.AddrFromSlice(e.Data); ok && e.Register != 2 {
				addr = a
			} else if len(e.Data) == 2 {
				port = binary.BigEndian.Uint16(e.Data)
			}
		}
	}
	f.To = netip.AddrPortFrom(addr, port)
	return f
}

// Describe is the rules in the words of nft.
func Describe(from, to netip.Addr, port uint16) string {
	return strings.Join([]string{"ip daddr", from.String(), "tcp dport", fmt.Sprint(port), "dnat to", netip.AddrPortFrom(to, port).String()}, " ")
}
