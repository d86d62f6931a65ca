package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// oneSilent: a kubelet that is stopped in a run ends no connection and lets nothing
// through. The other node is measured to its end; what the lost one has measured comes
// when it is back, on the connection that there was.
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
	silent := ending(o.read(o.second.Name)) == "interrupted" // else a slow host was through with it before
	code := 0
	if silent {
		code = 1
	}
	here, there := o.records(code)
	if e := ending(here); e != "budget" || len(here.Manifest.Left) != 0 {
		t.Errorf("the other node ended: %s", e)
	}
	if e := ending(there); e != "budget" && !silent || windowsOf(there)["pod"] == 0 {
		t.Errorf("the lost node ended: %s, windows %v", e, windowsOf(there))
	}
	words := []string{"node " + o.second.Name + " is not ready: NodeStatusUnknown: Kubelet stopped posting node status"}
	if silent {
		words = append(words, "the client is lost", "nothing was heard of the client for 45s", "tare on node "+o.second.Name+" ended with exit code 1")
	}
	out := strings.Join(strings.Fields(o.out.String()), " ")
	for _, want := range words {
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q:\n%s", want, o.out.String())
		}
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
