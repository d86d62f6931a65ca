package main

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/testing/kubetest"
)

// wire is the way to an API server; it can be cut.
type wire struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	cut      bool
	conns    []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to}
	t.Cleanup(func() { l.Close(); w.set(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.join(c)
		}
	}()
	return w
}

func (w *wire) join(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	far, err := net.Dial("tcp", w.to)
	if err != nil || w.cut {
		c.Close()
		if err == nil {
			far.Close()
		}
		return
	}
	w.conns = append(w.conns, c, far)
	for _, pair := range [][2]net.Conn{{c, far}, {far, c}} {
		go func() {
			io.Copy(pair[0], pair[1])
			pair[0].Close()
			pair[1].Close()
		}()
	}
}

// set cuts the wire, or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for _, c := range w.conns {
			c.Close()
		}
		w.conns = nil
	}
}

// A connection that breaks ends the run on the node, which restores itself. Its result is
// lost, which the client says; when the cluster is back nothing is left.
func TestClusterNodeLost(t *testing.T) {
	kubetest.Need(t)
	var w *wire
	config := kubetest.Kubeconfig(t, func(_ *api.AuthInfo, c *api.Cluster) {
		u, err := url.Parse(c.Server)
		if err != nil {
			t.Fatal(err)
		}
		w = newWire(t, u.Host)
		c.Server = "https://" + w.listener.Addr().String()
	})
	o := fromOutside(t, "--kubeconfig", config)
	o.measuring()
	w.set(true)
	time.Sleep(5 * time.Second)
	w.set(false)
	o.wait(1)
	o.lost(o.node)
	o.clean()
}
