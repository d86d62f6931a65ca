package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	found "github.com/tarelab/tare/internal/analysis/answer"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/record"
)

// oneNode writes the kubeconfig of a cluster that allows everything and has one node, which is
// not this host.
func oneNode(t *testing.T) string {
	t.Helper()
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}
	node.Status.NodeInfo = corev1.NodeSystemInfo{BootID: "another", Architecture: runtime.GOARCH}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/nodes") {
			_ = json.NewEncoder(w).Encode(corev1.NodeList{Items: []corev1.Node{node}})
			return
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{}, "status": map[string]any{"allowed": true}})
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: none, clusters: [{name: k, cluster: {server: "%s"}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`, s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// begunRun makes the result directory that a run with these arguments has before it measures.
func begunRun(t *testing.T, args ...string) *record.Result {
	t.Helper()
	r := parsedRun(t, append([]string{"run"}, args...)...)
	e, _, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	host, err := inspectHost(e, r.Volume, r.cluster(), r.podNode())
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Build(e, catalog.Plan(r.cluster()), host, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Record.Command = r.nodeFlags.command(r.experimentFlags.command(p.Record.Seed))
	return &record.Result{Dir: "r", Plan: p.Record, Manifest: manifest(host, time.Now()), Lines: make([]record.Line, 1)}
}

// parsedRun parses the arguments of tare run.
func parsedRun(t *testing.T, args ...string) *runCommand {
	t.Helper()
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return &g.Run
}

// proposed is the command that the report of an undecided result proposes; nil: there is none.
func proposed(t *testing.T, was *record.Result) []string {
	t.Helper()
	e := &record.Effects{Experiment: was.Plan.Experiment, Host: was.Manifest.Host, Ended: "budget"}
	for _, w := range was.Plan.Workloads {
		e.Workloads = append(e.Workloads, record.WorkloadResult{Name: w.Name, Primary: w.Primary, Baseline: w.Baseline})
	}
	e.Answer = found.Of(e)
	var text strings.Builder
	if err := report.In(messages.In(messages.English)).Text(&text, e, report.Options{Dir: was.Dir}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if _, command, ok := strings.Cut(line, "tare run --continue "); ok {
			return strings.Fields("run --continue " + command)
		}
	}
	return nil
}

// The command line accepts the command that a report proposes, and it continues the run where it
// was measured: on this host, or with pods elsewhere. A report proposes no other command.
func TestProposedCommandContinues(t *testing.T) {
	config, helped := oneNode(t), (*record.Result)(nil)
	pods := []string{"--kubeconfig=" + config, "--context=c", "--nodes=worker", "--pod-image=localhost/x:1", "--arms=besteffort,burstable", "--workload=rpc"}
	for name, args := range map[string][]string{
		"this host":      {"quick", "--arms=host,cgroup", "--workload=rpc"},
		"pods elsewhere": append([]string{"--namespace=team"}, pods...),
	} {
		was := begunRun(t, args...)
		helped = was
		command := proposed(t, was)
		if command == nil {
			t.Errorf("%s: nothing is proposed", name)
			continue
		}
		r := parsedRun(t, command...)
		p, _, _, err := r.planFurther(was)
		if err != nil {
			t.Errorf("%s: %q: %v", name, command, err)
			continue
		}
		if want := was.Plan.Workloads[0].Arms; len(p.Record.Workloads[0].Arms) != len(want) {
			t.Errorf("%s: %d arms, want %d", name, len(p.Record.Workloads[0].Arms), len(want))
		}
	}
	helped.Manifest.Host.Helper = &record.Helper{Node: "worker"}
	if command := proposed(t, helped); command != nil {
		t.Errorf("of a node helper: %q", command)
	}
	if _, _, _, err := parsedRun(t, "run", "--continue", "r").planFurther(helped); err == nil || !strings.Contains(err.Error(), "through a node helper") {
		t.Errorf("of a node helper: %v", err)
	}
}
