package handover

import (
	"fmt"
	"strings"

	"github.com/tarelab/tare/record"
)

// podFields are the fields of a pod, as JSON behind the path of the object that has them.
func podFields() map[record.SettingKey]form {
	resource := func(kind, name, unit string) form {
		return flat("resources "+kind+" \""+name+"\":\"%s\"", func(value string) string { return value + unit })
	}
	return map[record.SettingKey]form{
		record.KeyPodCPURequest:    resource("requests", "cpu", ""),
		record.KeyPodCPULimit:      resource("limits", "cpu", ""),
		record.KeyPodMemoryRequest: resource("requests", "memory", ""),
		record.KeyPodMemoryLimit:   resource("limits", "memory", ""),
		record.KeyCPUMax:           resource("limits", "cpu", ""),
		record.KeyMemoryMax:        resource("limits", "memory", ""),
		record.KeyNetwork: {lines: func(_ Thing, word string) []string {
			return []string{fmt.Sprintf("pod \"hostNetwork\":%t", word == "host")}
		}},
		record.KeySeccomp: {lines: func(Thing, string) []string {
			return []string{`container "securityContext":{"seccompProfile":{"type":"Unconfined"}}`}
		}},
		record.KeyPodClass:     no(noClass),
		record.KeyStorageClass: no(noClaimChange),
		record.KeyConnect:      no(noSocket),
	}
}

// pod is a strategic merge patch of a deployment, whose container has the deployment's name. kustomization.yaml takes
// the same patch under patches. To undo it, the rollout goes back by one revision.
func pod() Target {
	return Target{"pod", onThing, from(podFields(), notInPod), func(x Thing, lines []string) Snippet {
		resources := map[string][]string{}
		var container, whole []string
		for _, l := range lines {
			where, field, _ := strings.Cut(l, " ")
			switch where {
			case "resources":
				kind, amount, _ := strings.Cut(field, " ")
				resources[kind] = append(resources[kind], amount)
			case "container":
				container = append(container, field)
			default:
				whole = append(whole, field)
			}
		}
		var amounts []string
		for _, kind := range []string{"requests", "limits"} {
			if len(resources[kind]) > 0 {
				amounts = append(amounts, fmt.Sprintf("%q:{%s}", kind, strings.Join(resources[kind], ",")))
			}
		}
		if len(amounts) > 0 {
			container = append(container, "\"resources\":{"+strings.Join(amounts, ",")+"}")
		}
		if len(container) > 0 {
			whole = append(whole, fmt.Sprintf("\"containers\":[{\"name\":%q,%s}]", x.Name, strings.Join(container, ",")))
		}
		patch := `{"spec":{"template":{"spec":{` + strings.Join(whole, ",") + `}}}}`
		return Snippet{Lines: []string{"kubectl patch deployment " + x.Name + " --patch '" + patch + "'"},
			Undo: []string{"kubectl rollout undo deployment " + x.Name}}
	}}
}

// kubelet is the part of the kubelet's configuration. Its state has to go with the policy.
func kubelet() Target {
	table := map[record.SettingKey]form{record.KeyCPUManager: flat("cpuManagerPolicy: %s", asIs)}
	return Target{"kubelet", onThing, from(table, notInKubelet), func(_ Thing, lines []string) Snippet {
		return Snippet{File: "/var/lib/kubelet/config.yaml", Lines: lines, Undo: []string{
			"cpuManagerPolicy: none", newState}}
	}}
}
