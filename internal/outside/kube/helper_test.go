package kube

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

func helperSpec() HelperSpec {
	return HelperSpec{Run: "r1", Node: "n1", Own: "registry.k8s.io/pause:3.10", Arch: "amd64", Deadline: time.Hour}
}

// The helper is privileged and in the host's namespaces. Its account has no more rights than
// arms in pods need.
func TestHelper(t *testing.T) {
	s := helperSpec()
	p := s.Pod()
	if !p.Spec.HostPID || !p.Spec.HostNetwork || !p.Spec.HostIPC || !*p.Spec.Containers[0].SecurityContext.Privileged {
		t.Errorf("not in the host: %+v", p.Spec)
	}
	if *p.Spec.ActiveDeadlineSeconds != 3600 || *p.Spec.AutomountServiceAccountToken {
		t.Errorf("deadline or token: %+v", p.Spec)
	}
	if p.Spec.Containers[0].Image != s.Own || p.Spec.Containers[0].ImagePullPolicy != corev1.PullNever {
		t.Errorf("begins with %+v", p.Spec.Containers[0])
	}
	hostPaths := 0
	for _, v := range p.Spec.Volumes {
		if v.HostPath != nil {
			hostPaths++
			if v.HostPath.Type == nil || *v.HostPath.Type != corev1.HostPathDirectory {
				t.Errorf("%s would be made on the node", v.HostPath.Path)
			}
		}
	}
	s.Image = "busybox"
	q := s.Pod()
	if hostPaths != 4 || len(q.Spec.Volumes) != len(p.Spec.Volumes)-5 || q.Spec.Containers[0].ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("%d directories of the node; with an image of its own %+v", hostPaths, q.Spec.Volumes)
	}
	set := map[string]string{}
	for _, e := range p.Spec.Containers[0].Env {
		set[e.Name] = e.Value
	}
	for _, word := range []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "LOCPATH", "GCONV_PATH"} {
		if value, ok := set[word]; !ok || value != "" || set["PATH"] == "" {
			t.Errorf("of the image's environment %s is used: %v", word, set)
		}
	}
	for _, file := range []string{"/etc/ld.so.preload", "/etc/ld.so.cache"} {
		if !slices.ContainsFunc(p.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == file && m.SubPath == emptyFile }) {
			t.Errorf("the image's %s: %+v", file, p.Spec.Containers[0].VolumeMounts)
		}
	}
	if rules := s.Role("uid").Rules; len(rules) != 1 || fmt.Sprint(rules[0].ResourceNames, rules[0].Resources, rules[0].Verbs) != "[tare-r1] [namespaces] [delete get]" {
		t.Errorf("without arms in pods the account may %+v", rules)
	}
	s.Pods = true
	role := s.Role("uid")
	for _, r := range role.Rules {
		if strings.Contains(strings.Join(r.Resources, " "), "exec") || r.APIGroups[0] != "" {
			t.Errorf("the account may %+v", r)
		}
	}
	if role.OwnerReferences[0].UID != "uid" || role.OwnerReferences[0].Kind != "Namespace" || s.Binding("uid").Subjects[0].Namespace != "tare-r1" {
		t.Errorf("%+v", role)
	}
	if got := s.Namespace().Labels; got["pod-security.kubernetes.io/enforce"] != "privileged" || got[LabelHelper] != "n1" {
		t.Errorf("%v", got)
	}
}

// The user's rights include the account's: nobody can grant rights without having them.
func TestHelperRBAC(t *testing.T) {
	text, err := RBAC(For{User: "jane"}, HelperRights)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, r := range role.Rules {
		have[r.APIGroups[0]+":"+r.Resources[0]] = strings.Join(r.Verbs, " ")
	}
	with := helperSpec()
	with.Pods = true
	for _, r := range with.Role("").Rules {
		if got := have[":"+r.Resources[0]]; got != strings.Join(r.Verbs, " ") {
			t.Errorf("%s: %q", r.Resources[0], got)
		}
	}
	if have[":pods/exec"] != "create get" || have["rbac.authorization.k8s.io:clusterroles"] != "create delete" {
		t.Errorf("%v", have)
	}
}

func someNode(name, arch string, ready corev1.ConditionStatus) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.NodeInfo.Architecture = arch
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "KubeletStopped", Message: "no heartbeat"}}
	return n
}

func TestFindNodes(t *testing.T) {
	here := runtime.GOARCH
	all := []corev1.Node{someNode("a", here, "True"), someNode("b", here, "True"), someNode("down", here, "False"), someNode("other", "s390x", "True")}
	for _, c := range []struct {
		names       []string
		says, helps string
	}{
		{[]string{"b", "a"}, "", ""},
		{[]string{"a", "x"}, `no node "x"`, "a, b, down, other"},
		{[]string{"a", "a"}, "twice", "once"},
		{[]string{"down"}, "down is not ready: KubeletStopped: no heartbeat", "kubectl describe node down"},
		{[]string{"other"}, "other is s390x", "GOARCH=s390x"},
		{nil, "down is not ready", ""},
	} {
		found, err := FindNodes(all, c.names)
		if c.says == "" {
			if err != nil || len(found) != 2 || found[0].Name != "b" {
				t.Errorf("%v: %v %v", c.names, found, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.helps) {
			t.Errorf("%v: %v; %s", c.names, err, hint.Of(err))
		}
	}
}

// The environment of an image that the user did not name does not change the node's own sh: in
// bash a variable can define a function.
func TestHelperShell(t *testing.T) {
	bash := testneed.Tool(t, "bash")
	s := helperSpec()
	command := s.Pod().Spec.Containers[0].Command
	command = append(slices.Clone(command[:len(command)-1]), "sleep 0; echo done")
	command[slices.Index(command, "/bin/sh")] = bash
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = []string{"BASH_FUNC_sleep%%=() { echo planted; }", "BASH_FUNC_echo%%=() { printf planted; }", "SHELLOPTS=xtrace", "PS4=$(printf planted)"}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
	if s.Image = "busybox@sha256:0123"; s.Pod().Spec.Containers[0].Command[0] != "/bin/sh" {
		t.Errorf("a named image needs more than %s", helperPrograms)
	}
}

// Nor does it change the copy of this binary into the helper. In this test the helper's
// directory is a temporary one.
func TestCopyShell(t *testing.T) {
	bash, self, dir := testneed.Tool(t, "bash"), openSelf(t), t.TempDir()
	asked := make(chan []string, 9) // by WebSocket, then by SPDY
	cluster := connected(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query()["command"]
		say(w, http.StatusForbidden, refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "only looks"))
	})
	if err := cluster.CopyIntoHelper(t.Context(), helperSpec(), HelperDir+"/tare"); err == nil || len(asked) == 0 {
		t.Fatalf("asked %d times: %v", len(asked), err)
	}
	command := <-asked
	last := len(command) - 1
	command[slices.Index(command, "/bin/sh")], command[last] = bash, strings.ReplaceAll(command[last], HelperDir, dir)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = self
	cmd.Env = []string{"BASH_FUNC_head%%=() { echo planted; }", "BASH_FUNC_wc%%=() { echo planted; }"}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%q, %v", out, err)
	}
	of, _ := self.Stat()
	if copied, err := os.Stat(filepath.Join(dir, "tare")); err != nil || copied.Size() != of.Size() {
		t.Errorf("of %d bytes: %+v, %v", of.Size(), copied, err)
	}
}

// openSelf opens this binary. It skips the test if the binary is not static: such a binary is
// not copied.
func openSelf(t *testing.T) *os.File {
	t.Helper()
	self, err := os.Open(selfPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { self.Close() })
	if err := static(self); err != nil {
		t.Skip(err)
	}
	return self
}

// An annotation of the namespace cannot bring another command into the helper.
func TestAwaitCommand(t *testing.T) {
	for run, ok := range map[string]bool{"abc123": true, "": false, "x; reboot": false, "../x": false} {
		words, good := awaitCommand(run)
		if good != ok || ok && strings.Join(words, " ") != HelperDir+"/tare __node enter await abc123" {
			t.Errorf("%q: %q, %v", run, words, good)
		}
	}
	s := helperSpec()
	s.NodeRun = "abc123"
	if got := s.Namespace().Annotations[annotationNodeRun]; got != "abc123" {
		t.Errorf("%q", got)
	}
}

func TestCheckHelperImage(t *testing.T) {
	for name, ok := range map[string]bool{
		"busybox": false, "registry.example/busybox:1": false, "busybox@sha256:0123": true, "localhost/helper:1": true, "localhost.example/helper": false,
	} {
		if err := CheckHelperImage(name); (err == nil) != ok || !ok && !strings.Contains(hint.Of(err), name+"@sha256:") {
			t.Errorf("%s: %v; %s", name, err, hint.Of(err))
		}
	}
}

func TestOwnImage(t *testing.T) {
	n := someNode("a", "amd64", "True")
	if _, err := OwnImage(&n); err == nil || !strings.Contains(hint.Of(err), "--helper-image") {
		t.Errorf("none: %v; %s", err, hint.Of(err))
	}
	n.Status.Images = []corev1.ContainerImage{
		{Names: []string{"big:1"}, SizeBytes: 9}, {Names: []string{"p@sha256:0", "pause:3"}, SizeBytes: 2}, {Names: []string{"localhost/tare:r1"}, SizeBytes: 1},
	}
	if got, err := OwnImage(&n); err != nil || got != "pause:3" {
		t.Errorf("%q %v", got, err)
	}
}

// The error of a cluster that refuses a helper has a remedy.
func TestHelperRefused(t *testing.T) {
	for _, c := range []struct{ says, helps string }{
		{`clusterroles is forbidden: User "jane" cannot create`, "--rbac --node-helper"},
		{`pods "helper" is forbidden: violates PodSecurity "baseline:latest": privileged`, "runs tare on the node itself"},
		{`admission webhook "no.example" denied the request`, "runs tare on the node itself"},
	} {
		cluster := connected(t, func(w http.ResponseWriter, _ *http.Request) {
			say(w, 403, refusal(403, metav1.StatusReasonForbidden, c.says))
		})
		cluster.Rights = "tare plan --rbac --node-helper"
		err := cluster.CreateHelper(t.Context(), helperSpec())
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.helps) {
			t.Errorf("%v; %s", err, hint.Of(err))
		}
	}
}

// A helper is gone when its namespace ends or does not exist. If the cluster forbids to read the
// namespace nothing is waited for.
func TestAwaitHelperGone(t *testing.T) {
	there, ending := Namespace("r1", nil), Namespace("r1", nil)
	ending.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for _, last := range []struct {
		code   int
		answer any
	}{
		{http.StatusOK, ending},
		{http.StatusNotFound, refusal(http.StatusNotFound, metav1.StatusReasonNotFound, "no namespace")},
		{http.StatusForbidden, refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no rights")},
	} {
		var asked atomic.Int64
		cluster := connected(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) < 3 {
				say(w, http.StatusOK, there)
				return
			}
			say(w, last.code, last.answer)
		})
		cluster.AwaitHelperGone(t.Context(), "r1")
		if n := asked.Load(); n != 3 {
			t.Errorf("code %d: asked %d times", last.code, n)
		}
	}
}
