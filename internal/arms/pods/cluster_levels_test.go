package pods

import (
	"os/exec"
	"testing"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
)

// levelCases has the cases for each level. TestCluster runs the whole suite with a Guaranteed pod that has
// tare's binary alone, the pod network, an emptyDir, and its client on the node. A level changes one of
// these, so it needs the cases that use it. The test replaces CLASS and NAME.
var levelCases = []struct {
	qos    QoS
	levels string
	cases  []string
}{
	// The client is in another pod, and another group freezes it.
	{BestEffort, "client=pod", []string{"freeze and thaw"}},
	{BestEffort, "client=pod,network=service", []string{"server and client"}},
	// Ways to the server, and network namespaces of the pod.
	{BestEffort, "network=host", []string{"server and client", "what a process is given"}},
	{Burstable, "network=service", []string{"server and client", "closed while in use"}},
	// Volumes of the data, and their removal.
	{BestEffort, "volume=hostpath", []string{"data"}},
	{Burstable, "volume=pvc:CLASS", []string{"data", "closed while frozen"}},
	// Exclusive CPUs are among the limits that are read back.
	{Guaranteed, "cpu=integer,memory=128Mi", []string{"settings"}},
	// Another image is the root, and the binary was copied into it.
	{BestEffort, "image=NAME", []string{"what a process is given"}},
}

// TestClusterLevels runs the suite's cases in which the levels of pods can differ.
func TestClusterLevels(t *testing.T) {
	admin := warm(t)
	class, _ := admin.LocalClass(t, 4)
	image := otherImage(t)
	var levels []environmenttest.Level
	var pods []environment.Environment
	for _, c := range levelCases {
		text := levelText(c.levels, class, image)
		pod := with(t, c.qos, text)
		pods = append(pods, pod)
		levels = append(levels, environmenttest.Level{Name: c.levels, Env: pod, Options: environmenttest.Options{Kinds: kinds(), Cases: c.cases}})
	}
	environmenttest.Levels(t, hostWith(t, pods...), levels)
}

// otherImage makes an image that stands for a user's image: tare's own under another name. The binary is
// copied into its pods.
func otherImage(t *testing.T) string {
	t.Helper()
	const name = "localhost/tare-other:1"
	ctr := func(args ...string) {
		t.Helper()
		c := kube.NewContainerd()
		if out, err := exec.Command("ctr", append([]string{"--address", c.Address, "-n", "k8s.io"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run := runID("other")
	if err := kube.NewContainerd().Load(t.Context(), run, selfPath, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kube.NewContainerd().Remove(kube.ImageOf(run)); err != nil {
			t.Error(err)
		}
	})
	ctr("images", "tag", kube.ImageOf(run), name)
	t.Cleanup(func() { ctr("images", "rm", "--sync", name) })
	ctr("images", "rm", kube.ImageOf(run))
	return name
}
