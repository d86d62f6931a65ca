package netns

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

func pair(t *testing.T) (gateway, arm *os.File, w Wire) {
	t.Helper()
	testneed.Root(t)
	w = DefaultWire()
	var err error
	for _, ns := range []**os.File{&gateway, &arm} {
		if *ns, err = New(); err != nil {
			t.Fatal(err)
		}
		f := *ns
		t.Cleanup(func() { f.Close() })
	}
	if err := w.Connect(gateway, arm); err != nil {
		t.Fatal(err)
	}
	return gateway, arm, w
}

// echo serves one connection at addr in ns and returns who connected.
func echo(t *testing.T, ns *os.File, addr netip.AddrPort) (peer chan string) {
	t.Helper()
	var l net.Listener
	if err := In(ns, func() (err error) { l, err = net.Listen("tcp", addr.String()); return err }); err != nil {
		t.Fatal(err)
	}
	peer = make(chan string, 1)
	go func() {
		c, err := l.Accept()
		l.Close() // before it answers: another server may listen there then
		if err != nil {
			peer <- err.Error()
			return
		}
		defer c.Close()
		peer <- c.RemoteAddr().(*net.TCPAddr).IP.String()
		io.Copy(c, c)
	}()
	return peer
}

func say(ns *os.File, addr netip.AddrPort) error {
	// A socket belongs to the namespace of the thread that makes it; net.Dial of an address
	// uses the calling goroutine.
	return In(ns, func() error {
		c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(addr))
		if err != nil {
			return err
		}
		defer c.Close()
		want := []byte("hello")
		if _, err := c.Write(want); err != nil {
			return err
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("got %q, %v", got, err)
		}
		return nil
	})
}

func TestWire(t *testing.T) {
	gateway, arm, w := pair(t)
	at := netip.AddrPortFrom(w.Arm, 4000)
	peer := echo(t, arm, at)
	if err := say(gateway, at); err != nil {
		t.Fatal(err)
	}
	if got := <-peer; got != w.Gateway.String() {
		t.Errorf("the arm sees %s, want %s", got, w.Gateway)
	}
	addrs, err := Addresses(arm)
	if err != nil || len(addrs) != 1 || addrs[ArmLink] != "198.18.0.2/24" {
		t.Errorf("addresses %v, %v", addrs, err)
	}
}

func TestForward(t *testing.T) {
	gateway, arm, w := pair(t)
	if err := Forward(gateway, w.Gateway, w.Arm, 4001); err != nil {
		t.Fatal(err)
	}
	peer := echo(t, arm, netip.AddrPortFrom(w.Arm, 4001))
	if err := say(gateway, netip.AddrPortFrom(w.Gateway, 4001)); err != nil {
		t.Fatal(err)
	}
	<-peer
	rules, err := Forwards(gateway)
	if err != nil || len(rules) != 2 {
		t.Fatalf("%v, %v", rules, err)
	}
	for _, r := range rules {
		if want := netip.AddrPortFrom(w.Arm, 4001); r.To != want {
			t.Errorf("%s goes to %s, want %s", r.Hook, r.To, want)
		}
	}
	if rules[1].Hook != "output" || rules[1].Connections != 1 {
		t.Errorf("%+v: want one connection through output", rules[1])
	}
}

// TestNothingInTheHostNamespace expects neither links nor rules on the host, and the callers'
// threads in their namespace.
func TestNothingInTheHostNamespace(t *testing.T) {
	before := links(t)
	own, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	gateway, _, w := pair(t)
	if err := Forward(gateway, w.Gateway, w.Arm, 4002); err != nil {
		t.Fatal(err)
	}
	if after := links(t); after != before {
		t.Errorf("links were %s and are %s", before, after)
	}
	// The last thread may still be ending.
	deadline := time.Now().Add(10 * time.Second)
	for strayed(t, own) != "" {
		if time.Now().After(deadline) {
			t.Fatal(strayed(t, own))
		}
		time.Sleep(time.Millisecond)
	}
}

// strayed names a thread of this process that is not in its namespace.
func strayed(t *testing.T, own string) string {
	t.Helper()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		if ns, err := os.Readlink("/proc/self/task/" + th.Name() + "/ns/net"); err == nil && ns != own {
			return fmt.Sprintf("thread %s is in %s, want %s", th.Name(), ns, own)
		}
	}
	return ""
}

func links(t *testing.T) string {
	t.Helper()
	ifs, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range ifs {
		names = append(names, i.Name)
	}
	return fmt.Sprint(names)
}
