package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/workloadtest"
	"github.com/tarelab/tare/record"
)

// small is a load without any programs, on the host and in pods.
const small = `
budget: %s
generations: %d
window: 100ms
arms:
  host: {environment: host}
  besteffort: {environment: "besteffort:image=none"}
  burstable: {environment: "burstable:image=none,memory=64Mi,memory-limit=256Mi"}
baseline: host
workloads:
  io: {kind: commit, params: {log: 1MiB}}
`

// inSmallPods starts a run of small.
func inSmallPods(t *testing.T, budget string, generations int, args ...string) *database {
	t.Helper()
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "small.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, small, budget, generations), 0o600); err != nil {
		t.Fatal(err)
	}
	return d.begin(append([]string{"run", file, "-o", d.dir}, args...)...)
}

// firstPod starts a first pod on the node, once: that leaves a bridge behind.
func firstPod(t *testing.T) { first.Do(func() { inSmallPods(t, "5s", 1).end(0) }) }

var first sync.Once

// TestClusterFaults: faults of a cluster while arms are in its pods. Each time the record is kept,
// the run says what went wrong, and nothing is left.
func TestClusterFaults(t *testing.T) {
	admin := kubetest.Need(t)
	firstPod(t)
	before := environmenttest.TakeSnapshot(t)
	for _, f := range []struct {
		name string
		test func(*testing.T, *kubetest.Admin) (run string)
	}{
		{"evicted and out of memory", podsLost},
		{"API server away for 30 s", serverAway},
		{"killed while the API server is away", killedWhileAway},
		{"credentials expire", credentialsExpire},
		{"node not ready", nodeLost},
	} {
		t.Run(f.name, func(t *testing.T) {
			run := f.test(t, admin)
			admin.AwaitNone(t)
			admin.AwaitNodes(t, true)
			before.MustEqual(t, run)
		})
	}
}

// podsLost: a pod that is evicted, and one that runs out of memory, lose the window and the rest of
// the launch, with the reason. The second one is disturbed only after the run has noticed the
// first: the run looks at all arms then, and would find the second outside of a window.
func podsLost(t *testing.T, admin *kubetest.Admin) string {
	d := inSmallPods(t, "30s", 2).measuring()
	id := runID(d.dir)
	namespace := kube.NamespaceOf(id)
	eviction := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"besteffort","namespace":%q}}`, namespace)
	if code, said := admin.Do(t, http.MethodPost, "/api/v1/namespaces/"+namespace+"/pods/besteffort/eviction", []byte(eviction)); code != http.StatusCreated {
		t.Fatalf("evict: %d %s", code, said)
	}
	workloadtest.Eventually(t, "the evicted pod is missed", func() bool {
		b, _ := os.ReadFile(filepath.Join(d.dir, record.RecordFile))
		return bytes.Contains(b, []byte("EvictionByEvictionAPI"))
	})
	fillMemory(t, admin, namespace, "burstable")
	r := d.end(0)
	for arm, why := range map[string]string{"besteffort": "EvictionByEvictionAPI", "burstable": "out-of-memory killer"} {
		found, dropped, later := false, 0, false
		for _, l := range r.Lines {
			if w := l.Warning; w != nil && w.Arm == arm && strings.Contains(said.English(w.Text), why) {
				found = true
			}
			for _, w := range ofLine(l) {
				switch {
				case l.Block.Generation > 0:
					later = later || w.Arm == arm && w.Dropped == ""
				case w.Arm == arm && w.Dropped != "":
					dropped++
				}
			}
		}
		if !found || dropped == 0 || !later {
			t.Errorf("%s: said %q: %v, %d windows dropped, measured in the next launch: %v\n%s", arm, why, found, dropped, later, drops(r))
		}
	}
	return id
}

// ofLine returns the windows of a line of the record.
func ofLine(l record.Line) []record.Window {
	if l.Block == nil {
		return nil
	}
	return l.Block.Windows
}

// drops returns the reasons of the dropped windows.
func drops(r *record.Result) string {
	var all strings.Builder
	for _, l := range r.Lines {
		for _, w := range ofLine(l) {
			if w.Dropped != "" {
				fmt.Fprintf(&all, "dropped: %s: %s: %s\n", w.Arm, w.Dropped, w.Detail)
			}
		}
		if l.Warning != nil {
			fmt.Fprintf(&all, "warning: %s: %s (%s)\n", l.Warning.Arm, l.Warning.Text, l.Warning.Remedy)
		}
	}
	return all.String()
}

// fillMemory fills the memory of a pod with a file in memory, written from the pod's control group:
// it belongs to no process of the pod.
func fillMemory(t *testing.T, admin *kubetest.Admin, namespace, name string) {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tare-test", dir, "tmpfs", 0, "size=400m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	procs := filepath.Join(memoryGroup(t, admin, namespace, name), "cgroup.procs")
	script := `echo $$ >"$1" && exec dd if=/dev/zero of="$2" bs=1M count=390`
	fill := exec.Command("sh", "-c", script, "fill", procs, filepath.Join(dir, "file"))
	out, err := fill.CombinedOutput() // it is killed too, in the end
	t.Logf("filled the memory of %s: %v %s", name, err, bytes.TrimSpace(out))
	if err := unix.Unmount(dir, 0); err != nil {
		t.Error(err)
	}
}

// memoryGroup returns the directory of the control group of a pod's container.
func memoryGroup(t *testing.T, admin *kubetest.Admin, namespace, name string) (dir string) {
	t.Helper()
	var p corev1.Pod
	if code := admin.Get(t, "/api/v1/namespaces/"+namespace+"/pods/"+name, &p); code != http.StatusOK || len(p.Status.ContainerStatuses) == 0 {
		t.Fatalf("pod %s: %d %+v", name, code, p.Status)
	}
	_, id, _ := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "://")
	root := "/sys/fs/cgroup/memory"
	if _, err := os.Stat(root); err != nil {
		root = "/sys/fs/cgroup"
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), id) {
			dir = path
			return fs.SkipAll
		}
		return nil
	})
	if dir == "" {
		t.Fatalf("no group of container %s below %s", id, root)
	}
	return dir
}

// serverAway: the run goes on without the API server, and waits for it where it needs it.
func serverAway(t *testing.T, admin *kubetest.Admin) string {
	server := admin.Part(t, "kube-apiserver")
	d := inSmallPods(t, "20s", 2).measuring()
	server.Stop(t)
	time.Sleep(30 * time.Second)
	server.Continue(t)
	r := d.end(0)
	windows, warned := map[string]int{}, false
	for _, l := range r.Lines {
		if w := l.Warning; w != nil && strings.Contains(said.English(w.Text), "did not answer for") {
			warned = true
		}
		if l.Block == nil {
			continue
		}
		for _, w := range l.Block.Windows {
			if w.Ops > 0 {
				windows[w.Arm]++
			}
		}
	}
	if told := strings.Contains(d.out.String(), "has not answered for"); !warned || !told {
		t.Errorf("that the API server was away is in the record: %v, was told: %v\n%s", warned, told, d.out.String())
	}
	for _, arm := range []string{"host", "besteffort", "burstable"} {
		if windows[arm] == 0 {
			t.Errorf("no window of %s: %v\n%s", arm, windows, drops(r))
		}
	}
	return runID(d.dir)
}

// killedWhileAway: cleanup names what it cannot remove, and removes it as soon as it can.
func killedWhileAway(t *testing.T, admin *kubetest.Admin) string {
	server := admin.Part(t, "kube-apiserver")
	d := inSmallPods(t, "60s", 1).measuring()
	id := runID(d.dir)
	server.Stop(t)
	d.cmd.Process.Kill()
	d.cmd.Wait()
	out, err := d.tool("cleanup").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("namespace "+kube.NamespaceOf(id))) || !bytes.Contains(out, []byte("does not answer")) {
		t.Errorf("cleanup without the API server: %v\n%s", err, out)
	}
	for _, left := range leftOf(id) {
		t.Errorf("left on the host, which needs no cluster: %s", left)
	}
	server.Continue(t)
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup with the API server: %v\n%s", err, out)
	}
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("nothing to clean up")) {
		t.Errorf("once more: %v\n%s", err, out)
	}
	if _, err := record.Read(d.dir); err != nil {
		t.Error(err)
	}
	return id
}

// credentialsExpire: somebody removes the service account of a run.
func credentialsExpire(t *testing.T, admin *kubetest.Admin) string {
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	if code, said := admin.Do(t, http.MethodPost, accounts, []byte(`{"metadata":{"name":"tare-short"}}`)); code != http.StatusCreated {
		t.Fatalf("make an account: %d %s", code, said)
	}
	remove := func() { admin.Do(t, http.MethodDelete, accounts+"/tare-short", nil) }
	t.Cleanup(remove)
	admin.Grant(t, "system:serviceaccount:default:tare-short")
	code, said := admin.Do(t, http.MethodPost, accounts+"/tare-short/token", []byte(`{"spec":{"expirationSeconds":600}}`))
	var token struct{ Status struct{ Token string } }
	if err := json.Unmarshal(said, &token); err != nil || token.Status.Token == "" {
		t.Fatalf("a token: %d %s", code, said)
	}
	file := kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { *u = api.AuthInfo{Token: token.Status.Token} })
	d := inSmallPods(t, "20s", 1, "--kubeconfig", file).measuring()
	remove()
	r := d.end(1)
	if last := r.Lines[len(r.Lines)-1].End; last == nil || blocks(d.dir) == nil {
		t.Errorf("the record ends with %+v", last)
	}
	for _, want := range []string{"Unauthorized", "renew", "tare cleanup"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("nobody says %q:\n%s", want, d.out.String())
		}
	}
	out, err := d.tool("cleanup").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("Unauthorized")) {
		t.Errorf("cleanup without credentials: %v\n%s", err, out)
	}
	renewed, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err == nil {
		err = os.WriteFile(file, renewed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup with new ones: %v\n%s", err, out)
	}
	return runID(d.dir)
}

// nodeLost: the kubelet of a node is gone, its pods run on and are measured. The run says that they
// cannot be removed; they are removed when the kubelet is back.
func nodeLost(t *testing.T, admin *kubetest.Admin) string {
	kubelet := admin.Part(t, "kubelet")
	d := inSmallPods(t, "15s", 1).measuring()
	kubelet.Stop(t)
	r := d.end(1)
	if len(blocks(d.dir)) == 0 || r.Lines[len(r.Lines)-1].End == nil {
		t.Error("the record is not whole")
	}
	for _, want := range []string{"is not ready", "Kubelet stopped posting node status", "tare cleanup"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("nobody says %q:\n%s", want, d.out.String())
		}
	}
	plan, err := d.tool("plan", filepath.Join(d.home, "small.yaml")).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 || !bytes.Contains(plan, []byte("is not ready")) {
		t.Errorf("a plan on such a node: %v\n%s", err, plan)
	}
	kubelet.Continue(t)
	admin.AwaitNodes(t, true)
	if out, err := d.tool("cleanup").CombinedOutput(); err != nil {
		t.Errorf("cleanup when the node is back: %v\n%s", err, out)
	}
	return runID(d.dir)
}
