package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// always are settings that are shown although all nodes have the same value.
var always = []record.Said{record.Property("kube.kubelet"), record.Property("kube.runtime"), record.Property("pod.cpu.manager")}

// ofTheRun are settings that belong to a run and not to its node: names and addresses that
// each run makes anew.
var ofTheRun = []string{"cgroup", "kube.node", "network.service", "network.leads", "network.client", "network.hostport"}

// ownImage begins the names of images that tare makes for one run.
const ownImage = "localhost/tare:"

// nodeFacts returns all facts about the hosts, and the settings of arms that differ between
// nodes or are always shown.
func nodeFacts(nodes []OfNode) []record.NodeFact {
	return append(hostFacts(nodes), settingFacts(nodes)...)
}

func hostFacts(nodes []OfNode) []record.NodeFact {
	var all []record.NodeFact
	fact := func(name record.Said, unit string, of func(OfNode) string) {
		f := record.NodeFact{Name: name, Unit: unit, Values: map[string]string{}}
		for _, n := range nodes {
			if text := of(n); text != "" {
				f.Values[n.Name] = text
			}
		}
		if len(f.Values) > 0 {
			f.Differs = differs(f.Values, names(nodes))
			all = append(all, f)
		}
	}
	seen := map[record.Said]bool{}
	for _, n := range nodes {
		for _, f := range n.Effects.Host.Facts() {
			if seen[f.Name] {
				continue
			}
			seen[f.Name] = true
			fact(f.Name, f.Unit, func(n OfNode) string { return valueOf(n.Effects.Host.Facts(), f.Name) })
		}
	}
	fact(record.Property("tare"), "", func(n OfNode) string { return n.Manifest.Tare })
	for _, tool := range keys(nodes, func(n OfNode) map[string]string { return n.Manifest.Versions }) {
		fact(record.Property(tool), "", func(n OfNode) string { return n.Manifest.Versions[tool] })
	}
	return all
}

func valueOf(facts []record.Fact, name record.Said) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func names(nodes []OfNode) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Name)
	}
	return all
}

// keys returns the keys of all nodes' maps, sorted.
func keys(nodes []OfNode, of func(OfNode) map[string]string) []string {
	all := map[string]bool{}
	for _, n := range nodes {
		for k := range of(n) {
			all[k] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// differs reports whether some nodes have different values.
func differs(values map[string]string, of []string) bool {
	return slices.ContainsFunc(of, func(n string) bool { return values[n] != values[of[0]] })
}

// settingFacts joins settings that are the same in several arms of a workload.
func settingFacts(nodes []OfNode) []record.NodeFact {
	var all []record.NodeFact
	for _, w := range nodeWorkloads(nodes) {
		had := map[record.Said]int{} // arms that have the setting
		var of []record.NodeFact
		for _, arm := range armsOf(nodes, w.Name) {
			for _, f := range armFacts(nodes, w.Name, arm) {
				had[f.Name]++
				if !f.Differs && !slices.Contains(always, f.Name) {
					continue
				}
				at := slices.IndexFunc(of, func(x record.NodeFact) bool { return x.Name == f.Name && maps.Equal(x.Values, f.Values) })
				if at < 0 {
					of = append(of, f)
				} else {
					of[at].Arms = append(of[at].Arms, arm)
				}
			}
		}
		for i := range of {
			of[i].All = len(of[i].Arms) == had[of[i].Name]
		}
		all = append(all, of...)
	}
	return all
}

func armsOf(nodes []OfNode, workload string) []string {
	var all arrange.Ordered
	for _, n := range nodes {
		for _, a := range n.Effects.Arms {
			if a.Workload == workload {
				all.Add(a.Arm)
			}
		}
	}
	return all
}

// armFacts returns the settings of one arm on the nodes that have the arm.
func armFacts(nodes []OfNode, workload, arm string) []record.NodeFact {
	var order arrange.Ordered
	var having []string
	values := map[string]map[string]string{} // by setting, by node
	for _, n := range nodes {
		for _, a := range n.Effects.Arms {
			if a.Workload != workload || a.Arm != arm || len(a.Settings) == 0 {
				continue
			}
			having = append(having, n.Name)
			for _, s := range a.Settings {
				if !ofNode(s, a.Settings) {
					continue
				}
				order.Add(s.Name)
				if values[s.Name] == nil {
					values[s.Name] = map[string]string{}
				}
				values[s.Name][n.Name] = withoutName(s.Got, n.Name)
			}
		}
	}
	var all []record.NodeFact
	for _, name := range order {
		all = append(all, record.NodeFact{Name: record.Property(name), Workload: workload, Arms: []string{arm}, Values: values[name], Differs: differs(values[name], having)})
	}
	return all
}

// ofNode reports whether a setting can differ because of its node.
func ofNode(s record.Setting, all []record.Setting) bool {
	name := strings.TrimPrefix(s.Name, "neighbour.")
	if image, ok := strings.CutSuffix(name, ".id"); ok || name == "pod.image" {
		return !slices.ContainsFunc(all, func(x record.Setting) bool {
			return strings.TrimPrefix(x.Name, "neighbour.") == image && strings.HasPrefix(x.Got, ownImage)
		})
	}
	return !slices.Contains(ofTheRun, name)
}

// withoutName replaces the name of a node in a text, so that texts of nodes compare.
func withoutName(text, node string) string {
	return strings.ReplaceAll(text, "node "+node, "the node")
}
