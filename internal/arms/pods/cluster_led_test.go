package pods

import (
	"os"
	"os/exec"
	"testing"

	"github.com/tarelab/tare/internal/outside/engine"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/kubetest"
)

// awayEnv names the node of the pods for a process of the suite that acts as if it were on another node.
const awayEnv = "TARETEST_AWAY"

// away makes this process control its pods over streams if awayEnv is set.
func away() {
	if node := os.Getenv(awayEnv); node != "" {
		target.PodNode, target.Image = node, ledImage
	}
}

const ledImage = "localhost/tare-led-test:1"

// shellImage puts an image with a shell into the node's containerd.
func shellImage(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info := imagebuild.Build(t, ledImage, self, "sh", "head", "wc", "chmod", "mv", "sleep")
	ctr, err := exec.LookPath("ctr")
	if err != nil {
		t.Fatal(err)
	}
	c := kube.NewContainerd()
	if err := info.Load(t.Context(), engine.Containerd{Path: ctr, Address: c.Address, Namespace: "k8s.io"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(ctr, "--address", c.Address, "-n", "k8s.io", "images", "rm", "--sync", ledImage).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v %s", err, out)
		}
	})
}

// TestClusterLed runs the conformance suite with remote arms, as far as it does not need the node.
func TestClusterLed(t *testing.T) {
	admin := kubetest.Need(t)
	warm(t)
	shellImage(t)
	here := admin.Here(t)
	t.Setenv(awayEnv, here)
	access := target.Access
	access.PodNode, access.Image = here, ledImage
	use(t, access)
	environmenttest.Run(t, bare()[0], hostWith(t, bare()[0]), environmenttest.Options{Kinds: kinds(), Led: true, Kills: 1})
}
