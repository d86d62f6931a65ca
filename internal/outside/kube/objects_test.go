package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// connected is a cluster whose API server is a function.
func connected(t *testing.T, answer http.HandlerFunc) *Cluster {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "%s"}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`, s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Access{Kubeconfig: file}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func say(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

func refusal(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: int32(code), Reason: reason, Message: message,
	}
}

// cut ends a connection without an answer.
func cut(t *testing.T, w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	conn.Close()
}

// A call to an API server that is away for a moment is repeated. An object that was made while
// the answer was lost is no error.
func TestPatience(t *testing.T) {
	asked := 0
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case asked == 1:
			cut(t, w)
		case asked == 2:
			say(w, http.StatusServiceUnavailable, refusal(503, metav1.StatusReasonServiceUnavailable, "away"))
		case r.Method == http.MethodPost:
			say(w, http.StatusConflict, refusal(409, metav1.StatusReasonAlreadyExists, "already exists"))
		default:
			say(w, http.StatusOK, spec().Pod())
		}
	})
	if err := c.CreatePod(t.Context(), spec().Pod()); err != nil || asked != 3 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	asked = 0
	if p, err := c.Pod(t.Context(), "tare-r1", "p"); err != nil || p.Name != "best-effort" || asked != 3 {
		t.Errorf("%v %v, asked %d times", p, err, asked)
	}
	asked = 2 // an object that exists before the first attempt is not tare's
	if err := c.CreateNamespace(t.Context(), Namespace("r1", nil)); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("%v", err)
	}
}

// Calls to one API server share one patience: when it is used up the next call fails without
// asking.
func TestPatienceIsShared(t *testing.T) {
	asked := 0
	c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		say(w, http.StatusServiceUnavailable, refusal(503, metav1.StatusReasonServiceUnavailable, "away"))
	})
	c.Patience = 0
	for range 2 { // by the second time the patience is used up
		if _, err := c.Pod(t.Context(), "tare-r1", "p"); err == nil {
			t.Fatal("a server that says nothing gave a pod")
		}
	}
	before := asked
	err := c.DeletePod(t.Context(), "tare-r1", "p")
	if err == nil || asked != before || !strings.Contains(err.Error(), "away") {
		t.Errorf("%v, asked %d times more", err, asked-before)
	}
	c.Outages.at(c.Server).last = time.Now().Add(-2 * failFastFor)
	if err := c.DeletePod(t.Context(), "tare-r1", "p"); err == nil || asked == before {
		t.Errorf("%v: after a while it is to be asked again", err)
	}
}

// All missing rights are found before anything is made.
func TestMay(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
			say(w, http.StatusCreated, map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
				"status": map[string]any{"userInfo": map[string]any{"username": "system:serviceaccount:ci:tare"}}})
			return
		}
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Resource, Verb string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		a := review.Spec.ResourceAttributes
		allowed := a.Resource != "nodes" && (a.Resource != "pods" || a.Verb == "get")
		say(w, http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{}, "status": map[string]any{"allowed": allowed}})
	})
	err := c.May(t.Context())
	if err == nil || !strings.Contains(err.Error(), `forbids user "system:serviceaccount:ci:tare" to list nodes; create, delete, list pods`) || !strings.Contains(hint.Of(err), "--rbac") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if got := c.Access.Whom(t.Context()); got != "system:serviceaccount:ci:tare" {
		t.Errorf("the rights are for user %q", got)
	}
	mute := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusNotFound, refusal(404, metav1.StatusReasonNotFound, "not found"))
	})
	if err := mute.May(t.Context()); err != nil {
		t.Errorf("a cluster that does not tell: %v", err)
	}
}

// A namespace with pods on a node that is not ready stays: the error says so after a short wait.
func TestNamespaceOnALostNode(t *testing.T) {
	sick := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	sick.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown,
		Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}
	pod := spec().Pod()
	pod.Spec.NodeName = "n1"
	ctx, cancel := context.WithCancel(t.Context())
	asked := false // to delete the namespace
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/nodes"):
			say(w, http.StatusOK, corev1.NodeList{Items: []corev1.Node{sick}})
		case strings.HasSuffix(r.URL.Path, "/pods"):
			say(w, http.StatusOK, corev1.PodList{Items: []corev1.Pod{*pod}})
		default:
			if asked {
				cancel() // the end of the wait
			}
			asked = asked || r.Method == http.MethodDelete
			say(w, http.StatusOK, Namespace("r1", nil))
		}
	})
	err := c.DeleteNamespace(ctx, "tare-r1", "r1")
	if err == nil || !strings.Contains(err.Error(), "its pod best-effort: node n1 is not ready: NodeStatusUnknown") || !strings.Contains(hint.Of(err), "tare cleanup") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

func TestRefusals(t *testing.T) {
	for _, r := range []struct {
		code        int
		reason      metav1.StatusReason
		says, helps string
	}{
		{401, metav1.StatusReasonUnauthorized, "Unauthorized", `credentials of user "jane"`},
		{403, metav1.StatusReasonForbidden, `pods is forbidden: User "jane" cannot create resource "pods"`, "--rbac"},
		{403, metav1.StatusReasonForbidden, `violates PodSecurity "restricted:latest": hostPath volumes`, "image=NAME"},
		{403, metav1.StatusReasonForbidden, `pods "a" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2`, "kubectl describe quota"},
		{403, metav1.StatusReasonForbidden, `persistentvolumeclaims "a" is forbidden: exceeded quota: few, requested: requests.storage=1Gi`, "volume-size="},
		{403, metav1.StatusReasonForbidden, `pods "a" is forbidden: failed quota: few: must specify limits.cpu for: load`, "guaranteed"},
		{403, metav1.StatusReasonForbidden, `pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2`, "limitrange"},
	} {
		asked := 0
		c := connected(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			say(w, r.code, refusal(r.code, r.reason, r.says))
		})
		err := c.CreatePod(t.Context(), spec().Pod())
		if err == nil || !strings.Contains(err.Error(), r.says) || !strings.Contains(hint.Of(err), r.helps) || asked != 1 ||
			strings.Contains(hint.Of(err), "--rbac") != strings.Contains(r.says, "cannot") {
			t.Errorf("%d: %v; %s; asked %d times", r.code, err, hint.Of(err), asked)
		}
	}
	missing := connected(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusNotFound, refusal(404, metav1.StatusReasonNotFound, "not found"))
	})
	if _, err := missing.Pod(t.Context(), "n", "p"); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	if err := errors.Join(missing.DeletePod(t.Context(), "n", "p"), missing.DeleteNamespace(t.Context(), "n", "r1")); err != nil {
		t.Errorf("missing objects: %v", err)
	}
}

// A namespace is removed only if it has the label of the run.
func TestDeleteNamespace(t *testing.T) {
	for run, want := range map[string]int{"r1": 1, "other": 0} {
		deleted := 0
		c := connected(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodDelete:
				deleted++
				say(w, http.StatusOK, corev1.Namespace{})
			case deleted > 0:
				say(w, http.StatusNotFound, refusal(404, metav1.StatusReasonNotFound, "not found"))
			default:
				say(w, http.StatusOK, Namespace("r1", nil))
			}
		})
		err := c.DeleteNamespace(t.Context(), "tare-r1", run)
		if deleted != want || (err == nil) != (want == 1) {
			t.Errorf("run %s: %v, %d deleted", run, err, deleted)
		}
	}
}

func TestConnect(t *testing.T) {
	_, err := Access{Kubeconfig: "/nonexistent/config"}.Connect()
	if err == nil || err.Error() != "no cluster: /nonexistent/config: there is no such file, or it names no cluster" || !strings.Contains(hint.Of(err), "--kubeconfig") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
	if got := (Access{Kubeconfig: "/nonexistent/config"}).UserName(); got != "NAME" {
		t.Errorf("user %q", got)
	}
}
