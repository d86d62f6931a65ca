package analysis

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/record"
)

// nodeWith makes a node with the settings of two arms in pods.
func nodeWith(name, kernel, kubelet, quota, image string) OfNode {
	settings := func(quota string) []record.Setting {
		return []record.Setting{
			{Name: "cgroup", Got: "kubepods/pod-" + name}, {Name: "kube.node", Got: name}, {Name: "kube.kubelet", Got: kubelet},
			{Name: "client", Got: "on node " + name + ", in no pod"}, {Name: "pod.image", Got: image}, {Name: "pod.image.id", Got: "sha256:" + name},
			{Name: "network.service", Got: "10.0.0." + name[len(name)-1:] + ":1"}, {Name: "cpu.cfs_quota_us", Got: quota}, {Name: "seccomp", Got: "filter"},
		}
	}
	e := &record.Effects{Host: record.Host{Kernel: kernel, CPUs: 2, Memory: 8 << 30, Mitigations: map[string]string{"spectre_v2": kernel}},
		Workloads: []record.WorkloadResult{{Name: "db"}},
		Arms: []record.ArmResult{{Workload: "db", Arm: "host"}, {Workload: "db", Arm: "pod", Settings: settings("-1")},
			{Workload: "db", Arm: "limited", Settings: settings(quota)}}}
	return OfNode{Name: name, Dir: name, Effects: e, Manifest: record.Manifest{Tare: "v1", Versions: map[string]string{"runc": "1." + name[len(name)-1:]}}}
}

// Differences of hosts and arms are found, without names that are new in every run and without
// the names of nodes.
func TestNodeFacts(t *testing.T) {
	facts := nodeFacts([]OfNode{nodeWith("n1", "6.1", "v1.34", "100", "localhost/tare:abc"), nodeWith("n2", "6.6", "v1.34", "200", "localhost/tare:def")})
	find := func(name string) record.NodeFact {
		i := slices.IndexFunc(facts, func(f record.NodeFact) bool { return said.English(f.Name) == name })
		if i < 0 {
			return record.NodeFact{}
		}
		return facts[i]
	}
	for _, name := range []string{"kernel", "mitigation of spectre_v2", "runc", "cpu.cfs_quota_us"} {
		if f := find(name); !f.Differs {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := find("cpu.cfs_quota_us"); f.All || !slices.Equal(f.Arms, []string{"limited"}) || f.Values["n2"] != "200" {
		t.Errorf("%+v", f)
	}
	if f := find("kube.kubelet"); f.Differs || !f.All || len(f.Arms) != 2 || f.Values["n1"] != "v1.34" {
		t.Errorf("%+v", f)
	}
	for _, name := range []string{"cgroup", "kube.node", "client", "pod.image", "pod.image.id", "network.service", "seccomp"} {
		if f := find(name); !f.Name.IsZero() {
			t.Errorf("%+v", f)
		}
	}
	if f := find("memory"); f.Differs || f.Unit != "B" || f.Values["n1"] != "8589934592" {
		t.Errorf("%+v", f)
	}
	// An image of the user differs because of its node.
	facts = nodeFacts([]OfNode{nodeWith("n1", "6.1", "v1.34", "100", "mysql:8"), nodeWith("n2", "6.1", "v1.34", "100", "mysql:8")})
	if f := find("pod.image.id"); !f.Differs {
		t.Errorf("%+v", f)
	}
}

// Every node is compared with the others without the odd nodes found before it; a node without an
// estimate takes no part.
func TestNodesAgainst(t *testing.T) {
	exact := func(name string, ratio float64) OfNode {
		r := &record.Ratio{Ratio: ratio, Low: ratio * 0.99, High: ratio * 1.01, SE: 0.005, DF: 6}
		return OfNode{Name: name, Effects: &record.Effects{Effects: []record.Effect{{Workload: "db", Metric: "throughput", Arm: "pod", Baseline: "host", Typical: r, Generations: 7}}}}
	}
	gone := exact("gone", 1)
	gone.Effects.Effects[0].Verdict, gone.Effects.Effects[0].Reason = record.Invalid, record.InProse("9 of 18 blocks had to be dropped")
	none := OfNode{Name: "none", Effects: &record.Effects{Left: []record.Left{{Arm: "pod", Reason: record.InProse("Insufficient cpu")}}}}
	a := Nodes([]OfNode{exact("a", 0.98), exact("b", 0.97), exact("odd", 0.6), exact("c", 0.975), gone, none}).Arms[0]
	if len(a.Odd) != 1 || a.Odd[0].Node != "odd" || a.Odd[0].Against != *a.Against["odd"] {
		t.Errorf("%+v against %+v", a.Odd, a.Against["odd"])
	}
	if o := a.Others["a"]; o == nil || o.Ratio < 0.96 || o.Ratio > 0.98 {
		t.Errorf("a is compared with %+v, the odd one in it", o)
	}
	if said.English(a.Apart["gone"]) != "invalid: 9 of 18 blocks had to be dropped" || said.English(a.Apart["none"]) != "it has no such arm: Insufficient cpu" || a.Against["gone"] != nil || len(a.Apart) != 2 {
		t.Errorf("%+v %+v", a.Apart, a.Against["gone"])
	}
}
