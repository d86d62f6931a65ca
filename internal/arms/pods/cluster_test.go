package pods

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/testing/environmenttest"
	"github.com/tarelab/tare/internal/testing/kubetest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire/hidden"
)

// bare is a pod with this binary alone, under PodSecurity's strictest level.
func bare() []environment.Environment {
	return []environment.Environment{
		Pod{Guaranteed, Levels{image: noImageWord, cpu: amount{n: 300}, memory: amount{n: 1 << 30}}, target},
	}
}

// kinds are the kinds of steps of an arm in a pod.
func kinds() journal.Kinds {
	return steps.Kinds(journal.KindOf[kube.NamespaceStep](), journal.KindOf[kube.PodsStep](), journal.KindOf[kube.ImageStep]())
}

// target is the cluster of the tests' pods: kubectl's, unless a test uses another.
var target = &Target{}

// hostWith is this host, with the cluster asked about pods.
func hostWith(t *testing.T, pods ...environment.Environment) facts.Host {
	t.Helper()
	h := inspect.HostAt("/", t.TempDir())
	for _, p := range pods {
		target.Ask(h, p.(Pod))
	}
	return h
}

func TestMain(m *testing.M) {
	roles := slices.Concat(launch.Roles(), agent.Roles(), []hidden.Role{
		{Name: unreclaimedCommand, Args: "...", Run: unreclaimed}, {Name: inPodCommand, Args: "...", Run: inPod},
	})
	away()
	if !testneed.Tier(kubetest.Tier) {
		os.Exit(environmenttest.Main(m, roles, bare()))
	}
	os.Exit(environmenttest.MainOnHost(m, roles, bare()))
}

// opened opens an arm of a new run. The test closes it.
func opened(t *testing.T, p Pod, run string) (environment.OpenArm, error) {
	t.Helper()
	j, err := journal.Open(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	arm, err := p.Open(t.Context(), environment.Spec{Run: run, Arm: "arm", Scratch: scratch, Journal: j})
	t.Cleanup(func() {
		if arm != nil {
			if err := arm.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return arm, err
}

// warm starts a first pod, which leaves a bridge and forwarding on the node.
func warm(t *testing.T) *kubetest.Admin {
	t.Helper()
	admin := kubetest.Need(t)
	before := admin.Left(t)
	t.Cleanup(func() {
		if after := admin.Left(t); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("left on the node or in the cluster: before %v, after %v", before, after)
		}
	})
	firstPod.Do(func() {
		arm, err := opened(t, with(t, BestEffort, "image=none"), runID("warm"))
		if err != nil {
			t.Fatal(err)
		}
		if err := arm.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return admin
}

var (
	firstPod sync.Once
	runs     atomic.Int64
)

func runID(what string) string {
	return fmt.Sprintf("%s%dx%d", what, os.Getpid(), runs.Add(1))
}

// TestCluster runs the whole suite in pods.
func TestCluster(t *testing.T) {
	warm(t)
	host := hostWith(t, bare()[0])
	environmenttest.Run(t, bare()[0], host, environmenttest.Options{Kinds: kinds(), Kills: 3})
}

// TestClusterClasses opens arms of all classes at the same time and checks their settings.
func TestClusterClasses(t *testing.T) {
	warm(t)
	run := runID("class")
	j, err := journal.Open(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	spec := environment.Spec{Run: run, Scratch: t.TempDir(), Journal: j, Beside: []environment.Environment{
		with(t, BestEffort, "image=none"), with(t, Burstable, "image=none"), with(t, Guaranteed, "image=none"),
	}}
	var arms []environment.OpenArm
	for i, e := range spec.Beside {
		spec.Arm = e.Name()
		arm, err := e.Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { arm.Close() })
		arms = append(arms, arm)
		s := settingsOf(t, arm)
		if s["pod.qos"] != QoS(i).String() {
			t.Errorf("%s: %v", e.Name(), s)
		}
		if quota := s["cpu.cfs_quota_us"]; quota != "" && (quota == "-1") != (QoS(i) != Guaranteed) {
			t.Errorf("%s has the quota %s", e.Name(), quota)
		}
		if i == int(Guaranteed) && !strings.Contains(s["pod.cpu.max"], "100m for the other arms") {
			t.Errorf("the most beside a Burstable pod: %s", s["pod.cpu.max"])
		}
	}
	for _, arm := range arms {
		if err := arm.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// settingsOf are the settings by name.
func settingsOf(t *testing.T, arm environment.OpenArm) map[string]string {
	t.Helper()
	all, err := arm.Settings()
	if err != nil {
		t.Error(err)
	}
	m := map[string]string{}
	for _, s := range all {
		m[s.Name] = s.Got
	}
	return m
}

// TestClusterLargest checks that a pod with all CPUs does not fit, as in the published study, and that the
// pod of cpu=max does.
func TestClusterLargest(t *testing.T) {
	warm(t)
	c, err := target.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	node, err := c.ThisNode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := node.Status.Capacity.Cpu().MilliValue()
	_, err = opened(t, with(t, Guaranteed, "image=none,memory=128Mi,cpu="+kube.CPUs(all)), runID("all"))
	if err == nil || !strings.Contains(err.Error(), "Insufficient cpu") || !strings.Contains(err.Error(), "FailedScheduling") || !strings.Contains(hint.Of(err), "cpu=max") {
		t.Errorf("a pod that wants %dm: %v; %s", all, err, hint.Of(err))
	}
	arm, err := opened(t, with(t, Guaranteed, "image=none,memory=128Mi,cpu=max"), runID("most"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, arm)
	t.Log(s["pod.cpu.max"])
	if s["pod.qos"] != "Guaranteed" || !strings.Contains(s["pod.cpu.max"], "does not fit") || !strings.Contains(s["pod.cpu.max"], s["pod.limits.cpu"]+" fits") {
		t.Errorf("%v", s)
	}
	milli, err := kube.ParseCPUs(s["pod.limits.cpu"])
	if err != nil {
		t.Fatal(err)
	}
	if quota, err := strconv.ParseInt(s["cpu.cfs_quota_us"], 10, 64); err == nil && quota != milli*100 {
		t.Errorf("quota %d of %s us for %dm", quota, s["cpu.cfs_period_us"], milli)
	}
	// A pod with one more millicore does not fit.
	_, err = opened(t, with(t, Guaranteed, "image=none,memory=128Mi,cpu=1m"), runID("more"))
	if err == nil || !strings.Contains(err.Error(), "Insufficient cpu") {
		t.Errorf("one more beside the largest: %v", err)
	}
}

// reached is what reachable says to root.
func reached() facts.Support {
	s, _ := target.reachable(facts.Host{Root: true, Groups: &cgroup.Tree{}})
	return s
}

// use makes tests use another cluster.
func use(t *testing.T, a kube.Access) {
	t.Helper()
	before := target
	target = &Target{Access: a}
	t.Cleanup(func() { target = before })
}

// TestClusterErrors checks errors and remedies of a cluster that tare cannot use.
func TestClusterErrors(t *testing.T) {
	admin := warm(t)
	for _, c := range []struct {
		name        string
		access      kube.Access
		says, helps string
	}{
		{"no kubeconfig", kube.Access{Kubeconfig: "/nonexistent/kubeconfig"}, "no cluster", "--kubeconfig"},
		{"no such context", kube.Access{Kubeconfig: os.Getenv("KUBECONFIG"), Context: "none"}, "none", "--context"},
		{"nobody listens", kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(_ *api.AuthInfo, c *api.Cluster) { c.Server = "https://127.0.0.1:1" })}, "refused", "127.0.0.1:1"},
		{"credentials", kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { *u = api.AuthInfo{Token: "expired"} })}, "Unauthorized", "renew"},
		{"forbidden", kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = "tare-limited" })}, `User "tare-limited" cannot list resource "nodes"`, "--rbac"},
	} {
		t.Run(c.name, func(t *testing.T) {
			use(t, c.access)
			if c.name != "nobody listens" { // which an arm would wait for, in a run
				_, err := opened(t, with(t, BestEffort, "image=none"), runID("bad"))
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.helps) {
					t.Errorf("%v; %s", err, hint.Of(err))
				}
			}
			s := reached()
			if c.name == "forbidden" {
				c.says = `forbids user "tare-limited" to` // all of it, not the first
			}
			if s.Answer != facts.No || !strings.Contains(said.English(s.Reason), c.says) || !strings.Contains(said.English(s.Remedy), c.helps) {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("the printed rights are enough", func(t *testing.T) {
		use(t, kube.Access{Kubeconfig: kubetest.Kubeconfig(t, func(u *api.AuthInfo, _ *api.Cluster) { u.Impersonate = "tare-limited" })})
		if got := target.UserName(); got != "tare-limited" {
			t.Errorf("the user is %q", got)
		}
		admin.Grant(t, "tare-limited")
		arm, err := opened(t, with(t, BestEffort, "image=none"), runID("rbac"))
		if err != nil {
			t.Fatal(err)
		}
		if err := arm.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestClusterImages tests an image that does not exist, and one with the load's programs.
func TestClusterImages(t *testing.T) {
	warm(t)
	_, err := opened(t, with(t, BestEffort, "image=localhost/tare-no-such-image:1"), runID("none"))
	if err == nil || !strings.Contains(err.Error(), "Image") || hint.Of(err) == "" {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
	arm, err := opened(t, with(t, Guaranteed, "image="+otherImage(t)+",cpu=100m,memory=256Mi"), runID("other"))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := started(t, arm)
	if err != nil || exe != "/.tare/bin/tare" {
		t.Errorf("it executes %q: %v", exe, err)
	}
}

// started starts a process and says what it executes.
func started(t *testing.T, arm environment.OpenArm) (string, error) {
	t.Helper()
	words, err := os.CreateTemp(t.TempDir(), "words")
	if err == nil {
		err = words.Truncate(1 << 20)
	}
	if err != nil {
		return "", err
	}
	defer words.Close()
	p, err := arm.Start(t.Context(), environment.Process{Args: []string{environmenttest.Command, "token", "deaf"}, Files: []*os.File{words}})
	if err != nil {
		return "", err
	}
	defer func() { _ = p.Kill(); ended(t, p) }()
	return os.Readlink(fmt.Sprintf("/proc/%d/exe", p.Pid()))
}

// TestClusterPrograms checks that a pod without an image has the programs of its node, and reports that it
// needs more than PodSecurity's strictest level.
func TestClusterPrograms(t *testing.T) {
	warm(t)
	testneed.Tool(t, "mariadbd")
	arm, err := opened(t, Pod{QoS: BestEffort, On: target}, runID("node"))
	if err != nil {
		t.Fatal(err)
	}
	s := settingsOf(t, arm)
	if !strings.Contains(s["pod.security"], "hostPath") {
		t.Errorf("%v", s)
	}
	name, text := arm.Reproduction()
	if name != "arm.yaml" || !strings.Contains(string(text), "kind: Pod") || !strings.Contains(string(text), "path: /usr") {
		t.Errorf("%s: %s", name, text)
	}
	if _, err := started(t, arm); err != nil {
		t.Error(err)
	}
}

// TestClusterPodDeleted deletes the pod while it works.
func TestClusterPodDeleted(t *testing.T) {
	admin := warm(t)
	run := runID("gone")
	arm, err := opened(t, with(t, BestEffort, "image=none"), run)
	if err != nil {
		t.Fatal(err)
	}
	p := process(t, arm, false, "deaf")
	if code, said := admin.Do(t, "DELETE", "/api/v1/namespaces/"+kube.NamespaceOf(run)+"/pods/arm", nil); code != http.StatusOK {
		t.Errorf("%d %s", code, said)
	}
	ended(t, p)
	if e := p.Exit(); e.Err == nil || !strings.Contains(e.Err.Error(), "a pod that is gone") {
		t.Errorf("%+v", e)
	}
	if err := arm.Close(); err != nil && !errors.Is(err, facts.ErrUnsupported) {
		t.Error(err)
	}
}

// process starts a process of the suite in an arm, or outside as its client.
// ended waits until a process has ended.
func ended(t *testing.T, p environment.Running) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(3 * time.Minute):
		t.Fatalf("process %d has not ended", p.Pid())
	}
}

func process(t *testing.T, arm environment.OpenArm, outside bool, args ...string) environment.Running {
	t.Helper()
	words, err := os.CreateTemp(t.TempDir(), "words")
	if err == nil {
		err = words.Truncate(1 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	p, err := arm.Start(t.Context(), environment.Process{
		Args: append([]string{environmenttest.Command, "token"}, args...), Files: []*os.File{words}, Outside: outside,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
