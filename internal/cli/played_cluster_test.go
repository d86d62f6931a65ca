package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/hostlock"
)

// A flag that a node helper adds to every run is not the user's: an experiment without pods runs with it.
func TestFlagsOfNodeHelper(t *testing.T) {
	file := filepath.Join(t.TempDir(), "k")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		on      kube.Access
		refused bool
	}{
		{kube.Access{Kubeconfig: file}, true}, {kube.Access{Kubeconfig: file, Node: "vm"}, false}, {kube.Access{Node: "vm", Namespace: "team"}, true}, {kube.Access{Context: "c"}, true}, {kube.Access{}, false},
	} {
		if err := checkPodFlags(c.on, false); (err != nil) != c.refused || checkPodFlags(c.on, true) != nil {
			t.Errorf("%+v: %v", c.on, err)
		}
	}
	e := &experiment.Experiment{Arms: []string{"host", "cgroup"}}
	if _, err := inspectHost(e, nil, &pods.Target{Access: kube.Access{Kubeconfig: file, Node: "vm"}}, ""); err != nil {
		t.Errorf("an experiment without pods: %v", err)
	}
}

// Flags before the command and -n are as in kubectl.
func TestKubectlArgs(t *testing.T) {
	for given, want := range map[string]string{
		"-n team plan pod-volumes":              "plan --namespace=team pod-volumes",
		"plan -n team pod-volumes":              "plan --namespace=team pod-volumes",
		"plan pod-volumes -nteam":               "plan pod-volumes --namespace=team",
		"plan -n=team":                          "plan --namespace=team",
		"--context prod --kubeconfig=/k run -q": "run --context=prod --kubeconfig=/k -q",
		"--namespace team run --context prod":   "run --namespace=team --context prod",
		"-l pool=db plan":                       "plan --selector=pool=db",
		"cleanup -n":                            "cleanup -n",
		"cache remove -n":                       "cache remove -n",
		"run --command x -- -n team":            "run --command x -- -n team",
		"plan -n":                               "plan -n",
		"-n":                                    "-n",
		"--help":                                "--help",
		"":                                      "",
		"run --nodes a,b --node-helper -n":      "run --nodes a,b --node-helper -n",
		"-n team --context c":                   "-n team --context c",
	} {
		if got := strings.Join(kubectlArgs(strings.Fields(given)), " "); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	out := asPlugin(t, "-l", "pool=db", "plan")
	if !strings.Contains(out, "unknown flag --selector") || !strings.Contains(out, "kubectl get nodes -l") {
		t.Errorf("a selector: %s", out)
	}
	words := rapid.SampledFrom([]string{"plan", "run", "-n", "team", "-nx", "-n=y", "--context", "c", "--kubeconfig=/k", "-l", "a=b", "--", "-q", "--namespace"})
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(words, 0, 8).Draw(t, "args")
		was := slices.Clone(args)
		once := kubectlArgs(args)
		if !slices.Equal(args, was) || !slices.Equal(kubectlArgs(once), once) {
			t.Fatalf("%q: %q, then %q", was, once, kubectlArgs(once))
		}
	})
}

// Another run on this host does not stop one whose pods are on another node.
func TestBusyHostAndPodsElsewhere(t *testing.T) {
	t.Setenv(hostlock.DirEnv, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	lock, err := hostlock.Take("another", false)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	code := func(args ...string) int {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		code := mainAs(ownName, append([]string{"run", "--workload", "rpc", "--budget", "1s", "-q"}, args...), out, out)
		text, _ := os.ReadFile(out.Name())
		t.Logf("%d: %s", code, text)
		return code
	}
	elsewhere := []string{"pod-network", "--kubeconfig", oneNode(t), "--context", "c", "--nodes", "worker", "--pod-image", "image"}
	if got := code(elsewhere...); got != exitUsage {
		t.Errorf("pods on another node: code %d, want that of a short budget", got)
	}
	if got := code("quick", "--arms", "host,cgroup"); got != exitBusy {
		t.Errorf("arms on this host: code %d", got)
	}
}

// A cluster that cannot be reached has one exit code, whatever asks it.
func TestUnreachableClusterHasOneCode(t *testing.T) {
	testneed.Root(t)
	t.Setenv(hostlock.DirEnv, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that the test wants to fail
	s.StartTLS()                                   // its authority is in no kubeconfig
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "%s"}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`, s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, kubeconfig := range []string{file, none} {
		for _, args := range []string{"plan pod-volumes", "plan pod-volumes --nodes a", "plan --nodes a,b --node-helper", "run --nodes a --node-helper", "run --nodes all --node-helper", "run pod-volumes --nodes a", "run pod-network"} {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			code := mainAs(ownName, append(strings.Fields(args), "--kubeconfig", kubeconfig), out, out)
			said, _ := os.ReadFile(out.Name())
			want := exitUnsupported
			if kubeconfig == none {
				want = exitUsage // a file that was named is not there
			}
			if code != want || kubeconfig == file && !strings.Contains(strings.Join(strings.Fields(string(said)), " "), "no authority that the kubeconfig names") {
				t.Errorf("%s: code %d: %s", args, code, said)
			}
			out.Close()
		}
	}
}

// What a plan says of changes has whole words: no name that only the run has, and no word that led to it.
func TestKindOfChange(t *testing.T) {
	for key, want := range map[messages.Key]string{
		"change.pod": "pod", "change.security": "PodSecurity: privileged", "change.claim": "PersistentVolumeClaim", "change.service": "Service", "change.namespace": "namespace",
		"change.controllers": "controllers", "change.image": "image", "change.overlay": "overlay mount", "change.container": "container", "change.networks": "two network namespaces",
		"change.directory": "directory below /x", "change.network": "NFS of srv:/x", "change.mounted": "NFS",
	} {
		change := facts.Changed(messages.Say(key, "name", "besteffort", "space", "tare-RUN", "path", "/x/tare-RUN/a", "system", "NFS", "from", "srv:/x"))
		if got := kindIn(change, messages.Catalog{}); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	mainAs(ownName, []string{"plan", "pod-network", "--kubeconfig", oneNode(t), "--context", "c", "--nodes", "worker", "--pod-image", "image"}, out, out)
	said, _ := os.ReadFile(out.Name())
	text := strings.Join(strings.Fields(string(said)), " ")
	if !strings.Contains(text, " pod") || strings.HasSuffix(text, " of") {
		t.Errorf("%s", said)
	}
	for _, cut := range []string{" of,", " on,", " of;", " on;", " in,", " of ×"} {
		if strings.Contains(text, cut) {
			t.Errorf("%q in %s", cut, said)
		}
	}
}

// Flags that change nothing of the rights are accepted with --rbac.
func TestVerboseWithRBAC(t *testing.T) {
	if err := (&planCommand{RBAC: true, Verbose: true, Format: "text"}).checkFlags(); err != nil {
		t.Error(err)
	}
	if err := (&planCommand{Verbose: true, Format: "json"}).checkFlags(); err == nil {
		t.Error("-v with JSON has no effect")
	}
}

// A plan of pods counts their launches with the time that a cluster takes, and a run whose budget allows no
// verdict promises no precision.
func TestLeastBudgetOfPods(t *testing.T) {
	r := parsedRun(t, "run", "pod-network", "--kubeconfig", oneNode(t), "--context", "c", "--nodes", "worker", "--pod-image", "image", "--budget", "60s")
	e, _, err := r.load()
	if err != nil {
		t.Fatal(err)
	}
	host, err := inspectHost(e, nil, r.cluster(), r.podNode())
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.plan(e, host)
	if err != nil {
		t.Fatal(err)
	}
	arms := p.Arms()
	if least, ok := p.Deciding(); !ok || least < 4*time.Duration(arms)*2*time.Second || !strings.Contains(launchNotice(p, messages.Catalog{}), "too short for verdicts") {
		t.Errorf("%d arms of pods: verdicts need %v, %q", arms, least, launchNotice(p, messages.Catalog{}))
	}
	short := timed(60, 0.01)
	for i := range short.Loads {
		for len(short.Loads[i].Arms) < 60 {
			short.Loads[i].Arms = append(short.Loads[i].Arms, short.Loads[i].Arms[1])
		}
	}
	o, err := lookAhead(t.Context(), short, messages.Catalog{})
	if err != nil || o == nil || o.reach != messages.In(messages.English).Text("outlook.short") || o.expected != nil || launchNotice(short, messages.Catalog{}) == "" {
		t.Errorf("%+v %v", o, err)
	}
}

// team plays a cluster with one node, which is not this host, and a namespace with rules. admit changes pods
// that are made, also by a dry run.
type team struct {
	node   corev1.Node
	quotas []corev1.ResourceQuota
	pods   []corev1.Pod
	admit  func(*corev1.Pod)
	denied []string // resources
}

func newTeam(cpu, memory string) *team {
	w := &team{node: corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}}
	w.node.Status.NodeInfo = corev1.NodeSystemInfo{BootID: "another", Architecture: runtime.GOARCH}
	w.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	w.node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourcePods: resource.MustParse("110")}
	w.node.Status.Capacity = w.node.Status.Allocatable
	return w
}

func (w *team) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	last := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	answer := func(code int, what any) {
		out.WriteHeader(code)
		_ = json.NewEncoder(out).Encode(what)
	}
	switch {
	case slices.Contains(w.denied, last):
		answer(http.StatusForbidden, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden})
	case last == "nodes":
		answer(http.StatusOK, corev1.NodeList{Items: []corev1.Node{w.node}})
	case last == "resourcequotas":
		answer(http.StatusOK, corev1.ResourceQuotaList{Items: w.quotas})
	case last == "pods" && r.Method == http.MethodPost:
		var p corev1.Pod
		_ = json.NewDecoder(r.Body).Decode(&p)
		if w.admit != nil {
			w.admit(&p)
		}
		p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		answer(http.StatusCreated, p)
	case last == "pods":
		answer(http.StatusOK, corev1.PodList{Items: w.pods})
	default:
		answer(http.StatusCreated, map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{}, "status": map[string]any{"allowed": true}})
	}
}

// plan prints the plan of an experiment in this cluster.
func (w *team) plan(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "config")
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: k, cluster: {server: "%s"}}],
contexts: [{name: c, context: {cluster: k, user: jane}}], users: [{name: jane, user: {}}]}`, s.URL)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err := errors.Join(err, os.WriteFile(file, []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	args = append([]string{"plan", "--workload", "rpc", "--kubeconfig", file, "--nodes", "worker", "--pod-image", "image"}, args...)
	code = mainAs(ownName, args, out, out)
	said, _ := os.ReadFile(out.Name())
	return code, strings.Join(strings.Fields(string(said)), " ")
}

// Rules of a namespace that change pods leave out the arms that they change, in the plan, and the others stay.
func TestLimitRangeInPlan(t *testing.T) {
	w := newTeam("4", "16Gi")
	w.admit = func(p *corev1.Pod) {
		for i := range p.Spec.Containers {
			r := &p.Spec.Containers[i].Resources
			if r.Limits == nil {
				r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			}
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}
			}
		}
	}
	code, text := w.plan(t, "--namespace", "team", "--arms", "besteffort,burstable,guaranteed")
	if code != exitUnsupported || !strings.Contains(text, "Burstable and not BestEffort") || !strings.Contains(text, "kubectl describe limitrange -n team") || !strings.Contains(text, "nothing is left to compare with guaranteed") {
		t.Errorf("%d: %s", code, text)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	const mine = `arms:
  best: {environment: besteffort}
  small: {environment: "burstable:cpu=500m,cpu-limit=1"}
  whole: {environment: "guaranteed:cpu=1,memory=1Gi"}
baseline: whole
workloads: {rpc: {kind: rpc}}
`
	if err := os.WriteFile(file, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text = w.plan(t, file, "--namespace", "team"); code != exitOK || !strings.Contains(text, "skipped best: the cluster changes pod") || strings.Contains(text, "skipped small") {
		t.Errorf("%d: %s", code, text)
	}
}

// Quotas and the node are asked for all pods at once, before the run.
func TestPodsFitTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	for _, c := range []struct {
		name, cpu, quota, environments, says string
		denied                               []string
		code                                 int
	}{
		{name: "room", cpu: "4", quota: "20", environments: "burstable:cpu=500m guaranteed:cpu=1,memory=1Gi", code: exitOK},
		{name: "quota of pods", cpu: "4", quota: "1", environments: "besteffort burstable", says: "quota team has 1 of pods", code: exitUnsupported},
		{name: "quota may not be read", cpu: "4", quota: "1", environments: "besteffort burstable", denied: []string{"resourcequotas"}, code: exitOK},
		{name: "one pod too large", cpu: "2", quota: "20", environments: "besteffort guaranteed:cpu=64,memory=1Gi", says: "64 does not fit", code: exitUnsupported},
		{name: "all too large", cpu: "2", quota: "20", environments: "guaranteed:cpu=1,memory=1Gi burstable:cpu=1500m", says: "does not fit", code: exitUnsupported},
		{name: "memory", cpu: "8", quota: "20", environments: "guaranteed:cpu=1,memory=10Gi burstable:memory=10Gi", says: "of memory at once", code: exitUnsupported},
		{name: "limit below request", cpu: "8", quota: "20", environments: "besteffort burstable:cpu=500m,cpu-limit=250m", says: "cpu-limit=250m is below the request cpu=500m", code: exitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTeam(c.cpu, "16Gi")
			w.denied = c.denied
			w.quotas = []corev1.ResourceQuota{{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse(c.quota)}}}}
			text := "arms:\n"
			for i, e := range strings.Fields(c.environments) {
				text += fmt.Sprintf("  arm%d: {environment: %q}\n", i, e)
			}
			text += "baseline: arm0\nworkloads: {rpc: {kind: rpc}}\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if code, text := w.plan(t, file, "--namespace", "team"); code != c.code || !strings.Contains(text, c.says) {
				t.Errorf("%d: %s", code, text)
			}
		})
	}
}

// A user who may not read nodes learns in the plan that amounts must be named.
func TestUnknownNodeInPlan(t *testing.T) {
	w := newTeam("4", "16Gi")
	w.denied = []string{"nodes"}
	if code, text := w.plan(t, "--namespace", "team", "--arms", "besteffort,guaranteed"); code != exitUnsupported || !strings.Contains(text, "this user may not read nodes") || !strings.Contains(text, "guaranteed:cpu=1,memory=2Gi") {
		t.Errorf("%d: %s", code, text)
	}
}
