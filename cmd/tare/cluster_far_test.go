package main

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/environment/environmenttest"
	"github.com/tarelab/tare/internal/kube"
	"github.com/tarelab/tare/internal/kube/kubetest"
	"github.com/tarelab/tare/record"
)

// farPods is a server and its client, each in a pod of its own.
const farPods = `
budget: 20s
generations: 2
window: 100ms
arms:
  host: {environment: host}
  besteffort: {environment: besteffort}
  burstable: {environment: "burstable:memory=64Mi"}
  service: {environment: "besteffort:network=service"}
baseline: host
workloads:
  calls: {kind: rpc}
`

const farImage = "localhost/tare-far-test:1"

// farAway starts a run whose pods are led from here, as a user with no more rights
// than are printed for that; change is made to its kubeconfig.
func farAway(t *testing.T, admin *kubetest.Admin, change func(*api.Cluster)) *database {
	t.Helper()
	const user = "tare-far"
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "calls.yaml")
	if err := os.WriteFile(file, []byte(farPods), 0o600); err != nil {
		t.Fatal(err)
	}
	admin.Grant(t, user, kube.FarRights)
	config := kubetest.Kubeconfig(t, func(u *api.AuthInfo, c *api.Cluster) {
		u.Impersonate = user
		change(c)
	})
	return d.begin("run", file, "-o", d.dir, "--kubeconfig", config, "--nodes", admin.Nodes(t)[0], "--pod-image", farImage)
}

// shell puts an image with a shell into the node's containerd.
func shell(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shell.tar")
	address := kube.NewContainerd().Address
	for _, args := range [][]string{
		{"image", "build", "--from-host", "sh,head,wc,chmod,mv,sleep", "--tag", farImage, "-o", file},
		{"image", "load", file, "--into", "containerd", "--address", address},
	} {
		if out, err := exec.Command("/proc/self/exe", append([]string{"__cli"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ctr", "--address", address, "-n", "k8s.io", "images", "rm", "--sync", farImage).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v %s", err, out)
		}
	})
}

// TestClusterFar: pods of a node that tare is not on, and what can happen to them.
// Nothing is left each time.
func TestClusterFar(t *testing.T) {
	admin := kubetest.Need(t)
	shell(t)
	inSmallPods(t, "5s", 1).end(0) // what the first pod on a node leaves: a bridge
	before := environmenttest.TakeSnapshot(t)
	for _, f := range []struct {
		name string
		test func(*testing.T, *kubetest.Admin) (run string)
	}{
		{"a pod is deleted", farDeleted},
		{"the stream is cut", farCut},
		{"killed", farKilled},
	} {
		t.Run(f.name, func(t *testing.T) {
			run := f.test(t, admin)
			admin.AwaitNone(t)
			before.MustEqual(t, run)
		})
	}
}

func plainly(*api.Cluster) {}

// farDeleted: the run is measured, what needs the node is left out and missing by
// name, and a pod that somebody deletes costs its block.
func farDeleted(t *testing.T, admin *kubetest.Admin) string {
	d := farAway(t, admin, plainly).measuring()
	id := runID(d.dir)
	if code, said := admin.Do(t, http.MethodDelete, "/api/v1/namespaces/"+kube.NamespaceOf(id)+"/pods/burstable", nil); code != http.StatusOK {
		t.Fatalf("delete a pod: %d %s", code, said)
	}
	r := d.end(0)
	said, later := false, false
	for _, l := range r.Lines {
		if w := l.Warning; w != nil && w.Arm == "burstable" && strings.Contains(w.Text, "the stream to the pod broke") {
			said = true
		}
		if p := l.Pilot; p != nil && p.Pause != "stream" {
			t.Errorf("paused by %q", p.Pause)
		}
		if l.Block == nil || l.Block.Dropped != "" {
			continue
		}
		for _, w := range l.Block.Windows {
			later = later || l.Block.Generation > 0 && w.Arm == "burstable"
			if _, ok := w.Probes["cpu.time"].Get(); w.Ops == 0 || w.Start <= 0 || !ok {
				t.Errorf("window %+v", w)
			}
			if why := w.Probes["cpu.steal"].Reason(); !strings.Contains(why, "--node-helper") {
				t.Errorf("what only the node shows: %q", why)
			}
		}
	}
	if !said || !later {
		t.Errorf("said why: %v, measured in the next launch: %v\n%s", said, later, drops(r))
	}
	if b := r.Plan.Workloads[0].Baseline; b != "besteffort" {
		t.Errorf("the baseline is %s", b)
	}
	left := map[string]record.Left{}
	for _, l := range r.Manifest.Left {
		left[l.Arm] = l
	}
	for _, arm := range []string{"host", "service"} {
		if !strings.Contains(left[arm].Remedy, "--node-helper") {
			t.Errorf("%s is left out for %+v", arm, left[arm])
		}
	}
	settings := map[string]string{}
	for _, s := range r.Manifest.Settings["calls/besteffort"] {
		settings[s.Name] = s.Got
	}
	for name, want := range map[string]string{
		"kube.tare": "not on the node", "client": "in pod besteffort.client", "stream.clock": "off by at most",
		"seccomp": "filter", "capabilities": "0000000000000000", "pod.qos": "BestEffort",
	} {
		if !strings.Contains(settings[name], want) {
			t.Errorf("%s is %q, want %q", name, settings[name], want)
		}
	}
	if settings["pod.security"] != "" {
		t.Errorf("needs more than PodSecurity's restricted: %s", settings["pod.security"])
	}
	return id
}

// farCut: when the cluster is away the streams break, of the baseline too: the run
// ends and says why, its record is kept.
func farCut(t *testing.T, admin *kubetest.Admin) string {
	var w *wire
	d := farAway(t, admin, func(c *api.Cluster) {
		u, err := url.Parse(c.Server)
		if err != nil {
			t.Fatal(err)
		}
		w = newWire(t, u.Host)
		c.Server = "https://" + w.listener.Addr().String()
	}).measuring()
	w.set(true)
	time.Sleep(2 * time.Second)
	w.set(false)
	r := d.end(1)
	if last := r.Lines[len(r.Lines)-1]; last.End == nil || last.End.Reason != "error" || !strings.Contains(last.End.Detail, "the stream to the pod broke") {
		t.Errorf("%+v", last)
	}
	return runID(d.dir)
}

// farKilled: the pods end by themselves, and cleanup removes the rest.
func farKilled(t *testing.T, admin *kubetest.Admin) string {
	d := farAway(t, admin, plainly).measuring()
	id := runID(d.dir)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.cmd.Wait()
	ended := func() bool {
		var l struct {
			Items []struct{ Status struct{ Phase string } }
		}
		admin.Get(t, "/api/v1/namespaces/"+kube.NamespaceOf(id)+"/pods", &l)
		for _, p := range l.Items {
			if p.Status.Phase == "Running" {
				return false
			}
		}
		return len(l.Items) > 0
	}
	for end := time.Now().Add(time.Minute); !ended(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("pods run on without tare")
		}
	}
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	if _, err := record.Read(d.dir); err != nil {
		t.Error(err)
	}
	return id
}
