package handover

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// workloads are a database with a limit and a claim, and a neighbour.
const workloads = `{"apiVersion": "apps/v1", "kind": %q, "metadata": {"name": "db"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
  "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "side", "image": "x"}, {"name": "db", "image": "y",
    "resources": {"limits": {"cpu": "1500m"}}, "volumeMounts": [{"name": "claim", "mountPath": "/data"}, {"name": "claim", "mountPath": "/other"}]}]}}}}`

// checkPatched checks a workload with the patch of a remedy; the patch has left everything else.
func checkPatched(t *testing.T, m made, text string) {
	t.Helper()
	var got appsv1.StatefulSet // a Deployment has the same template
	if err := yaml.UnmarshalStrict([]byte(text), &got); err != nil {
		t.Fatalf("%s: %v\n%s", m.remedy, err, text)
	}
	spec := got.Spec.Template.Spec
	i := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == "db" })
	if i < 0 || len(spec.Containers) != 2 || spec.Containers[i].Image != "y" || len(spec.Containers[i].VolumeMounts) != 2 {
		t.Fatalf("%s: %+v", m.remedy, spec)
	}
	db := spec.Containers[i]
	limit, limited := db.Resources.Limits["cpu"]
	wrong := false
	switch name, _, _ := strings.Cut(m.remedy, " "); name {
	case "no-cpu-limit", "defaults":
		wrong = limited
	case "whole-cpus":
		wrong = limit.String() != map[bool]string{true: "2", false: "1"}[strings.Contains(m.remedy, "docker")] // 1.5 and 0.5, rounded up
	case "pod-guaranteed":
		wrong = limit.String() != "3" || !limit.Equal(db.Resources.Requests["cpu"]) || db.Resources.Limits.Memory().Value() != 2<<30
	case "pod-requests":
		wrong = db.Resources.Requests.Cpu().MilliValue() != 100
	case "host-network":
		wrong = !spec.HostNetwork || spec.DNSPolicy != corev1.DNSClusterFirstWithHostNet
	case "seccomp-off":
		wrong = db.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeUnconfined
	case "local-volume":
		wrong = len(spec.Volumes) != 1 || spec.Volumes[0].HostPath == nil || !slices.ContainsFunc(db.VolumeMounts, func(v corev1.VolumeMount) bool { return v.Name == ownVolume && v.MountPath == "/data" })
	}
	if wrong {
		t.Errorf("%s: %s", m.remedy, text)
	}
}

func kindOf(m made) string { kind, _ := change{on: m.on}.kind(); return kind }

// kubectl merges the patch of every remedy into a workload.
func TestKubectlTakesThePatch(t *testing.T) {
	testneed.Tool(t, "kubectl")
	file := filepath.Join(t.TempDir(), "workload.yaml")
	for _, m := range append(all(t, workload()), defaults(t, workload())) {
		write(t, file, fmt.Sprintf(workloads, kindOf(m)))
		_, patch, _ := strings.Cut(m.Lines[0], " --patch ")
		checkPatched(t, m, run(t, true, nil, "sh", "-c", "kubectl patch --local -o json -f "+file+" --patch "+patch))
	}
}

// A running pod takes other amounts, and new ones, in its class. The way back of a new one is a new pod.
func TestResizeIsForAmounts(t *testing.T) {
	for _, m := range all(t, resize()) {
		if name, _, _ := strings.Cut(m.remedy, " "); !slices.Contains([]string{"whole-cpus", "memory-doubled", "cpu-quota"}, name) {
			t.Errorf("%s: %v", m.remedy, m.Lines)
		}
	}
	set := func(key record.SettingKey, value string) []record.RemedySetting {
		return []record.RemedySetting{{On: record.OnLoad, Key: key, Value: value}}
	}
	s := resize().Of(Thing{Name: "db", Pod: "db-0"}, set(record.KeyCPUMax, "2"), set(record.KeyCPUMax, "1.5"))
	if fmt.Sprint(s.Lines, s.Undo) != `[kubectl patch pod/db-0 --subresource resize --patch '{"spec":{"containers":[{"name":"db","resources":{"limits":{"cpu":"2"}}}]}}'] `+
		`[kubectl patch pod/db-0 --subresource resize --patch '{"spec":{"containers":[{"name":"db","resources":{"limits":{"cpu":"1.5"}}}]}}']` {
		t.Errorf("%+v", s)
	}
	added := resize().Of(Thing{Name: "db", Pod: "db-0"}, set(record.KeyCPUMax, "0.8"), set(record.KeyCPUMax, ""))
	if len(added.Lines) != 1 || fmt.Sprint(added.Undo) != "[kubectl delete pod/db-0]" || !slices.Contains(added.Notes, resizeAdds) {
		t.Errorf("%+v", added)
	}
	for _, c := range []struct {
		apply, undo []record.RemedySetting
		reason      record.Said
	}{
		{set(record.KeyCPUMax, ""), set(record.KeyCPUMax, "1.5"), noResizeRemoval},
		{set(record.KeyNetwork, "host"), nil, noResize},
		{set(record.KeyPodCPURequest, "2"), slices.Concat(set(record.KeyPodCPURequest, "1"), set(record.KeyPodClass, "burstable")), noResizeClass},
	} {
		if s := resize().Of(Thing{}, c.apply, c.undo); len(s.Lines) > 0 || len(s.Skipped) != 1 || s.Skipped[0].Reason != c.reason {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

// Kustomize takes the patch of every remedy.
func TestKustomizeTakesThePatch(t *testing.T) {
	testneed.Tool(t, "kubectl")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kustomization.yaml"), "resources: [workload.yaml]", "patches: [{path: tare-patch.yaml}]")
	for _, m := range append(all(t, kustomize()), defaults(t, kustomize())) {
		write(t, filepath.Join(dir, "workload.yaml"), fmt.Sprintf(workloads, kindOf(m)))
		write(t, filepath.Join(dir, m.File), m.Lines...)
		checkPatched(t, m, run(t, true, nil, "kubectl", "kustomize", dir))
	}
	write(t, filepath.Join(dir, "tare-patch.yaml"), strings.Replace(strings.Join(every(t, kustomize()).Lines, "\n"), "name: db", "name: other", 1))
	if out, err := exec.Command("kubectl", "kustomize", dir).CombinedOutput(); err == nil {
		t.Errorf("a patch of another workload: %s", out)
	}
}

// The values of every remedy have the types of the fields in which charts put them.
func TestHelmValuesAreFields(t *testing.T) {
	type values struct {
		Resources       corev1.ResourceRequirements `json:"resources"`
		SecurityContext corev1.SecurityContext      `json:"securityContext"`
		HostNetwork     bool                        `json:"hostNetwork"`
		DNSPolicy       corev1.DNSPolicy            `json:"dnsPolicy"`
		Volumes         []corev1.Volume             `json:"volumes"`
		VolumeMounts    []corev1.VolumeMount        `json:"volumeMounts"`
	}
	for _, m := range append(all(t, helm()), every(t, helm()), defaults(t, helm())) {
		var v values
		if err := yaml.UnmarshalStrict([]byte(strings.Join(m.Lines, "\n")), &v); err != nil || !slices.Contains(m.Notes, chartKeys) {
			t.Errorf("%s: %v\n%s", m.remedy, err, strings.Join(m.Lines, "\n"))
		}
	}
}

// The kubelet's lines are keys of its configuration; TestClusterLines asks a kubelet.
func TestKubeletLines(t *testing.T) {
	snippets := all(t, kubelet())
	var config map[string]string
	if err := yaml.UnmarshalStrict([]byte(strings.Join(snippets[0].Lines, "\n")), &config); err != nil || config["cpuManagerPolicy"] != "static" || len(snippets) != 1 {
		t.Errorf("%v, %+v", err, snippets)
	}
}
