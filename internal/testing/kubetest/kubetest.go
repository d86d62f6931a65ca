// Package kubetest gives tests the cluster of $KUBECONFIG, and finds tare's objects that a test left
// behind in it.
package kubetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/testneed"
)

// Tier is the tier of tests that need a cluster.
const Tier = "cluster"

// Admin is the cluster of the tier, as its administrator.
type Admin struct {
	config *rest.Config
	http   *http.Client
}

// Need returns the cluster. It skips the test unless the tier and its cluster are there.
func Need(t *testing.T) *Admin {
	t.Helper()
	testneed.Long(t, Tier)
	testneed.Root(t)
	testneed.Tool(t, "ctr")
	if os.Getenv("KUBECONFIG") == "" {
		testneed.Feature(t, "cluster", os.ErrNotExist)
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.CloseIdleConnections)
	a := &Admin{config, h}
	a.AwaitNodes(t, true) // on a busy host a kubelet's report may be late
	return a
}

// Do sends a request to the API server, and returns status and body of the response.
func (a *Admin) Do(t *testing.T, method, path string, body []byte) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, a.config.Host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Close = true // tests count open connections
	answer, err := a.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, b
}

// Grant gives a user the rights that tare plan --rbac prints, until the end of the test.
func (a *Admin) Grant(t *testing.T, user string, more ...kube.Rights) {
	t.Helper()
	text, err := kube.RBAC(kube.For{User: user, Experiment: t.Name()}, more...)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "---\n") {
		body, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := json.Unmarshal(body, &o); err != nil {
			t.Fatal(err)
		}
		path := "/apis/rbac.authorization.k8s.io/v1/" + strings.ToLower(o.Kind) + "s"
		if code, said := a.Do(t, http.MethodPost, path, body); code != http.StatusCreated {
			t.Fatalf("make %s: %d %s", o.Kind, code, said)
		}
		t.Cleanup(func() {
			r, _ := http.NewRequest(http.MethodDelete, a.config.Host+path+"/"+o.Metadata.Name, nil)
			if answer, err := a.http.Do(r); err == nil {
				answer.Body.Close()
			}
		})
	}
}

// Kubeconfig writes a copy of $KUBECONFIG with its current user and cluster changed.
func Kubeconfig(t *testing.T, change func(*api.AuthInfo, *api.Cluster)) string {
	t.Helper()
	c, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	at := c.Contexts[c.CurrentContext]
	change(c.AuthInfos[at.AuthInfo], c.Clusters[at.Cluster])
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Left lists tare's namespaces in the cluster, and its images and pods' control groups on this
// node.
func (a *Admin) Left(t *testing.T) []string {
	t.Helper()
	var all []string
	_, b := a.Do(t, http.MethodGet, "/api/v1/namespaces?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dtare", nil)
	var l corev1.NamespaceList
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	for _, n := range l.Items {
		all = append(all, "namespace "+n.Name)
	}
	c := kube.NewContainerd()
	out, err := exec.Command("ctr", "--address", c.Address, "--namespace", "k8s.io", "images", "ls", "-q").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(out)) {
		if strings.HasPrefix(name, "localhost/tare:") {
			all = append(all, "image "+strings.TrimSpace(name))
		}
	}
	all = append(all, podGroups()...)
	slices.Sort(all)
	return all
}

// podGroups finds the cgroups of pods on this host, also below the cgroup of a node.
func podGroups() []string {
	var all []string
	for _, pattern := range []string{"*/kubepods*/*/pod*", "*/kubepods*/pod*", "kubepods*/*/*pod*", "*/*/kubepods*/*/pod*", "*/*/kubepods*/pod*"} {
		found, _ := filepath.Glob("/sys/fs/cgroup/" + pattern) // the patterns are constants
		all = append(all, found...)
	}
	return all
}

// Nodes returns the names of the cluster's nodes.
func (a *Admin) Nodes(t *testing.T) []string {
	t.Helper()
	_, b := a.Do(t, http.MethodGet, "/api/v1/nodes", nil)
	var l corev1.NodeList
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range l.Items {
		names = append(names, n.Name)
	}
	return names
}

// As changes a kubeconfig: the same credentials impersonate another user.
func As(user string) func(*api.AuthInfo, *api.Cluster) {
	return func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = user }
}
