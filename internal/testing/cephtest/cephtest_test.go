package cephtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// TestRBDStoreKilled: a killed store keeps all data that it had acknowledged.
func TestRBDStoreKilled(t *testing.T) {
	testneed.Long(t, "rbd")
	c := Start(t)
	c.Run("rados", "-p", Pool, "put", "kept", c.Config)
	c.KillStore()
	c.StartStore()
	back := filepath.Join(t.TempDir(), "back")
	c.Run("rados", "-p", Pool, "get", "kept", back)
	want, err := os.ReadFile(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(back); err != nil || string(got) != string(want) {
		t.Errorf("the object has %q, want %q: %v", got, want, err)
	}
}

// standIn is a cluster without servers, whose store is a script.
func standIn(t *testing.T, script string) *Cluster {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ceph-osd"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return &Cluster{t: t, dir: t.TempDir(), first: freePorts(t)}
}

// carryOut returns the host's answer to an order.
func carryOut(t *testing.T, c *Cluster, word string) string {
	t.Helper()
	l, err := net.Dial("tcp4", orders(c.first))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintln(l, word)
	answer, err := io.ReadAll(l)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(answer))
}

// The answer to an order says that the store did not start; the next order is carried out.
func TestOrders(t *testing.T) {
	c := standIn(t, "exec sleep 60")
	c.serveOrders()
	if got := carryOut(t, c, "start"); got != done {
		t.Errorf("start: %q", got)
	}
	if got := carryOut(t, c, "kill"); got != done {
		t.Errorf("kill: %q", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := carryOut(t, c, "start"); !strings.Contains(got, "ceph-osd") {
		t.Errorf("a store that is not there: %q", got)
	}
	if got := carryOut(t, c, "stop"); !strings.Contains(got, `"stop"`) {
		t.Errorf("an order that there is not: %q", got)
	}
}

// The output of a store before it was killed is kept.
func TestLogs(t *testing.T) {
	c := standIn(t, "echo said")
	for range 2 {
		c.StartStore()
		<-c.store.done
	}
	if b, err := os.ReadFile(filepath.Join(c.dir, "ceph-osd.out")); string(b) != "said\nsaid\n" {
		t.Errorf("%q: %v", b, err)
	}
}
