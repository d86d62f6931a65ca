package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tarelab/tare/internal/planning/remedy"
	"github.com/tarelab/tare/internal/report/handover"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/remedytest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// limitedPods is a workload of Burstable pods with a limit.
const limitedPods = `{"apiVersion": "apps/v1", "kind": %q, "metadata": {"name": "db"}, "spec": {%s "selector": {"matchLabels": {"app": %q}},
  "template": {"metadata": {"labels": {"app": %q}}, "spec": {"terminationGracePeriodSeconds": 0, "volumes": [{"name": "claim", "emptyDir": {}}],
    "containers": [{"name": "db", "image": "localhost/tare-pause:1", "volumeMounts": [{"name": "claim", "mountPath": "/data"}],
      "resources": {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "1500m", "memory": "256Mi"}}}]}}}}`

func limitedAs(kind string) string {
	more := ""
	if kind == "StatefulSet" {
		more = `"serviceName": "db",`
	}
	return fmt.Sprintf(limitedPods, kind, more, kind, kind)
}

// lined is a namespace with workloads to which lines of a remedy are applied.
type lined struct {
	*testing.T
	admin     *kubetest.Admin
	namespace string
}

// sh runs a line of a snippet in the namespace.
func (l lined) sh(line string) (string, error) {
	line = strings.ReplaceAll(line, "kubectl ", "kubectl --namespace "+l.namespace+" ")
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	return string(out), err
}

func (l lined) must(line string) {
	l.Helper()
	if out, err := l.sh(line); err != nil {
		l.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// pod is the pod db-0, as soon as it is as wanted.
func (l lined) pod(what string, ok func(corev1.Pod) bool) (p corev1.Pod) {
	l.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		status, b := l.admin.Do(l.T, http.MethodGet, "/api/v1/namespaces/"+l.namespace+"/pods/db-0", nil)
		p = corev1.Pod{}
		if status == http.StatusOK && json.Unmarshal(b, &p) == nil && len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready && ok(p) {
			return p
		}
		if time.Now().After(end) {
			l.Fatalf("db-0 is not %s: %s", what, b)
		}
	}
}

// limit is the CPU limit that the kubelet has set.
func limit(p corev1.Pod) string {
	if r := p.Status.ContainerStatuses[0].Resources; r != nil && !r.Limits.Cpu().IsZero() {
		return r.Limits.Cpu().String()
	}
	return ""
}

func limited(want string) func(corev1.Pod) bool {
	return func(p corev1.Pod) bool { return p.DeletionTimestamp == nil && limit(p) == want }
}

// The API server accepts the patches of every remedy; those of a throttled pod are applied and undone.
func TestClusterLines(t *testing.T) {
	admin := kubetest.Need(t)
	testneed.Tool(t, "kubectl")
	l := lined{t, admin, fmt.Sprintf("lines-%d", os.Getpid())}
	l.must("kubectl create namespace " + l.namespace)
	t.Cleanup(func() { l.must("kubectl delete namespace " + l.namespace + " --timeout 2m") })
	dir := t.TempDir()
	for _, kind := range []string{"StatefulSet", "Deployment"} {
		file := filepath.Join(dir, kind+".json")
		if err := os.WriteFile(file, []byte(limitedAs(kind)), 0o600); err != nil {
			t.Fatal(err)
		}
		l.must("kubectl apply --filename " + file)
	}
	first := l.pod("there", limited("1500m"))
	l.every(dir)
	l.kubelets()

	whole := l.snippet("kubectl resize", "2", "1.5")
	l.must(whole.Lines[0])
	resized := l.pod("resized", limited("2"))
	l.must(whole.Undo[0])
	back := l.pod("back", limited("1500m"))
	for _, p := range []corev1.Pod{resized, back} {
		if p.UID != first.UID || p.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("another pod, or restarted: %+v", p.Status)
		}
	}
	for _, refused := range []string{`"limits":{"cpu":null}`, `"requests":{"cpu":"1500m","memory":"256Mi"}`} { // gone; of another class
		line := `kubectl patch pod/db-0 --subresource resize --patch '{"spec":{"containers":[{"name":"db","resources":{` + refused + `}}]}}'`
		if out, err := l.sh(line); err == nil {
			t.Errorf("%s: %s", line, out)
		}
	}

	removed := l.snippet("kubectl patch", "", "1.5")
	l.must(removed.Lines[0])
	without := l.pod("without a limit", limited(""))
	added := l.snippet("kubectl resize", "2", "")
	l.must(added.Lines[0])
	if p := l.pod("limited in place", limited("2")); p.UID != without.UID {
		t.Error("the pod was made anew for a limit")
	}
	l.must(added.Undo[0])
	if p := l.pod("made anew", limited("")); p.UID == without.UID {
		t.Error("a limit was taken away in place")
	}
	l.must(removed.Undo[0])
	if p := l.pod("back", limited("1500m")); p.UID == first.UID {
		t.Error("the pod is the first one")
	}
}

// snippet is that of a target for another CPU limit.
func (l lined) snippet(target, cpus, was string) handover.Snippet {
	l.Helper()
	set := func(value string) []record.RemedySetting {
		return []record.RemedySetting{{On: record.OnLoad, Key: record.KeyCPUMax, Value: value}}
	}
	for _, t := range handover.Targets() {
		if t.Name == target {
			if s := t.Of(handover.Thing{Name: "db", Pod: "db-0"}, set(cpus), set(was)); len(s.Lines) == 1 && len(s.Undo) == 1 {
				return s
			}
		}
	}
	l.Fatal(target, " has no line")
	return handover.Snippet{}
}

// every tries the lines of every remedy on the server, which changes nothing.
func (l lined) every(dir string) {
	l.Helper()
	losses := remedytest.Losses(l.T)
	tried := map[string]int{}
	for _, r := range remedy.All() {
		for _, shape := range slices.Sorted(maps.Keys(losses)) {
			trial, ok := r.On(losses[shape])
			if !ok {
				continue
			}
			for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour} {
				own := func(all []record.RemedySetting) []record.RemedySetting {
					return slices.DeleteFunc(slices.Clone(all), func(s record.RemedySetting) bool { return s.On != on })
				}
				for _, t := range handover.Targets() {
					s := t.Of(handover.Thing{Name: "db", Pod: "db-0", Data: "/data"}, own(trial.Apply), own(trial.Undo))
					if text := t.Name + strings.Join(s.Lines, "\n"); len(s.Lines) > 0 && tried[text] == 0 {
						tried[text]++
						tried[t.Name] += l.try(dir, r.Name+" on "+shape, s)
					}
				}
			}
		}
	}
	for _, name := range []string{"kubectl patch", "kubectl resize", "kustomize"} {
		if tried[name] == 0 {
			l.Errorf("no line of %s was tried", name)
		}
		l.Logf("%s: %d", name, tried[name])
	}
}

// try counts a snippet for Kubernetes that the server accepts.
func (l lined) try(dir, name string, s handover.Snippet) int {
	l.Helper()
	line := s.Lines[0]
	switch {
	case s.Target == "kustomize":
		kind := "StatefulSet"
		if !slices.Contains(s.Lines, "kind: "+kind) {
			kind = "Deployment"
		}
		kustomization := "resources: [" + kind + ".json]\npatches: [{path: " + s.File + "}]\n"
		for file, text := range map[string]string{s.File: strings.Join(s.Lines, "\n"), "kustomization.yaml": kustomization} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				l.Fatal(err)
			}
		}
		line = "kubectl apply --kustomize " + dir
	case !strings.HasPrefix(line, "kubectl "):
		return 0
	}
	if out, err := l.sh(line + " --dry-run=server"); err != nil {
		l.Errorf("%s, %s: %v\n%s", s.Target, name, err, out)
	}
	return 1
}

// kubelets: the kubelet of this node has the keys of the lines for its configuration.
func (l lined) kubelets() {
	l.Helper()
	config := kubeletConfig(l.T, l.admin)
	for _, t := range handover.Targets() {
		s := t.Of(handover.Thing{}, []record.RemedySetting{{On: record.OnLoad, Key: record.KeyCPUManager, Value: "static"}}, nil)
		for _, line := range s.Lines {
			key, _, _ := strings.Cut(line, ": ")
			if now, ok := config[key].(string); !ok {
				l.Errorf("the kubelet has no %s: %v", key, config)
			} else {
				l.Logf("the kubelet's %s is %s", key, now)
			}
		}
	}
}

// kubeletConfig is the configuration of this node's kubelet, as it says itself. The kubelet of make cluster listens on
// loopback only.
func kubeletConfig(t *testing.T, admin *kubetest.Admin) map[string]any {
	t.Helper()
	var node corev1.Node
	admin.Get(t, "/api/v1/nodes/"+admin.Here(t), &node)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.TLSClientConfig.Insecure, config.TLSClientConfig.CAData, config.TLSClientConfig.CAFile = true, nil, ""
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	hosts := []string{"127.0.0.1"}
	for _, a := range node.Status.Addresses {
		hosts = append(hosts, a.Address)
	}
	var said []string
	for _, host := range hosts {
		r, err := client.Get(fmt.Sprintf("https://%s:%d/configz", host, node.Status.DaemonEndpoints.KubeletEndpoint.Port))
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		defer r.Body.Close()
		var has struct {
			KubeletConfig map[string]any `json:"kubeletconfig"`
		}
		if err := json.NewDecoder(r.Body).Decode(&has); err == nil && r.StatusCode == http.StatusOK {
			return has.KubeletConfig
		}
		said = append(said, host+": "+r.Status)
	}
	t.Fatal("no kubelet answers: ", said)
	return nil
}
