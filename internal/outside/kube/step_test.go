package kube

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Every arm in a pod has the same namespace in the journal. If a cluster does not remove it, it
// is asked once a round, not once for each arm.
func TestUndoNamespaceOnce(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}`, http.StatusForbidden)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c,
 clusters: [{name: c, cluster: {server: %q}}], users: [{name: u, user: {token: t}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, s.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	asks := func(arms int) int64 {
		before := asked.Load()
		dir := t.TempDir()
		step := NamespaceStep{Kubeconfig: file, Context: "c", Name: "tare-r"}
		journaltest.Write(t, dir, journaltest.Header(t, "r"), slices.Repeat([]journal.Step{step}, arms)...)
		if r, err := journal.Undo(dir, "r", journal.Kinds{journal.KindOf[NamespaceStep]()}); err != nil || len(r.Failed) != arms || len(r.Undone) > 0 {
			t.Errorf("%d arms: %+v %v", arms, r, err)
		}
		return asked.Load() - before
	}
	if one, five := asks(1), asks(5); one == 0 || one != five {
		t.Errorf("asked %d times for one arm, %d times for five", one, five)
	}
}

func TestCheckSteps(t *testing.T) {
	c := &Cluster{Access: Access{Kubeconfig: "/root/.kube/config", Context: "c"}}
	journaltest.Checks(t, []journal.Step{
		c.NamespaceStep("r"), c.PodsStep("team", "r"), ImageStep{"/run/containerd/containerd.sock", ImageOf("r")},
	}, []journal.Step{
		NamespaceStep{Kubeconfig: "/k", Name: "default"}, NamespaceStep{Kubeconfig: "/k", Name: "tare-r2"}, NamespaceStep{Name: "tare-r"},
		PodsStep{Kubeconfig: "/k", Pods: "team/tare-r2"}, PodsStep{Kubeconfig: "/k", Pods: "team"}, PodsStep{Pods: "team/tare-r"},
		PodsStep{Kubeconfig: "/k", Pods: "team/x/tare-r"}, PodsStep{Kubeconfig: "/k", Pods: "/tare-r"},
		ImageStep{"/s", "localhost/tare:r2"}, ImageStep{"/s", "debian"}, ImageStep{"", "localhost/tare:r"},
	})
}
