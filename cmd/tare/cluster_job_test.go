package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

const jobs = "/apis/batch/v1/namespaces/default/jobs"

// tare as the Job of docs/job.yaml measures its node, prints the report, and leaves the result alone there.
func TestClusterJob(t *testing.T) {
	admin := kubetest.Need(t)
	const name = "localhost/tare-job:1"
	helperImage(t, name)
	home := t.TempDir()
	text, err := os.ReadFile("../../docs/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatal(err)
	}
	pod := &job.Spec.Template.Spec
	c := &pod.Containers[0]
	// The image has the binary of this test, and the result lies in its directory.
	c.Image, c.ImagePullPolicy, c.WorkingDir = name, corev1.PullNever, home
	c.Args = append([]string{"__cli"}, "run", "--workload", "commit", "--set", "commit.log=1MiB", "--arms", "host,container", "--budget", "20s", "-q", "-o", "result")
	c.Env = []corev1.EnvVar{{Name: "XDG_STATE_HOME", Value: filepath.Join(home, "state")}, {Name: hostlock.DirEnv, Value: home}}
	c.VolumeMounts[0].MountPath, pod.Volumes[0].HostPath.Path = home, home
	pod.NodeName = admin.Here(t)
	object, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if code, b := admin.Do(t, http.MethodPost, jobs, object); code != http.StatusCreated || json.Unmarshal(b, &job) != nil {
		t.Fatalf("%d %s", code, b)
	}
	t.Cleanup(func() {
		admin.Do(t, http.MethodDelete, jobs+"/"+job.Name+"?propagationPolicy=Foreground", nil)
		for end := time.Now().Add(time.Minute); admin.Get(t, jobs+"/"+job.Name, &job) != http.StatusNotFound && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
		}
	})
	log := jobEnded(t, admin, job.Name)
	result, err := record.Read(filepath.Join(home, "result"))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	host, err := os.Hostname()
	if err != nil || result.Manifest.Host.Name != host || windowsOf(result)["container"] == 0 {
		t.Errorf("measured on %s, and this host is %s (%v); windows: %v", result.Manifest.Host.Name, host, err, windowsOf(result))
	}
	if left, err := filepath.Glob(filepath.Join(home, "state", "tare", journal.Prefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	t.Logf("%s", log)
}

// jobEnded waits for the end of a Job, which must succeed, and returns the log of its pod.
func jobEnded(t *testing.T, admin *kubetest.Admin, name string) string {
	t.Helper()
	var job batchv1.Job
	for end := time.Now().Add(stuck); job.Status.Succeeded+job.Status.Failed == 0; time.Sleep(200 * time.Millisecond) {
		if code := admin.Get(t, jobs+"/"+name, &job); code != http.StatusOK || time.Now().After(end) {
			t.Fatalf("%d, %+v", code, job.Status)
		}
	}
	var pods corev1.PodList
	admin.Get(t, "/api/v1/namespaces/default/pods?labelSelector=job-name%3D"+name, &pods)
	log := ""
	for _, p := range pods.Items {
		_, b := admin.Do(t, http.MethodGet, fmt.Sprintf("/api/v1/namespaces/default/pods/%s/log", p.Name), nil)
		log += string(b)
	}
	if job.Status.Succeeded != 1 {
		t.Errorf("%+v\n%s", job.Status, log)
	}
	return log
}
