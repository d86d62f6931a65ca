package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// Part is a program of a cluster of tools/cluster ("kubelet", "kube-apiserver").
type Part struct {
	pid int
}

// Part finds a program of the first node. In a cluster that tools/cluster did not make the test
// is skipped.
func (a *Admin) Part(t *testing.T, name string) Part {
	t.Helper()
	return a.partOf(t, name, "")
}

// Part finds a program of the second node.
func (s Second) Part(t *testing.T, a *Admin, name string) Part {
	t.Helper()
	return a.partOf(t, name, "-2")
}

// partOf finds a program by its pid file; mark is the suffix of the node's files.
func (a *Admin) partOf(t *testing.T, name, mark string) Part {
	t.Helper()
	file := filepath.Join(filepath.Dir(os.Getenv("KUBECONFIG")), "pid", name+mark)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("this cluster is none of tools/cluster: %v", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || filepath.Base(exe) != name {
		t.Fatalf("process %d is not %s: %s %v", pid, name, exe, err)
	}
	return Part{pid}
}

// Stop stops the program by SIGSTOP until Continue, or the end of the test.
func (p Part) Stop(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { p.Continue(t) })
	if err := unix.Kill(p.pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// Continue sends SIGCONT.
func (p Part) Continue(t *testing.T) {
	t.Helper()
	if err := unix.Kill(p.pid, unix.SIGCONT); err != nil {
		t.Error(err)
	}
}

// Get reads an object.
func (a *Admin) Get(t *testing.T, path string, into any) int {
	t.Helper()
	code, b := a.Do(t, http.MethodGet, path, nil)
	if code == http.StatusOK {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return code
}

// patience is how long a test waits for the cluster. Once that was not enough it is impatience:
// a lost node is lost for all following tests.
var patience = 3 * time.Minute

const impatience = 10 * time.Second

// AwaitNodes waits until every node is ready, or none is.
func (a *Admin) AwaitNodes(t *testing.T, ready bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		var l corev1.NodeList
		a.Get(t, "/api/v1/nodes", &l)
		so := len(l.Items) > 0
		for _, n := range l.Items {
			for _, c := range n.Status.Conditions {
				if c.Type == corev1.NodeReady && (c.Status == corev1.ConditionTrue) != ready {
					so = false
				}
			}
			so = so && (!ready || len(n.Spec.Taints) == 0)
		}
		if so {
			return
		}
		if time.Now().After(end) {
			for _, n := range l.Items {
				t.Logf("%s: taints %v, conditions %v", n.Name, n.Spec.Taints, n.Status.Conditions)
			}
			t.Errorf("after %v no node has become ready=%v", patience, ready)
			patience = impatience
			t.FailNow()
		}
	}
}

// AwaitNone waits until Left is empty.
func (a *Admin) AwaitNone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		left := a.Left(t)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("left after %v: %v", patience, left)
			patience = impatience
			return
		}
	}
}
