package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/record"
)

// pause is the image that the cluster of the tests has.
const pause = "localhost/tare-pause:1"

// userPod makes a pod of the user's with this resources field, and waits until it runs.
func userPod(t *testing.T, admin *kubetest.Admin, name, resources string) {
	t.Helper()
	body := `{"metadata":{"name":"` + name + `"},"spec":{"terminationGracePeriodSeconds":0,"containers":[
		{"name":"db","image":"` + pause + `","imagePullPolicy":"Never","resources":` + resources + `}]}}`
	const path = "/api/v1/namespaces/default/pods"
	if code, said := admin.Do(t, http.MethodPost, path, []byte(body)); code != http.StatusCreated {
		t.Fatalf("make pod %s: %d %s", name, code, said)
	}
	t.Cleanup(func() { admin.Do(t, http.MethodDelete, path+"/"+name, nil) })
	for end := time.Now().Add(time.Minute); limitOf(t, admin, name) == ""; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("pod %s does not run", name)
		}
	}
}

// limitOf is the CPU limit that the kubelet has put in force, with the number of restarts; empty: not yet running.
func limitOf(t *testing.T, admin *kubetest.Admin, name string) string {
	t.Helper()
	code, body := admin.Do(t, http.MethodGet, "/api/v1/namespaces/default/pods/"+name, nil)
	if code == http.StatusNotFound {
		return ""
	}
	var p struct {
		Status struct {
			ContainerStatuses []struct {
				Started      bool
				RestartCount int
				Resources    struct{ Limits map[string]string }
			}
		}
	}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	all := p.Status.ContainerStatuses
	if len(all) != 1 || !all[0].Started {
		return ""
	}
	if all[0].RestartCount > 0 {
		t.Errorf("pod %s was restarted", name)
	}
	return "cpu=" + all[0].Resources.Limits["cpu"]
}

// A pod is resized in place, without a restart, and back. What would change its class, add or remove an amount, or restart
// it is refused. A kubelet that gives whole CPUs resizes no pod of the class Guaranteed.
func TestClusterApplied(t *testing.T) {
	admin, home := kubetest.Need(t), t.TempDir()
	limit := adviceOf(t, home, record.RemedySetting{On: record.OnLoad, Key: record.KeyCPUMax, Value: "0.4"})
	userPod(t, admin, "applied-burstable", `{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}}`)
	userPod(t, admin, "applied-guaranteed", `{"limits":{"cpu":"200m","memory":"64Mi"}}`)
	userPod(t, admin, "applied-besteffort", `{}`)
	resized := []string{"applied-burstable", "applied-guaranteed"}
	if kubeletConfig(t, admin)["cpuManagerPolicy"] == "static" {
		resized = resized[:1]
		wantSaid(t, home, 1, []string{"Infeasible", `CPU Manager policy "static"`},
			"advise", limit, "--apply", "pod:default/applied-guaranteed", "--yes")
		if got := limitOf(t, admin, "applied-guaranteed"); got != "cpu=200m" {
			t.Errorf("applied-guaranteed has %s after the refusal", got)
		}
		wantSaid(t, home, 0, []string{"nothing is applied"}, "advise", "--undo")
	}
	for _, name := range resized {
		at := "pod:default/" + name
		wantSaid(t, home, 0, []string{"200m -> 400m", "applied as a"}, "advise", limit, "--apply", at, "--yes")
		if got := limitOf(t, admin, name); got != "cpu=400m" {
			t.Errorf("%s has %s", name, got)
		}
		wantSaid(t, home, 0, []string{`"state": "in force"`}, "doctor", "--format", "json")
		wantSaid(t, home, 0, []string{"taken back"}, "advise", "--undo", at)
		if got := limitOf(t, admin, name); got != "cpu=200m" {
			t.Errorf("%s has %s after the way back", name, got)
		}
	}
	wantSaid(t, home, 1, []string{"cannot add or remove an amount", "hint: "},
		"advise", limit, "--apply", "pod:default/applied-besteffort", "--yes")
	wantSaid(t, home, 1, []string{"no pod default/applied-none", "hint: kubectl get pods"},
		"advise", limit, "--apply", "pod:default/applied-none", "--yes")
	wantSaid(t, home, 1, []string{"has the containers db", "hint: pod:default/applied-burstable/CONTAINER"},
		"advise", limit, "--apply", "pod:default/applied-burstable/web", "--yes")
	refusedByCluster(t, admin)
	goneMeanwhile(t, admin, home, limit)
}

// refusedByCluster has settings that the API server or the kubelet refuses: the class would change, the container would
// restart, the node has too few CPUs. Nothing stays.
func refusedByCluster(t *testing.T, admin *kubetest.Admin) {
	t.Helper()
	request := func(cpus string) (home, dir string) {
		home = t.TempDir()
		return home, adviceOf(t, home, record.RemedySetting{On: record.OnLoad, Key: record.KeyPodCPURequest, Value: cpus})
	}
	userPod(t, admin, "applied-nearly", `{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"cpu":"200m","memory":"64Mi"}}`)
	userPod(t, admin, "applied-large", `{"requests":{"cpu":"100m"},"limits":{"cpu":"64"}}`)
	userPod(t, admin, "applied-restarts", `{"requests":{"cpu":"100m"},"limits":{"cpu":"200m"}},
		"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]`)
	home, dir := request("0.2")
	wantSaid(t, home, 1, []string{"QOS Class may not change"}, "advise", dir, "--apply", "pod:default/applied-nearly", "--yes")
	wantSaid(t, home, 1, []string{"would restart the container"}, "advise", dir, "--apply", "pod:default/applied-restarts", "--yes")
	home, dir = request("32")
	wantSaid(t, home, 1, []string{"Infeasible"}, "advise", dir, "--apply", "pod:default/applied-large", "--yes")
	for _, name := range []string{"applied-nearly", "applied-large", "applied-restarts"} {
		if _, body := admin.Do(t, http.MethodGet, "/api/v1/namespaces/default/pods/"+name, nil); !strings.Contains(string(body), `"requests":{"cpu":"100m"`) {
			t.Errorf("the request of %s changed: %s", name, body)
		}
	}
	wantSaid(t, home, 0, []string{"nothing is applied"}, "advise", "--undo")
}

// goneMeanwhile removes a pod with an applied setting: the entry is removed and said.
func goneMeanwhile(t *testing.T, admin *kubetest.Admin, home, limit string) {
	t.Helper()
	const at = "pod:default/applied-burstable"
	wantSaid(t, home, 0, []string{"applied as a"}, "advise", limit, "--apply", at, "--yes")
	if code, said := admin.Do(t, http.MethodDelete, "/api/v1/namespaces/default/pods/applied-burstable", nil); code != http.StatusOK {
		t.Fatalf("%d %s", code, said)
	}
	for end := time.Now().Add(time.Minute); limitOf(t, admin, "applied-burstable") != "" && time.Now().Before(end); {
		time.Sleep(200 * time.Millisecond)
	}
	out, code := tareSays(t, home, "advise", "--undo", at)
	if code != 0 || !strings.Contains(out, "the target is gone, the entry is removed") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
