package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/record"
)

// farPods is a server and its client, each in a pod of its own; the test makes CLASS.
const farPods = `
budget: 32s
generations: 2
window: 100ms
arms:
  host: {environment: host}
  besteffort: {environment: besteffort}
  burstable: {environment: "burstable:memory=64Mi,volume=pvc:CLASS,network=service"}
  directory: {environment: "besteffort:volume=hostpath"}
baseline: host
workloads:
  calls: {kind: rpc}
`

const farImage = "localhost/tare-far-test:1"

const farUser = "tare-far"

// farRights are the rights that the pods of farPods need beyond those of every run.
var farRights = kube.PodSpec{Service: true, Volume: kube.Volume{Class: "any"}}.Rights()

// farAway starts a run on pods of another node, as a user who has no rights yet; change is made to
// the user's kubeconfig. The claims are of a storage class of their own, on which nothing may be
// left.
func farAway(t *testing.T, admin *kubetest.Admin, change func(*api.Cluster), more ...string) *database {
	t.Helper()
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "calls.yaml")
	class, volumes := admin.LocalClass(t, 3)
	t.Cleanup(func() {
		if left, err := filepath.Glob(filepath.Join(volumes, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("left on volumes: %v %v", left, err)
		}
	})
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(farPods, "CLASS", class)), 0o600); err != nil {
		t.Fatal(err)
	}
	config := kubetest.Kubeconfig(t, func(u *api.AuthInfo, c *api.Cluster) {
		u.Impersonate = farUser
		change(c)
	})
	args := []string{"run", file, "-o", d.dir, "--kubeconfig", config, "--nodes", admin.Nodes(t)[0], "--pod-image", farImage}
	return d.begin(append(args, more...)...)
}

// shell puts an image with a shell and programs of this host into the node's containerd.
func shell(t *testing.T, more ...string) {
	t.Helper()
	programs := append([]string{"sh", "head", "wc", "chmod", "mv", "sleep", "gzip"}, more...)
	file := imagebuild.Build(t, farImage, "/proc/self/exe", programs...).File
	address := kube.NewContainerd().Address
	load := exec.Command("/proc/self/exe", "__cli", "image", "load", file, "--into", "containerd", "--address", address)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", load.Args, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("ctr", "--address", address, "-n", "k8s.io", "images", "rm", "--sync", farImage).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v %s", err, out)
		}
	})
}

// TestClusterFar: pods of a node on which tare does not run, and faults of them. Nothing is left
// each time.
func TestClusterFar(t *testing.T) {
	admin := kubetest.Need(t)
	shell(t)
	firstPod(t)
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

// farDeleted: the run is measured. What needs the node is left out, or missing by name. A pod that
// somebody deletes costs its block.
func farDeleted(t *testing.T, admin *kubetest.Admin) string {
	admin.Grant(t, farUser, kube.FarRights, farRights)
	d := farAway(t, admin, plainly).measuring()
	id := runID(d.dir)
	if code, said := admin.Do(t, http.MethodDelete, "/api/v1/namespaces/"+kube.NamespaceOf(id)+"/pods/burstable", nil); code != http.StatusOK {
		t.Fatalf("delete a pod: %d %s", code, said)
	}
	gone := time.Now().Add(5 * time.Second) // its grace, and the kubelet's turn
	r := d.end(0)
	found, needed, relaunched, later := false, false, false, false
	for _, l := range r.Lines {
		// Where launches take long, the launch ends before the pod does.
		needed = needed || l.Block != nil && l.Block.Generation == 0 && l.Time.After(gone)
		if w := l.Warning; w != nil && w.Arm == "burstable" && strings.Contains(said.English(w.Text), "the stream to the pod broke") {
			found = true
		}
		if p := l.Pilot; p != nil && p.Pause != "stream" {
			t.Errorf("paused by %q", p.Pause)
		}
		if l.Block == nil {
			continue
		}
		relaunched = relaunched || l.Block.Generation > 0 // a busy host may have had no time for it
		for _, w := range l.Block.Windows {
			if w.Dropped != "" {
				continue
			}
			later = later || l.Block.Generation > 0 && w.Arm == "burstable"
			if _, ok := w.Probes["cpu.time"].Get(); w.Start <= 0 || !ok {
				t.Errorf("window %+v", w)
			}
			if why := w.Probes["cpu.steal"].Reason(); !strings.Contains(said.English(why), "--node-helper") {
				t.Errorf("what only the node shows: %q", why)
			}
		}
	}
	if needed && !found || relaunched && !later {
		t.Errorf("said why: %v, measured in the next launch: %v\n%s", found, later, drops(r))
	}
	farDescribed(t, r)
	return id
}

// farDescribed checks that a result describes the pods of another node, and what was left out
// because tare does not run on that node.
func farDescribed(t *testing.T, r *record.Result) {
	t.Helper()
	if b := r.Plan.Workloads[0].Baseline; b != "besteffort" {
		t.Errorf("the baseline is %s", b)
	}
	left := map[string]record.Left{}
	for _, l := range r.Manifest.Left {
		left[l.Arm] = l
	}
	for _, arm := range []string{"host", "directory"} {
		if !strings.Contains(said.English(left[arm].Remedy), "--node-helper") {
			t.Errorf("%s is left out for %+v", arm, left[arm])
		}
	}
	for arm, want := range map[string]map[string]string{
		"besteffort": {
			"kube.tare": "not on the node", "client": "in pod besteffort.client", "stream.clock": "off by at most",
			"seccomp": "filter", "capabilities.effective": "0000000000000000", "pod.qos": "BestEffort",
		},
		"burstable": {
			"network.service": ":", "network.leads": ":", "network.client": " ",
			"pod.volume.persistent": ", local", "pod.volume.capacity": "4Gi", "volume.fs": "",
		},
	} {
		said := settingsIn(r, "calls/"+arm)
		for name, want := range want {
			if got := said[name]; got == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", arm, name, got, want)
			}
		}
		if said["pod.security"] != "" {
			t.Errorf("%s needs more than PodSecurity's restricted: %s", arm, said["pod.security"])
		}
	}
	if a := settingsIn(r, "calls/burstable"); a["network.service"] == a["network.leads"] {
		t.Errorf("the Service is the pod: %v", a)
	}
}

// settingsIn returns the settings of an arm in a result, by name.
func settingsIn(r *record.Result, arm string) map[string]string {
	all := map[string]string{}
	for _, s := range r.Manifest.Settings[arm] {
		all[s.Name] = s.Got
	}
	return all
}

// farCut: when the cluster cannot be reached the streams break, the baseline's too. The run ends
// and says why, and its record is kept.
func farCut(t *testing.T, admin *kubetest.Admin) string {
	var w *wire
	admin.Grant(t, farUser, kube.FarRights, farRights)
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
	w.listener.Close()
	w.set(true) // nothing of it is left when that is looked at
	if last := r.Lines[len(r.Lines)-1]; last.End == nil || last.End.Reason != "error" || !strings.Contains(last.End.Detail, "the stream to the pod broke") {
		t.Errorf("%+v", last)
	}
	return runID(d.dir)
}

// farKilled: the user has rights in one namespace only, which others use too. When tare is killed
// the pods end by themselves, and cleanup removes them.
func farKilled(t *testing.T, admin *kubetest.Admin) string {
	const space = "tare-test-shared"
	pods := sharedNamespace(t, admin, space)
	d := farAway(t, admin, plainly, "--namespace", space).measuring()
	id := runID(d.dir)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.cmd.Wait()
	running := func() bool {
		return slices.ContainsFunc(pods(), func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	}
	for end := time.Now().Add(time.Minute); running(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("pods run on without tare")
		}
	}
	for _, p := range pods() {
		if !strings.HasPrefix(p.Name, "tare-"+id+"-") {
			t.Errorf("pod %s of run %s", p.Name, id)
		}
	}
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup: %v\n%s", err, out)
	}
	if left := pods(); len(left) > 0 {
		t.Errorf("%d pods are left", len(left))
	}
	if _, err := record.Read(d.dir); err != nil {
		t.Error(err)
	}
	return id
}

// sharedNamespace makes a namespace in which the user has the rights that tare prints for it and no
// others, and lists the pods in it. The namespace is removed with the test.
func sharedNamespace(t *testing.T, admin *kubetest.Admin, space string) (pods func() []corev1.Pod) {
	t.Helper()
	post := func(path string, body []byte) {
		t.Helper()
		if code, said := admin.Do(t, http.MethodPost, path, body); code != http.StatusCreated {
			t.Fatalf("POST %s: %d %s", path, code, said)
		}
	}
	const namespaces = "/api/v1/namespaces"
	post(namespaces, fmt.Appendf(nil, `{"metadata":{"name":%q,"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`, space))
	t.Cleanup(func() {
		admin.Do(t, http.MethodDelete, namespaces+"/"+space, nil)
		for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			if code, _ := admin.Do(t, http.MethodGet, namespaces+"/"+space, nil); code == http.StatusNotFound {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("namespace %s does not go", space)
			}
		}
	})
	text, err := kube.SharedRBAC(kube.For{User: farUser}, space, farRights)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "---\n") {
		body, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		kind := "rolebindings"
		if strings.Contains(string(body), `"kind":"Role",`) && !strings.Contains(string(body), "roleRef") {
			kind = "roles"
		}
		post("/apis/rbac.authorization.k8s.io/v1/namespaces/"+space+"/"+kind, body)
	}
	return func() []corev1.Pod {
		var l corev1.PodList
		admin.Get(t, namespaces+"/"+space+"/pods", &l)
		return l.Items
	}
}
