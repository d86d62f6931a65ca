package volume

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/host/facts"
)

// Volumes of pods are parsed, and need nothing of this host.
func TestVolumesOfPods(t *testing.T) {
	for word, name := range map[string]string{
		"emptydir": "emptydir", "hostpath": "hostpath", "pvc:fast": "pvc-fast", "pvc:rook.ceph-block.v1": "pvc-rook-ceph-block-v1",
	} {
		v, err := Parse(word)
		if err != nil || v.String() != word || v.Name() != name {
			t.Errorf("%s: %s %s %v", word, v, v.Name(), err)
		}
		if !v.OfPod() || !IsOfPod(word) || v.Opens() || v.Binds() || v.Support(facts.Host{}).Answer != facts.Yes {
			t.Errorf("%s: of a pod %v, opens %v, binds %v", word, v.OfPod(), v.Opens(), v.Binds())
		}
		if len(v.Changes(Spec{})) > 0 {
			t.Errorf("%s changes the host", word)
		}
	}
	for word, says := range map[string]string{
		"pvc": "pvc:CLASS", "pvc:": "pvc:CLASS", "pvc:a,b": "kubectl get storageclass", "pvc:A": "kubectl get storageclass", "pvc:-a": "kubectl get storageclass",
		"emptydir:x": `"emptydir"`, "emptydirs": `"emptydir"`,
	} {
		if err := Check(word); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", word, err, says)
		}
		if IsOfPod(word) {
			t.Errorf("%s is a volume of a pod", word)
		}
	}
	for _, word := range []string{"", "layer", "bind", "tmpfs", "dir:/pvc", "loop:ext4", "nfs:pvc:/x"} {
		if IsOfPod(word) {
			t.Errorf("%q is a volume of a pod", word)
		}
	}
	if !slices.Contains(Words(), "pvc:CLASS") {
		t.Error("pvc:CLASS is no word")
	}
}
