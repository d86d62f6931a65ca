package nodes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
)

// The remedy of a lost result is about the node, not about the connection.
func TestLost(t *testing.T) {
	broke := hint.New(errors.New("EOF"), "is the cluster up?")
	err := errors.Join(&lostError{"n1", broke}, nil)
	if want := "the result of node n1 is lost: EOF"; !strings.HasPrefix(err.Error(), want) || !errors.Is(err, broke) {
		t.Errorf("%v", err)
	}
	if got := hint.Of(err); !strings.Contains(got, "--nodes n1 --node-helper") || !strings.Contains(got, "tare cleanup") {
		t.Errorf("hint: %s", got)
	}
}

// The helper's account has the rights that the experiment's pods need. Without pods it can
// do nothing but remove the helper.
func TestHelperRights(t *testing.T) {
	dir := t.TempDir()
	file, token := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "token")
	err := errors.Join(os.WriteFile(token, []byte("x"), 0o600), kube.WriteKubeconfig(file, kube.Server{URL: "https://127.0.0.1:1"}, token))
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Access{Kubeconfig: file}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	for name, c := range map[string]struct {
		rights []kube.Rights
		pods   bool
		rules  map[string]bool // some of the resources
	}{
		"no arm in a pod": {nil, false, map[string]bool{"pods": false, "services": false}},
		"a plain one":     {[]kube.Rights{nil}, true, map[string]bool{"pods": true, "services": false}},
		"with a service":  {[]kube.Rights{nil, {"services": {"create"}}}, true, map[string]bool{"pods": true, "services": true}},
	} {
		h, err := Job{Cluster: cluster, Image: "busybox@sha256:0123", Rights: c.rights}.helper(node, "")
		if err != nil {
			t.Fatal(err)
		}
		if h.spec.Pods != c.pods {
			t.Errorf("%s: pods %v", name, h.spec.Pods)
		}
		has := map[string]bool{}
		for _, r := range h.spec.Role("uid").Rules {
			for _, resource := range r.Resources {
				has[resource] = true
			}
		}
		for resource, want := range c.rules {
			if has[resource] != want {
				t.Errorf("%s: it may do something to %s: %v", name, resource, has[resource])
			}
		}
	}
}
