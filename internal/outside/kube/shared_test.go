package kube

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/base/hint"
)

// In a namespace that others use too a run needs rights in that namespace alone.
func TestSharedRBAC(t *testing.T) {
	text, err := SharedRBAC(For{User: "jane"}, "team")
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(text), "---\n")
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(second), &binding); err != nil {
		t.Fatal(err)
	}
	var resources []string
	for _, r := range role.Rules {
		resources = append(resources, r.Resources...)
	}
	slices.Sort(resources)
	if got := strings.Join(resources, " "); got != "events pods pods/exec resourcequotas" {
		t.Errorf("rights on %s", got)
	}
	if text, err = SharedRBAC(For{User: "jane"}, "team", PodSpec{Service: true, Volume: Volume{Class: "fast"}}.Rights()); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"- services\n": true, "- persistentvolumeclaims\n": true, "- persistentvolumes\n": false, "ClusterRole": false} {
		if strings.Contains(string(text), word) != want {
			t.Errorf("%s: want %v in %s", word, want, text)
		}
	}
	if role.Kind != "Role" || role.Namespace != "team" || binding.Namespace != "team" || binding.RoleRef.Kind != "Role" || binding.Subjects[0].Name != "jane" {
		t.Errorf("%+v %+v", role, binding)
	}
}

// MayShared asks for the rights in that namespace.
func TestMayShared(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Resource, Subresource, Namespace string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review.Spec.ResourceAttributes
		say(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{}, "status": map[string]any{"allowed": a.Namespace == "team" && a.Subresource != "exec"}})
	})
	c.Rights = "tare plan --rbac --namespace=team"
	err := c.MayShared(t.Context(), "team")
	if err == nil || !strings.Contains(err.Error(), "to create, get pods/exec") || !strings.HasPrefix(hint.Of(err), c.Rights+" > rights.yaml") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

// DeleteRun removes the pods of a run by their label, and their Services and claims if the user
// may list them.
func TestDeleteRun(t *testing.T) {
	there := map[string]bool{"pods/tare-r1-a": true, "pods/tare-r1-b": true, "persistentvolumeclaims/tare-r1-a": true}
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "services") {
			say(w, http.StatusForbidden, refusal(403, metav1.StatusReasonForbidden, "services is forbidden"))
			return
		}
		if r.Method == http.MethodDelete {
			if strings.Contains(r.URL.Path, "claims/") && there["pods/tare-r1-a"] {
				t.Error("a claim is removed before its pod")
			}
			delete(there, strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/team/"))
			say(w, http.StatusOK, corev1.Pod{})
			return
		}
		if got := r.URL.Query().Get("labelSelector"); got != "tare/run=r1" || !strings.Contains(r.URL.Path, "/namespaces/team/") {
			t.Errorf("asks for %s of %s", got, r.URL.Path)
		}
		l := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		for name := range there {
			if resource, name, _ := strings.Cut(name, "/"); strings.HasSuffix(r.URL.Path, resource) {
				l.Items = append(l.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
		say(w, http.StatusOK, l)
	})
	if err := c.DeleteRun(t.Context(), "team", "r1"); err != nil || len(there) > 0 {
		t.Errorf("%v; left: %v", err, there)
	}
}

// A user who may not list nodes names the node. In a namespace that others use too pods have the
// run in their name.
func TestWhereUnseen(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusForbidden, refusal(403, metav1.StatusReasonForbidden, "nodes is forbidden"))
	})
	c.PodNode, c.Namespace = "n1", "team"
	n, away, err := c.Where(t.Context())
	if err != nil || !away || n.Name != "n1" {
		t.Errorf("%v %v %v", n, away, err)
	}
	c.Namespace = ""
	if _, _, err := c.Where(t.Context()); err == nil {
		t.Error("a run that makes its own namespace needs to see nodes")
	}
	p := PodSpec{Run: "r1", Arm: "a_b", Namespace: "team", Other: "image"}.Pod()
	if p.Name != "tare-r1-a-b" || p.Namespace != "team" {
		t.Errorf("pod %s of %s", p.Name, p.Namespace)
	}
}

// A pod without tare on its node needs nothing beyond "restricted", and waits for tare's binary.
func TestCopied(t *testing.T) {
	s := PodSpec{Run: "r1", Arm: "a", Other: "image", AgentArgs: []string{"__agent", "serve", Socket}}
	if needs := s.Needs(); len(needs) > 0 {
		t.Errorf("needs %v", needs)
	}
	p := s.Pod()
	c := p.Spec.Containers[0]
	if len(p.Spec.Containers) != 1 || len(p.Spec.InitContainers) > 0 || c.Image != "image" || c.ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("%+v", p.Spec)
	}
	if script := c.Command[len(c.Command)-1]; !strings.Contains(script, "exec "+s.Exe()+" __agent serve "+Socket) {
		t.Errorf("it begins with %q", script)
	}
}
