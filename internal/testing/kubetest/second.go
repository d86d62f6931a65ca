package kubetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Here is the name of the node that this host is.
func (a *Admin) Here(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	names := a.Nodes(t)
	if len(names) == 0 {
		t.Fatal("the cluster has no nodes")
	}
	if slices.Contains(names, strings.ToLower(host)) {
		return strings.ToLower(host)
	}
	return names[0]
}

// Second is the second node of a cluster of tools/cluster.
type Second struct {
	Name string
	// State is the path on this host of the node's /var/lib/tare.
	State string
	// Containerd is the socket of the node's containerd.
	Containerd string
	pid        int // of the node's first process
}

// Second finds the second node. In a cluster that tools/cluster did not make the test is
// skipped.
func (a *Admin) Second(t *testing.T) Second {
	t.Helper()
	p := a.Part(t, "kubelet") // skips the test in another cluster
	dir := filepath.Dir(os.Getenv("KUBECONFIG"))
	b, err := os.ReadFile(filepath.Join(dir, "pid", "node-2"))
	if err == nil && p.pid != 0 {
		s := Second{Name: a.Here(t) + "-2", State: filepath.Join(dir, "second/own/var-lib-tare"), Containerd: filepath.Join(dir, "second/containerd.sock")}
		if _, err = fmt.Sscan(string(b), &s.pid); err == nil && slices.Contains(a.Nodes(t), s.Name) {
			return s
		}
	}
	testneed.Feature(t, "second node", fmt.Errorf("tools/cluster: up -nodes 2: %w", err))
	return Second{}
}

// Look lists everything on the node that a run could leave: links, nftables, mounts, processes,
// images, files of tare. Of network namespaces it lists the node's directory, not their mounts:
// the host's mounts are visible in the node.
func (s Second) Look(t *testing.T) []string {
	t.Helper()
	const script = `ip -o link | sed 's/ .*\(mtu\)/ \1/'; nft list tables; cut -d' ' -f1-3 /proc/self/mounts | grep -v '^nsfs '; cat /proc/[0-9]*/comm
ls -A /var/lib/tare | grep -v '^journal$'; ls /run/netns; ctr --address "$1" -n k8s.io images ls -q; true`
	testneed.Tool(t, "nsenter")
	out, err := exec.Command("nsenter", "-t", fmt.Sprint(s.pid), "--all", "--", "sh", "-c", script, "look", s.Containerd).Output()
	if err != nil {
		t.Fatalf("look at node %s: %v", s.Name, err)
	}
	all := strings.Split(string(out), "\n")
	slices.Sort(all)
	return all
}

// MustEqual waits until the node is as it was before.
func (s Second) MustEqual(t *testing.T, before []string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		now := s.Look(t)
		if slices.Equal(now, before) {
			return
		}
		if time.Now().After(end) {
			t.Errorf("node %s was\n%s\nand is\n%s", s.Name, strings.Join(before, "\n"), strings.Join(now, "\n"))
			patience = impatience
			return
		}
	}
}
