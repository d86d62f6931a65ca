package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// oneSilent: a kubelet that is stopped in a run ends no connection and lets nothing
// through. The node ends its run and restores itself, and its result is lost; the other
// node is measured to its end.
func oneSilent(t *testing.T) {
	o := secondFirst(t, "--budget", "64s", "--precision", "0.01%")
	kubelet := o.second.Part(t, o.admin, "kubelet")
	o.measuring()
	kubelet.Stop(t)
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(o.out.String(), "is not ready"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody says that the node is not ready:\n%s", o.out.String())
		}
	}
	kubelet.Continue(t)
	o.cmd.Wait()
	lost, code := true, 1
	if _, err := os.Stat(filepath.Join(o.dir, o.second.Name)); err == nil { // a slow host was through before the node noticed the silence
		lost, code = false, 0
	}
	o.wait(code)
	o.t.Log(o.out.String())
	here := o.read(o.node)
	if e := ending(here); e != "budget" || len(here.Manifest.Left) != 0 {
		t.Errorf("the other node ended: %s", e)
	}
	if !lost {
		if there := o.read(o.second.Name); ending(there) != "budget" || windowsOf(there)["pod"] == 0 {
			t.Errorf("the silent node ended: %s, windows %v", ending(there), windowsOf(there))
		}
	}
	o.clean()
	if lost {
		o.lost(o.second.Name)
	}
	said := "node " + o.second.Name + " is not ready: NodeStatusUnknown: Kubelet stopped posting node status"
	if out := strings.Join(strings.Fields(o.out.String()), " "); !strings.Contains(out, said) {
		t.Errorf("does not say %q:\n%s", said, o.out.String())
	}
	o.admin.AwaitNodes(t, true)
}

// heard returns what a command has printed so far.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}
