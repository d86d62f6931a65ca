package cephtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// given is the directory in a virtual machine with what its host gives it; it is empty if the
// host gives nothing.
const given = "/vm/with"

// host is the address of the host's loopback in the network of a virtual machine.
const host = "10.0.2.2"

// orders is the address at which the host takes a machine's orders for the store.
func orders(first int) string { return fmt.Sprintf("127.0.0.1:%d", first+ports-1) }

// done is the answer to an order that was carried out.
const done = "done"

// serveOrders carries out orders, one word on each connection, until the test ends.
func (c *Cluster) serveOrders() {
	l, err := net.Listen("tcp4", orders(c.first))
	if err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	c.t.Cleanup(func() { l.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			asks, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(asks, c.carryOut(asks))
			asks.Close()
		}
	}()
}

// carryOut carries out the order of one connection and returns the answer.
func (c *Cluster) carryOut(asks io.Reader) string {
	var word string
	_, err := fmt.Fscanln(asks, &word)
	switch {
	case err != nil:
	case word == "kill":
		c.KillStore()
	case word == "start":
		err = c.startStore()
	default:
		err = fmt.Errorf("nobody knows the order %q", word)
	}
	if err != nil {
		return err.Error()
	}
	return done
}

// Give writes a directory with which a virtual machine on this host can reach the cluster: its
// configuration and its ports. Until the test ends the machine can kill the store.
func (c *Cluster) Give(dir string) {
	c.t.Helper()
	text, err := os.ReadFile(c.Config)
	if err != nil {
		c.t.Fatal(err)
	}
	// The machine has no other files of the cluster.
	conf := strings.ReplaceAll(string(text), c.dir, "/run/ceph")
	for name, text := range map[string]string{"ceph.conf": conf, "ports": fmt.Sprintln(c.first, ports)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	c.serveOrders()
}

// Reached is the host's cluster in a virtual machine: at the same addresses on the machine's
// own loopback, from which connections are forwarded.
type Reached struct {
	Config string

	mu    sync.Mutex
	open  *sync.Cond
	cut   bool
	delay time.Duration

	t      testing.TB
	orders string
}

// Reach forwards connections until the test ends. On a machine without a cluster it skips the
// test.
func Reach(t testing.TB) *Reached {
	t.Helper()
	testneed.Long(t, "uml")
	r := &Reached{Config: filepath.Join(given, "ceph.conf"), t: t}
	r.open = sync.NewCond(&r.mu)
	b, err := os.ReadFile(filepath.Join(given, "ports"))
	if os.IsNotExist(err) {
		t.Skip("this virtual machine was given no Ceph cluster: make rbd gives one")
	}
	var first, many int
	if err == nil {
		_, err = fmt.Sscan(string(b), &first, &many)
	}
	if err == nil {
		err = os.MkdirAll("/run/ceph", 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.orders = orders(first)
	for port := first; port < first+many; port++ {
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go r.accept(l, fmt.Sprintf("%s:%d", host, port))
	}
	t.Setenv("CEPH_CONF", r.Config)
	return r
}

// KillStore makes the host kill the store, StartStore start it again.
func (r *Reached) KillStore()  { r.order("kill") }
func (r *Reached) StartStore() { r.order("start") }

func (r *Reached) order(word string) {
	r.t.Helper()
	c, err := net.Dial("tcp4", r.orders)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintln(c, word); err != nil {
		r.t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || strings.TrimSpace(string(answer)) != done {
		r.t.Fatalf("%s: the host answers %q: %v", word, answer, err)
	}
}

// Delay delays all data from now on, in each direction.
func (r *Reached) Delay(by time.Duration) { r.mu.Lock(); defer r.mu.Unlock(); r.delay = by }

// Cut stops all data until Mend.
func (r *Reached) Cut() { r.mu.Lock(); defer r.mu.Unlock(); r.cut = true }

// Mend ends Cut.
func (r *Reached) Mend() { r.mu.Lock(); defer r.mu.Unlock(); r.cut = false; r.open.Broadcast() }

func (r *Reached) accept(l net.Listener, to string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp4", to)
		if err != nil {
			c.Close()
			continue
		}
		go r.pass(c, far)
		go r.pass(far, c)
	}
}

// piece is the data of one read, and when to pass it on.
type piece struct {
	bytes []byte
	due   time.Time
}

// pass passes data from one end to the other.
func (r *Reached) pass(from, to net.Conn) {
	pieces := make(chan piece, 1024)
	go func() {
		defer to.Close()
		defer from.Close()
		for p := range pieces {
			time.Sleep(time.Until(p.due))
			r.mu.Lock()
			for r.cut {
				r.open.Wait()
			}
			r.mu.Unlock()
			if _, err := to.Write(p.bytes); err != nil {
				_, _ = io.Copy(io.Discard, from)
				break
			}
		}
		for range pieces { // until the reader has ended
		}
	}()
	defer close(pieces)
	for {
		buf := make([]byte, 64<<10)
		n, err := from.Read(buf)
		if n > 0 {
			r.mu.Lock()
			due := time.Now().Add(r.delay)
			r.mu.Unlock()
			pieces <- piece{buf[:n], due}
		}
		if err != nil {
			return
		}
	}
}
