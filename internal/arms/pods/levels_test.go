package pods

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		qos        QoS
		text, want string // what it asks for; or, behind an exclamation mark, what is wrong
	}{
		{Guaranteed, "cpu=max,memory=2Gi", ", cpu max, memory 2Gi"},
		{Guaranteed, "cpu=integer", ", cpu integer, memory 2Gi"},
		{Burstable, "cpu-limit=integer", "!an amount such as"},
		{Guaranteed, "cpu=1500m", ", cpu 1500m, memory 2Gi"},
		{Guaranteed, "image=none", ", cpu max, memory 2Gi"},
		{Burstable, "cpu=1,cpu-limit=2,memory-limit=1Gi", ", cpu 1, memory 256Mi, cpu limit 2, memory limit 1Gi"},
		{BestEffort, "network=host", ""},
		{BestEffort, "cpu=1", `!no level "cpu"`},
		{Guaranteed, "cpu-limit=2", `!no level "cpu-limit"`},
		{Guaranteed, "cpu=lots", "!an amount such as"},
		{Guaranteed, "cpu=-1", "!an amount such as"},
		{Burstable, "cpu-limit=max", "!an amount such as"},
		{Guaranteed, "cpu=1,client=pod", ", cpu 1, memory 2Gi"},
		{BestEffort, "client=outside", ""},
		{BestEffort, "client=node", "!want outside, pod or node:NAME"},
		{BestEffort, "client=node:", "!name of a node"},
		{Guaranteed, "cpu=1,client=node:worker-2", ", cpu 1, memory 2Gi"},
		{BestEffort, "client=node:*", ""},
		{BestEffort, "volume=emptydir,client=pod,volume=pvc:fast", "!volume is given twice"},
		{BestEffort, "client=inside", "!of the workload"},
		{BestEffort, "network=service", ""},
		{BestEffort, "volume=hostpath", ""},
		{BestEffort, "volume=pvc:fast,volume-size=2Gi", ""},
		{BestEffort, "volume=nfs:[::1]:/export/a", ""},
		{BestEffort, "volume=pvc", "!want one of emptydir, hostpath, pvc:CLASS, nfs:SERVER:/PATH"},
		{BestEffort, "volume=pvc:", "!want one of"},
		{BestEffort, "volume=emptydir:x", "!want one of"},
		{BestEffort, "volume=nfs:server", "!want one of"},
		{BestEffort, "volume=nfs::/x", "!want one of"},
		{BestEffort, "volume-size=2Gi", "!needs volume=pvc:CLASS"},
		{BestEffort, "volume=pvc:fast,volume-size=big", "!volume-size"},
		{BestEffort, "network=none", "!want one of pod, host, service"},
		{BestEffort, "network=hostport", "!want one of"},
		{BestEffort, "apparmor=unconfined", ""},
		{BestEffort, "image", "!level=value"},
		{BestEffort, "image=", "!level=value"},
	} {
		e, err := Pod{QoS: c.qos}.with(c.text)
		if wrong, ok := strings.CutPrefix(c.want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s %q: %v, want %q", c.qos, c.text, err, wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %q: %v", c.qos, c.text, err)
			continue
		}
		if got := e.(Pod).withDefaults().amounts(); got != c.want || c.text != "" && e.Title().Value("levels") != c.text {
			t.Errorf("%s %q asks for %q, want %q; title %v", c.qos, c.text, got, c.want, e.Title())
		}
	}
}

func with(t *testing.T, q QoS, levels string) Pod {
	t.Helper()
	e, err := Pod{QoS: q, On: target}.with(levels)
	if err != nil {
		t.Fatal(err)
	}
	return e.(Pod)
}

// Arms that are open at the same time share the node's resources.
func TestSettle(t *testing.T) {
	capacity := kube.Capacity{
		Capacity: kube.Amounts{CPU: 4000, Memory: 16 << 30}, Allocatable: kube.Amounts{CPU: 3900, Memory: 15 << 30},
		Used: kube.Amounts{CPU: 400, Memory: 1 << 30}, Pods: 3,
	}
	most, burst := with(t, Guaranteed, "cpu=max,memory=2Gi"), Pod{QoS: Burstable}
	for _, c := range []struct {
		name   string
		pod    Pod
		beside []environment.Environment
		want   kube.Amounts
	}{
		{"alone", most, nil, kube.Amounts{CPU: 3500, Memory: 2 << 30}},
		{"beside the host and one that asks for nothing", most, []environment.Environment{layers.Host, Pod{}, most}, kube.Amounts{CPU: 3500, Memory: 2 << 30}},
		{"beside one that asks for something", most, []environment.Environment{burst, most}, kube.Amounts{CPU: 3400, Memory: 2 << 30}},
		{"beside its twin", most, []environment.Environment{most, most, burst}, kube.Amounts{CPU: 1700, Memory: 2 << 30}},
		{"the most memory", with(t, Guaranteed, "cpu=1,memory=max"), []environment.Environment{with(t, Guaranteed, "cpu=1,memory=max"), burst}, kube.Amounts{CPU: 1000, Memory: 14<<30 - 256<<20}},
	} {
		got := c.pod.resolve(capacity, c.beside)
		if got.requests != c.want || got.limits != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	whole := with(t, Guaranteed, "cpu=integer")
	for _, c := range []struct {
		pod    Pod
		beside []environment.Environment
		cpu    int64
		why    string
	}{
		{whole, nil, 3000, "4 does not fit: 100m reserved, 400m used by 3 pods; 3500m fits, of whole CPUs 3"},
		{whole, []environment.Environment{whole, whole}, 1000, "4 does not fit: 100m reserved, 400m used by 3 pods, divided among 2 arms; 1750m fits, of whole CPUs 1"},
		{whole, []environment.Environment{whole, with(t, Guaranteed, "cpu=2700m")}, 0, "4 does not fit: 100m reserved, 400m used by 3 pods, 2700m for the other arms; 800m fits, of whole CPUs 0"},
	} {
		if got := c.pod.resolve(capacity, c.beside); got.requests.CPU != c.cpu || got.why != c.why || got.short != "" {
			t.Errorf("%+v, want %d: %s", got, c.cpu, c.why)
		}
	}
	for _, pod := range []Pod{with(t, Guaranteed, "cpu=4"), with(t, Burstable, "cpu=4")} {
		want := "4 does not fit: 100m reserved, 400m used by 3 pods, 100m for the other arms; 3400m fits"
		if got := pod.resolve(capacity, []environment.Environment{pod, burst}); got.short != want {
			t.Errorf("%s: %q, want %q", pod.Name(), got.short, want)
		}
	}
	if got := burst.resolve(capacity, nil); got.limits != (kube.Amounts{}) || got.requests.CPU != usualCPU {
		t.Errorf("burstable: %+v", got)
	}
	if got := (Pod{}).resolve(capacity, nil); got != (podAmounts{}) {
		t.Errorf("best effort asks for %+v", got)
	}
}

// Only a CPU limit gives a pod a quota.
func TestQuotaOfAPod(t *testing.T) {
	for _, c := range []struct {
		class  QoS
		levels string
		quota  bool
	}{
		{BestEffort, "image=none", false}, {Burstable, "cpu=500m", false}, {Burstable, "memory-limit=1Gi", false},
		{Burstable, "cpu-limit=1", true}, {Guaranteed, "memory=1Gi", true}, {Guaranteed, "cpu=1", true},
	} {
		p, err := Pod{QoS: c.class}.with(c.levels)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Capabilities().Quota; got != c.quota {
			t.Errorf("%s with %s: a quota %v", c.class, c.levels, got)
		}
	}
	if (Pod{QoS: Burstable}).Capabilities().Quota || !(Pod{QoS: Guaranteed}).Capabilities().Quota {
		t.Error("of pods without levels, the Guaranteed one alone has a quota")
	}
}

// client=outside is refused where the client would be in a pod nevertheless; without the level it is not.
func TestClientOutsideNeedsTheNode(t *testing.T) {
	for levels, want := range map[string]string{"image=x": "", "image=x,client=pod": "", "image=x,client=outside": "client=outside"} {
		err := with(t, BestEffort, levels).checkRemote()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || hint.Of(err) != needsNode) {
			t.Errorf("%s: %v (%s)", levels, err, hint.Of(err))
		}
	}
}

// client=node:* is the first node in the order of names that is not the server's and can have pods.
func TestOtherNode(t *testing.T) {
	node := func(name string, ready corev1.ConditionStatus) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		return n
	}
	a, b, c := node("a", corev1.ConditionFalse), node("b", corev1.ConditionTrue), node("c", corev1.ConditionTrue)
	for server, want := range map[string]string{"c": "b", "b": "c"} {
		if got, err := otherNode([]corev1.Node{c, b, a}, server); err != nil || got.Name != want {
			t.Errorf("beside %s: %+v, %v", server, got, err)
		}
	}
	if _, err := otherNode([]corev1.Node{b}, "b"); !errors.Is(err, facts.ErrUnsupported) || hint.Of(err) == "" {
		t.Errorf("one node: %v", err)
	}
	if _, err := otherNode([]corev1.Node{a, b}, "b"); err == nil || !strings.Contains(err.Error(), "a") {
		t.Errorf("the other is not ready: %v", err)
	}
}

// A limit below the request is refused where it is written: the cluster would refuse the pod.
func TestLimitBelowRequest(t *testing.T) {
	for text, refused := range map[string]bool{
		"cpu=500m,cpu-limit=250m": true, "cpu=500m,cpu-limit=500m": false, "cpu-limit=50m": true, "memory-limit=64Mi": true, "memory=1Gi,memory-limit=512Mi": true, "memory=64Mi,memory-limit=64Mi": false, "cpu=max,cpu-limit=1": false,
	} {
		if _, err := parse(Burstable, text); (err != nil) != refused || err != nil && hint.Of(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
