package pods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/kubetest"
)

// TestClusterVolumes tests data on the volume of a claim and in a directory of the node, and the errors of
// volumes that cannot be had.
func TestClusterVolumes(t *testing.T) {
	admin := warm(t)
	class, dir := admin.LocalClass(t, 4)
	t.Run("errors", func(t *testing.T) { tryVolumeErrors(t, class) })
	t.Run("hostpath", tryHostPath)
	t.Run("claim", func(t *testing.T) { tryClaim(t, admin, class, dir) })
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left on the volumes: %v %v", left, err)
	}
}

func tryClaim(t *testing.T, admin *kubetest.Admin, class, dir string) {
	env := with(t, Burstable, "image=none,memory=256Mi,volume=pvc:"+class)
	use(t, kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = "tare-claims" })})
	admin.Grant(t, "tare-claims", env.Rights())
	arm, err := opened(t, env, runID("claim"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, arm)
	t.Log(s["pod.volume"], s["pod.volume.persistent"], s["pod.volume.capacity"], arm.Place().HostVolume)
	if s["pod.volume"] != "pvc:"+class || !strings.HasSuffix(s["pod.volume.persistent"], ", local") || s["pod.volume.capacity"] != "4Gi" || s["pod.security"] != "" {
		t.Errorf("%v", s)
	}
	if at := arm.Place().HostVolume; !strings.HasPrefix(at, dir+"/") {
		t.Errorf("the host has it at %s, not below %s", at, dir)
	}
	if _, text := arm.Reproduction(); !strings.Contains(string(text), "kind: PersistentVolumeClaim") {
		t.Errorf("%s", text)
	}
	if err := arm.Close(); err != nil {
		t.Error(err)
	}
}

// tryVolumeErrors checks that errors of volumes have the messages of the cluster and of the node.
func tryVolumeErrors(t *testing.T, class string) {
	for _, c := range []struct{ name, volume, says, helps string }{
		{"no such class", "pvc:none-such", `storageclass.storage.k8s.io "none-such" not found`, "kubectl get storageclass"},
		{"none so large", "pvc:" + class + ",volume-size=8Ti", "persistent volumes to bind", "volume-size"},
		{"no client of NFS", "nfs:127.0.0.1:/export", "FailedMount", "nfs-common"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each is a wait
			if _, err := os.Stat("/sbin/mount.nfs"); err == nil && strings.HasPrefix(c.volume, nfsVolume) {
				t.Skip("this node has one")
			}
			_, err := opened(t, with(t, BestEffort, "image=none,volume="+c.volume), runID("vol"))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.helps) {
				t.Fatalf("%v; %s", err, hint.Of(err))
			}
			t.Log(err, "\n", hint.Of(err))
		})
	}
}

func tryHostPath(t *testing.T) {
	env := with(t, BestEffort, "image=none,volume=hostpath")
	arm, err := opened(t, env, runID("path"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, arm)
	if s["pod.volume"] != hostPathVolume || !strings.Contains(s["pod.security"], "hostPath: the volume") {
		t.Errorf("%v", s)
	}
	if _, err := started(t, arm); err != nil {
		t.Error(err)
	}
	if err := arm.Close(); err != nil {
		t.Error(err)
	}
}
