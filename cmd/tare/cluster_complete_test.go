package main

import (
	"os"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/testing/kubetest"
)

// A shell gets the nodes and StorageClasses of a real cluster.
func TestClusterComplete(t *testing.T) {
	admin := kubetest.Need(t)
	class, _ := admin.LocalClass(t, 1)
	k := newTypist(t, "https://nobody.invalid")
	k.env = append(k.env, "KUBECONFIG="+os.Getenv("KUBECONFIG"))
	nodes := k.asks(t, "zsh", "run", "--nodes", "")
	for _, name := range admin.Nodes(t) {
		if !slices.Contains(nodes, name) {
			t.Errorf("no node %s in %q", name, nodes)
		}
	}
	if classes := k.asks(t, "zsh", "run", "--volume", "pvc:"); !slices.Contains(classes, "pvc:"+class) {
		t.Errorf("no class %s in %q", class, classes)
	}
}
