package handover

import (
	"encoding/json"
	"slices"

	"github.com/tarelab/tare/record"
)

// Paths in the tree of a pod's change: of its container, and of the pod itself.
const (
	container = "container"
	podSpec   = "pod"
)

// amount is a resource of the container. An empty value takes it away.
func amount(kind, name string) form {
	return form{
		add:   func(d *document, _ Thing, value string) { d.set(value, container, "resources", kind, name) },
		unset: func(d *document) { d.set(nil, container, "resources", kind, name) },
	}
}

// podFields are the fields of a pod.
func podFields() map[record.SettingKey]form {
	return map[record.SettingKey]form{
		record.KeyPodCPURequest:    amount("requests", "cpu"),
		record.KeyPodCPULimit:      amount("limits", "cpu"),
		record.KeyPodMemoryRequest: amount("requests", "memory"),
		record.KeyPodMemoryLimit:   amount("limits", "memory"),
		record.KeyCPUMax:           amount("limits", "cpu"),
		record.KeyMemoryMax:        amount("limits", "memory"),
		record.KeyNetwork: {add: func(d *document, _ Thing, word string) {
			d.set(word == "host", podSpec, "hostNetwork")
			if word == "host" { // else the pod asks the node's name server, and finds no Services
				d.set("ClusterFirstWithHostNet", podSpec, "dnsPolicy")
			}
		}},
		record.KeySeccomp: {add: func(d *document, _ Thing, _ string) {
			d.set("Unconfined", container, "securityContext", "seccompProfile", "type")
		}},
		record.KeyVolume: {add: func(d *document, x Thing, word string) {
			dir := map[string]any{"path": onto(d, x, word), "type": "DirectoryOrCreate"}
			d.also(map[string]any{"name": ownVolume, "hostPath": dir}, podSpec, "volumes")
			d.also(map[string]any{"name": ownVolume, "mountPath": x.Data}, container, "volumeMounts")
		}, note: copyOnNode},
		record.KeyPodClass:     elsewhere(noClass),
		record.KeyStorageClass: no(noClaimChange),
		record.KeyCPUManager:   elsewhere(inKubelet),
		record.KeyConnect:      no(noPodSocket),
		record.KeyCPUSet:       no(noPodCPUs),
		record.KeyCPUIdle:      no(noPodShare), record.KeyCPUWeight: no(noPodShare), record.KeyCPUBurst: no(noPodField),
		record.KeySched: no(noPodField), record.KeyQoSLevel: no(noPodField), record.KeyMemoryHigh: no(noPodField),
		record.KeyIOWeight: no(noPodField), record.KeyIOBytes: no(noPodField),
	}
}

// ownVolume is the name of the volume with the data.
const ownVolume = "tare-data"

// spec is the pod's part of a patch. The container has the name of the workload.
func (c change) spec(x Thing) map[string]any {
	spec := map[string]any{}
	if own, ok := c.tree[podSpec].(map[string]any); ok {
		spec = own
	}
	if own, ok := c.tree[container].(map[string]any); ok {
		own["name"] = x.Name
		spec["containers"] = []any{own}
	}
	return spec
}

// kind is the usual kind of workload: a database keeps its data, a neighbour has none.
func (c change) kind() (kind, word string) {
	if c.on == record.OnNeighbour {
		return "Deployment", "deployment"
	}
	return "StatefulSet", "statefulset"
}

// jsonOf is a patch as kubectl takes it.
func jsonOf(tree any) string {
	b, err := json.Marshal(tree)
	if err != nil {
		panic(err) // maps, lists, strings and numbers alone
	}
	return string(b)
}

// workload is a strategic merge patch, after which the pods are made anew. To undo it, the rollout goes back by one
// revision.
func workload() Target {
	t := Target{Name: "kubectl patch", on: onThing, forms: podFields(), others: notInPod}
	t.whole = func(x Thing, c change) Snippet {
		_, kind := c.kind()
		patch := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": c.spec(x)}}}
		name := kind + "/" + x.Name
		return Snippet{
			Notes: []record.Said{newPods},
			Lines: []string{"kubectl patch " + name + " --patch '" + jsonOf(patch) + "'"}, Check: c.ofPods(x, name),
			Undo: []string{"kubectl rollout undo " + name},
		}
	}
	return t
}

// resize changes a running pod in place, in its class. An amount that had no value before cannot be taken away in
// place: the way back is then a new pod.
func resize() Target {
	t := Target{Name: "kubectl resize", on: onThing, forms: podFields(), others: notInPod, refuses: notInPlace}
	t.whole = func(x Thing, c change) Snippet {
		back := document{tree: map[string]any{}}
		for _, s := range c.apply {
			podFields()[s.Key].write(&back, x, c.was(s.Key))
		}
		s := Snippet{
			Notes: []record.Said{resizeVersion},
			Lines: []string{resizing(x, c)}, Undo: []string{resizing(x, change{document: back})},
			Check: []string{"kubectl get pod/" + x.Pod + " --output jsonpath='{.status.containerStatuses[*].resources}'"},
		}
		if slices.ContainsFunc(c.apply, func(s record.RemedySetting) bool { return c.was(s.Key) == "" }) {
			s.Notes, s.Undo = append(s.Notes, resizeAdds), []string{"kubectl delete pod/" + x.Pod}
		}
		return s
	}
	return t
}

// isAmount says whether a running pod can change a setting.
func isAmount(key record.SettingKey) bool {
	switch key {
	case record.KeyPodCPURequest, record.KeyPodCPULimit, record.KeyPodMemoryRequest, record.KeyPodMemoryLimit,
		record.KeyCPUMax, record.KeyMemoryMax:
		return true
	}
	return false
}

func notInPlace(_ Thing, c change) record.Said {
	for _, s := range c.apply {
		switch {
		case !isAmount(s.Key):
			return noResize
		case c.was(record.KeyPodClass) != "":
			return noResizeClass
		case s.Value == "":
			return noResizeRemoval
		}
	}
	return record.Said{}
}

func resizing(x Thing, c change) string {
	patch := jsonOf(map[string]any{"spec": c.spec(x)})
	return "kubectl patch pod/" + x.Pod + " --subresource resize --patch '" + patch + "'"
}

// kustomize is the patch as a file of an overlay.
func kustomize() Target {
	const file = "tare-patch.yaml"
	t := Target{Name: "kustomize", on: onThing, forms: podFields(), others: notInPod}
	t.whole = func(x Thing, c change) Snippet {
		kind, word := c.kind()
		return Snippet{
			File: file, Notes: []record.Said{kustomization},
			Lines: yamlLines(map[string]any{
				"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": x.Name},
				"spec": map[string]any{"template": map[string]any{"spec": c.spec(x)}},
			}),
			Then: []string{"kustomize edit add patch --path " + file, "kubectl apply --kustomize ."}, Check: c.ofPods(x, word+"/"+x.Name),
			Undo: []string{"kustomize edit remove patch --path " + file, "rm " + file, "kubectl apply --kustomize ."},
		}
	}
	return t
}

// helm has the keys of the chart that helm create writes; hostNetwork is a habit of charts.
func helm() Target {
	const file = "tare-values.yaml"
	return Target{Name: "helm", on: onThing, forms: podFields(), others: notInPod, whole: func(x Thing, c change) Snippet {
		values := map[string]any{}
		for _, where := range []string{container, podSpec} {
			for key, value := range c.branch(where) {
				values[key] = value
			}
		}
		return Snippet{
			File: file, Lines: yamlLines(values), Notes: []record.Said{chartKeys},
			Then:  []string{"helm upgrade " + x.Name + " CHART --reuse-values --values " + file},
			Check: []string{"helm get values " + x.Name, "helm get manifest " + x.Name},
			Undo:  []string{"helm rollback " + x.Name, "rm " + file},
		}
	}}
}

// kubelet is the part of the kubelet's configuration. Its state has to go with the policy.
func kubelet() Target {
	table := map[record.SettingKey]form{record.KeyCPUManager: flat("cpuManagerPolicy: %s", asIs).noting(reservedCPUs)}
	t := Target{Name: "kubelet", on: onThing, forms: table, others: notInKubelet}
	t.whole = func(_ Thing, c change) Snippet {
		const file = "/var/lib/kubelet/config.yaml"
		emptied := []string{"kubectl drain NODE --ignore-daemonsets", "systemctl stop kubelet"}
		filled := []string{"rm /var/lib/kubelet/cpu_manager_state", "systemctl start kubelet", "kubectl uncordon NODE"}
		return Snippet{
			File: file, Lines: c.lines, Then: append(emptied, filled...), Check: []string{"kubectl get --raw /api/v1/nodes/NODE/proxy/configz"},
			Undo: append(append(emptied[:2:2], "sed -i 's/^cpuManagerPolicy: .*/cpuManagerPolicy: none/' "+file), filled...),
		}
	}
	return t
}
