package pods

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

// TestLoadsImages checks the remedy on a node whose runtime is not containerd: tare cannot put its binary there.
func TestLoadsImages(t *testing.T) {
	for _, runtime := range []string{"cri-o://1.31.4", "docker://27.3.1", "cri-o://1.20.0-rc1"} {
		err := loadsImages("worker-1", runtime)
		remedy := hint.Of(err)
		if err == nil || !strings.Contains(err.Error(), runtime) || strings.Contains(remedy, "ctr") || !strings.Contains(remedy, "--nodes worker-1 --pod-image IMAGE") {
			t.Errorf("%s: %v (%s)", runtime, err, remedy)
		}
	}
	for _, runtime := range []string{"containerd://2.1.0", ""} {
		if err := loadsImages("worker-1", runtime); err != nil && strings.Contains(err.Error(), "worker-1") {
			t.Errorf("%q: %v", runtime, err)
		}
	}
}
