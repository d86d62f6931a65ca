package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOfContainer finds a container of each runtime and driver beside its monitor, which has the id in its name too.
func TestOfContainer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp("", "groups")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		id := rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "id")
		name := rapid.SampledFrom([]string{"ID", "cri-containerd-ID.scope", "crio-ID.scope", "docker-ID.scope", "libpod-ID.scope"}).Draw(t, "name")
		want := filepath.Join(root, rapid.SampledFrom([]string{"kubepods.slice/pod1.slice", "system.slice", ""}).Draw(t, "slice"), strings.ReplaceAll(name, "ID", id))
		others := []string{"crio-conmon-" + id + ".scope", "libpod-conmon-" + id + ".scope", id[1:], "x" + id, id + ".scope.d", "crio-" + id[1:] + ".scope"}
		for _, other := range others {
			if err := os.MkdirAll(filepath.Join(filepath.Dir(want), other, "container"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		tree := &Tree{Layout: V2, V2: root}
		if got, err := tree.OfContainer(id); err == nil {
			t.Fatalf("found %s, and there is only its monitor", got)
		}
		if err := os.Mkdir(want, 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := tree.OfContainer(id); err != nil || got != want {
			t.Fatalf("found %q, %v; want %q", got, err, want)
		}
	})
}
