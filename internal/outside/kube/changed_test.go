package kube

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/tarelab/tare/internal/base/hint"
)

func amountList(cpu, memory string) corev1.ResourceList {
	l := corev1.ResourceList{}
	if cpu != "" {
		l[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		l[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return l
}

// defaulted is what a LimitRange with these defaults makes of a pod.
func defaulted(p *corev1.Pod, request, limit corev1.ResourceList) *corev1.Pod {
	p = p.DeepCopy()
	for i := range p.Spec.Containers {
		r := &p.Spec.Containers[i].Resources
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		for name, q := range limit {
			if _, has := r.Limits[name]; !has {
				r.Limits[name] = q
			}
		}
		for name, q := range request {
			if _, has := r.Requests[name]; !has {
				r.Requests[name] = q
			}
		}
	}
	p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "node.kubernetes.io/not-ready"})
	priority := int32(0)
	p.Spec.Priority, p.Spec.ServiceAccountName = &priority, "default"
	return p
}

// What admission changes in a pod is named, with the class that it gets.
func TestChanged(t *testing.T) {
	pod := func(requests, limits Amounts) *corev1.Pod {
		s := spec()
		s.Requests, s.Limits = requests, limits
		return s.Pod()
	}
	none, some := Amounts{}, Amounts{100, 256 << 20}
	for _, c := range []struct {
		asked *corev1.Pod
		got   func(*corev1.Pod) *corev1.Pod
		says  []string
	}{
		{pod(none, none), func(p *corev1.Pod) *corev1.Pod { return defaulted(p, nil, nil) }, nil},
		{pod(some, some), func(p *corev1.Pod) *corev1.Pod {
			return defaulted(p, amountList("50m", "1Mi"), amountList("200m", "1Gi"))
		}, nil},
		{pod(none, none), func(p *corev1.Pod) *corev1.Pod {
			return defaulted(p, amountList("50m", "64Mi"), amountList("200m", "128Mi"))
		}, []string{"container load gets a cpu request of 50m", "a memory limit of 128Mi", "so that it is Burstable and not BestEffort"}},
		{pod(some, none), func(p *corev1.Pod) *corev1.Pod { return defaulted(p, nil, amountList("200m", "")) }, []string{"a cpu limit of 200m"}},
		{pod(none, none), func(p *corev1.Pod) *corev1.Pod { return defaulted(p, amountList("1", "1Gi"), amountList("1", "1Gi")) }, []string{"so that it is Guaranteed and not BestEffort"}},
		{pod(some, some), func(p *corev1.Pod) *corev1.Pod {
			p = defaulted(p, nil, nil)
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "istio-proxy"})
			return p
		}, []string{"the container istio-proxy is added", "so that it is Burstable and not Guaranteed"}},
		{pod(some, some), func(p *corev1.Pod) *corev1.Pod {
			p = defaulted(p, nil, nil)
			p.Spec.Containers[0].Resources.Requests = amountList("50m", "256Mi")
			return p
		}, []string{"a cpu request of 50m"}},
		{pod(none, none), func(p *corev1.Pod) *corev1.Pod {
			p = defaulted(p, nil, nil)
			class := "kata"
			p.Spec.RuntimeClassName, p.Spec.NodeSelector = &class, map[string]string{"pool": "a"}
			return p
		}, []string{"the runtime class is kata", "its node needs the label pool=a"}},
	} {
		got := changed(c.asked, c.got(c.asked))
		if (got == "") != (len(c.says) == 0) {
			t.Errorf("%q, want %q", got, c.says)
		}
		for _, s := range c.says {
			if !strings.Contains(got, s) {
				t.Errorf("%q, want %q in it", got, s)
			}
		}
	}
	if got := changed(pod(none, none), pod(some, some)); got == "" {
		t.Error("amounts from nowhere")
	}
}

// A dry run of the API server returns the changed pod, which the error names with a remedy.
func TestRefusesChangedPod(t *testing.T) {
	c := connected(t, func(w http.ResponseWriter, r *http.Request) {
		var p corev1.Pod
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil || r.URL.Query().Get("dryRun") != "All" {
			t.Errorf("%v, %s", err, r.URL)
		}
		q := defaulted(&p, amountList("50m", ""), amountList("200m", ""))
		q.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		say(w, http.StatusCreated, q)
	})
	s := spec()
	s.Namespace, s.Requests, s.Limits = "team", Amounts{}, Amounts{}
	if err := c.Refuses(t.Context(), s); err == nil || !strings.Contains(err.Error(), "Burstable and not BestEffort") || !strings.Contains(hint.Of(err), "kubectl describe limitrange -n team") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

func quota(name string, hard, used corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) corev1.ResourceQuota {
	return corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}
}

// Quotas are asked for all pods at once.
func TestOverQuota(t *testing.T) {
	best, some := Ask{Arm: "a"}, Ask{Arm: "b", Requests: Amounts{500, 1 << 30}, Limits: Amounts{500, 1 << 30}, Claim: 10 << 30}
	pods := func(n string) corev1.ResourceList { return corev1.ResourceList{"pods": resource.MustParse(n)} }
	for _, c := range []struct {
		quota corev1.ResourceQuota
		asks  []Ask
		says  string
	}{
		{quota("q", pods("1"), pods("0")), []Ask{best}, ""},
		{quota("q", pods("1"), pods("0")), []Ask{best, some}, "quota q has 1 of pods, 0 are used, and 2 pods at once need 2"},
		{quota("q", pods("4"), pods("3")), []Ask{best, some}, "3 are used"},
		{quota("q", corev1.ResourceList{"requests.cpu": resource.MustParse("900m")}, nil), []Ask{some, some}, "need 1"},
		{quota("q", corev1.ResourceList{"limits.memory": resource.MustParse("2Gi")}, nil), []Ask{some, some}, ""},
		{quota("q", corev1.ResourceList{"count/persistentvolumeclaims": resource.MustParse("1")}, nil), []Ask{some, some, best}, "need 2"},
		{quota("q", corev1.ResourceList{"requests.storage": resource.MustParse("15Gi")}, nil), []Ask{some, some}, "need 20Gi"},
		{quota("q", pods("1"), nil, corev1.ResourceQuotaScopeBestEffort), []Ask{best, some}, ""},
		{quota("q", pods("1"), nil, corev1.ResourceQuotaScopeNotBestEffort), []Ask{some, some, best}, "2 pods"},
		{quota("q", pods("1"), nil, corev1.ResourceQuotaScopeNotTerminating), []Ask{some, some}, ""},
		{quota("q", corev1.ResourceList{"configmaps": resource.MustParse("0")}, nil), []Ask{some}, ""},
	} {
		if got := OverQuota([]corev1.ResourceQuota{c.quota}, c.asks); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%+v: %q, want %q", c.quota.Status, got, c.says)
		}
	}
}

// A node has room for pods at once exactly where their sums fit.
func TestCrowded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := func(what string) Amounts {
			return Amounts{rapid.Int64Range(0, 3000).Draw(t, what+" cpu"), rapid.Int64Range(0, 4).Draw(t, what+" GiB") << 30}
		}
		room := amounts("node")
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(room.CPU, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(room.Memory, resource.BinarySI), corev1.ResourcePods: resource.MustParse("3")}
		var asks []Ask
		var sum Amounts
		for range rapid.IntRange(1, 5).Draw(t, "pods") {
			asks = append(asks, Ask{Requests: amounts("pod")})
			sum = sum.add(asks[len(asks)-1].Requests)
		}
		fits := sum.CPU <= room.CPU && sum.Memory <= room.Memory && len(asks) <= 3
		if got := Crowded(n, nil, asks); (got == "") != fits {
			t.Fatalf("%+v on %+v: %q", asks, room, got)
		}
	})
	if d := cmp.Diff(running([]corev1.Pod{{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, {}}), 1); d != "" {
		t.Error(d)
	}
}
