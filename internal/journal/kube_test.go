package journal

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

// Every arm in a pod has the same namespace in the journal. What a cluster does not
// remove is asked for once a round, and not for each of them.
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
		dead(t, dir, "r", nil, slices.Repeat([]Step{Namespace(file, "c", "tare-r")}, arms)...)
		if r, err := Undo(dir, "r"); err != nil || len(r.Failed) != arms || len(r.Undone) > 0 {
			t.Errorf("%d arms: %+v %v", arms, r, err)
		}
		return asked.Load() - before
	}
	if one, five := asks(1), asks(5); one == 0 || one != five {
		t.Errorf("asked %d times for one arm, %d times for five", one, five)
	}
}
