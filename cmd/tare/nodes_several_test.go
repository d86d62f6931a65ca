package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/imagebuild"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/record"
)

const onSeveral = `
budget: 12s
generations: 1
window: 100ms
arms:
  host: {environment: host}
  pod: {environment: "besteffort:image=none"}
baseline: host
workloads:
  calls: {kind: rpc}
`

// several is a client of the cluster that measures both nodes.
type several struct {
	*outside
	second kubetest.Second
}

func onSeveralNodes(t *testing.T, args ...string) *several {
	t.Helper()
	admin := kubetest.Need(t)
	s := &several{second: admin.Second(t)}
	s.outside = &outside{t: t, admin: admin, home: t.TempDir(), node: admin.Here(t), states: []string{hereState, s.second.State}}
	s.start(onSeveral, args...)
	return s
}

// records returns the records of both nodes, on which nothing may be left.
func (s *several) records(code int) (here, there *record.Result) {
	s.t.Helper()
	s.wait(code)
	s.t.Log(s.out.String())
	here, there = s.read(s.node), s.read(s.second.Name)
	s.clean()
	return here, there
}

func ending(r *record.Result) string {
	if last := r.Lines[len(r.Lines)-1]; last.End != nil {
		return last.End.Reason
	}
	return "not at all"
}

// TestClusterNodes: two nodes are measured, one after the other. A fault of one node does not
// affect the other.
func TestClusterNodes(t *testing.T) {
	oneAfterTheOther(t) // and what the first pod on a node leaves is there
	second := kubetest.Need(t).Second(t)
	shellFor(t, kube.NewContainerd().Address, second.Containerd)
	here, there := environmenttest.TakeSnapshot(t), second.Look(t)
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{{"interrupted", interruptedBetween}, {"one is lost", oneLost}, {"kubelet is stopped", oneSilent}, {"client on the other", clientOnTheOther}} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t)
			second.MustEqual(t, there)
			here.MustEqual(t, "no run's own")
		})
	}
}

// secondFirst measures the second node, then this one.
func secondFirst(t *testing.T, args ...string) *several {
	t.Helper()
	admin := kubetest.Need(t)
	return onSeveralNodes(t, append([]string{"--nodes", admin.Second(t).Name + "," + admin.Here(t)}, args...)...)
}

func oneAfterTheOther(t *testing.T) {
	t.Helper()
	o := secondFirst(t)
	here, there := o.records(0)
	if !here.Manifest.Started.After(there.Manifest.Started) {
		t.Errorf("node %s, which was named first, began at %v, the other at %v", o.second.Name, there.Manifest.Started, here.Manifest.Started)
	}
	for name, r := range map[string]*record.Result{o.node: here, o.second.Name: there} {
		if h := r.Manifest.Host; h.Helper == nil || h.Helper.Node != name || strings.ToLower(h.Name) != name && name == o.second.Name {
			t.Errorf("node %s: measured on %+v", name, h)
		}
		if n := windowsOf(r); n["host"] == 0 || n["pod"] == 0 {
			t.Errorf("node %s: windows %v, left out %+v", name, n, r.Manifest.Left)
		}
	}
	b, err := os.ReadFile(filepath.Join(o.dir, record.NodesFile))
	var side record.Nodes
	if err == nil {
		err = json.Unmarshal(b, &side)
	}
	if err != nil || len(side.Nodes) != 2 || side.Nodes[0].Name != o.second.Name || len(side.Left) != 0 {
		t.Errorf("side by side: %v %s", err, b)
	}
	for _, name := range []string{o.node, o.second.Name} {
		if _, err := os.Stat(filepath.Join(o.dir, name, record.PageFile)); err != nil {
			t.Errorf("the page of node %s: %v", name, err)
		}
	}
	out, err := o.tool("report", o.dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "on 2 nodes") || strings.Count(string(out), o.second.Name) < 1 {
		t.Errorf("report: %v\n%s", err, out)
	}
}

// interruptedBetween: Ctrl-C reaches the node that is being measured, and no other node begins.
func interruptedBetween(t *testing.T) {
	o := secondFirst(t, "--budget", "60s")
	o.measuring()
	o.cmd.Process.Signal(syscall.SIGINT)
	o.wait(130)
	if e := ending(o.read(o.second.Name)); e != "interrupted" {
		t.Errorf("ended: %s", e)
	}
	if _, err := os.Stat(filepath.Join(o.dir, o.node)); err == nil {
		t.Errorf("node %s was begun\n%s", o.node, o.out.String())
	}
	o.clean()
}

// oneLost: somebody removes the helper of one node. The node restores itself, and its result
// is lost; the other node is measured to its end.
func oneLost(t *testing.T) {
	o := secondFirst(t, "--budget", "18s")
	o.measuring()
	selector := url.Values{"labelSelector": {kube.LabelHelper + "=" + o.second.Name}}
	var pods corev1.PodList
	if code := o.admin.Get(t, "/api/v1/pods?"+selector.Encode(), &pods); code != http.StatusOK || len(pods.Items) != 1 {
		t.Fatalf("%d helpers of node %s (%d)", len(pods.Items), o.second.Name, code)
	}
	p := pods.Items[0]
	if code, said := o.admin.Do(t, http.MethodDelete, "/api/v1/namespaces/"+p.Namespace+"/pods/"+p.Name, nil); code != http.StatusOK {
		t.Fatalf("remove the helper: %d %s", code, said)
	}
	o.wait(1)
	if here := o.read(o.node); ending(here) != "budget" && ending(here) != "precision" || len(here.Manifest.Left) != 0 {
		t.Errorf("the other node ended: %s", ending(here))
	}
	o.lost(o.second.Name)
	o.clean()
	var side record.Nodes
	b, err := os.ReadFile(filepath.Join(o.dir, record.NodesFile))
	if err == nil {
		err = json.Unmarshal(b, &side)
	}
	if err != nil || len(side.Nodes) != 1 || len(side.Left) != 1 || side.Left[0].Arm != o.second.Name || side.Left[0].Remedy.IsZero() {
		t.Errorf("side by side: %v %s", err, b)
	}
}

const shellImage = "localhost/tare-shell-test:1"

// shellFor puts an image with a shell into containerds.
func shellFor(t *testing.T, addresses ...string) {
	t.Helper()
	file := imagebuild.Build(t, shellImage, "/proc/self/exe", "sh", "head", "wc", "chmod", "mv", "sleep").File
	for _, a := range addresses {
		load := exec.Command("/proc/self/exe", "__cli", "image", "load", file, "--into", "containerd", "--address", a)
		if out, err := load.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", load.Args, err, out)
		}
		t.Cleanup(func() {
			if out, err := exec.Command("ctr", "--address", a, "-n", "k8s.io", "images", "rm", "--sync", shellImage).CombinedOutput(); err != nil {
				t.Errorf("remove the image: %v %s", err, out)
			}
		})
	}
}

const acrossNodes = `
budget: 12s
generations: 1
window: 100ms
arms:
  beside: {environment: besteffort}
  across: {environment: "besteffort:client=node:%s"}
  nowhere: {environment: "besteffort:client=node:nowhere"}
  same: {environment: "besteffort:client=node:%s"}
baseline: beside
workloads:
  calls: {kind: rpc}
`

// clientOnTheOther: a client on another node than its server's is measured beside a client on the
// same node.
func clientOnTheOther(t *testing.T) {
	admin := kubetest.Need(t)
	here, there := admin.Here(t), admin.Second(t).Name
	run := func() *database {
		return runOn(t, fmt.Sprintf(acrossNodes, there, here), "--nodes", here, "--pod-image", shellImage)
	}
	d := run()
	// Six copies of the binary on their way at once may keep a busy host from answering until
	// somebody gives the connection up.
	d.cmd.Wait()
	if out := d.out.String(); strings.Contains(out, "silent for") || strings.Contains(out, "the stream to the pod broke") {
		t.Log(out)
		admin.AwaitNodes(t, true)
		d = run()
	}
	r := d.end(0)
	windows := windowsOf(r)
	for arm, node := range map[string]string{"beside": here, "across": there} {
		client := ""
		for _, s := range r.Manifest.Settings["calls/"+arm] {
			if s.Name == "client" {
				client = s.Got
			}
		}
		if want := "in pod " + arm + ".client on node " + node; windows[arm] == 0 || client != want {
			t.Errorf("%s: windows %v, client %q, want %q\n%s", arm, windows, client, want, d.out.String())
		}
		b, err := os.ReadFile(filepath.Join(d.dir, record.ByHandDir, "calls-"+arm+".yaml"))
		if err != nil || strings.Count(string(b), "kind: Pod") != 2 {
			t.Errorf("%s by hand: %v\n%s", arm, err, b)
		}
	}
	left := map[string]record.Left{}
	for _, l := range r.Manifest.Left {
		left[l.Arm] = l
	}
	if l := left["nowhere"]; !strings.Contains(said.English(l.Reason), `no node "nowhere"`) || !strings.Contains(said.English(l.Remedy), there) {
		t.Errorf("a node that is not there: %+v", l)
	}
	if l := left["same"]; !strings.Contains(said.English(l.Reason), "the node of the server") || !strings.Contains(said.English(l.Remedy), "client=pod") {
		t.Errorf("the server's own node: %+v", l)
	}
}

// runOn starts a run of an experiment without any programs.
func runOn(t *testing.T, experiment string, args ...string) *database {
	t.Helper()
	home := t.TempDir()
	d := &database{t: t, home: home, dir: filepath.Join(home, "result")}
	file := filepath.Join(home, "across.yaml")
	if err := os.WriteFile(file, []byte(experiment), 0o600); err != nil {
		t.Fatal(err)
	}
	return d.begin(append([]string{"run", file, "-o", d.dir}, args...)...)
}
