package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func quantities(cpu, memory string) corev1.ResourceList {
	l := corev1.ResourceList{}
	if cpu != "" {
		l[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		l[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return l
}

func node(capacity, allocatable string) *corev1.Node {
	return &corev1.Node{Status: corev1.NodeStatus{
		Capacity: quantities(capacity, "64Gi"), Allocatable: quantities(allocatable, "60Gi"),
	}}
}

func asking(cpu, memory string) corev1.Pod {
	return corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "c", Resources: corev1.ResourceRequirements{Requests: quantities(cpu, memory)}},
	}}}
}

// A node of 56 CPUs with three pods, as in the study of MySQL in Kubernetes.
func TestLargest(t *testing.T) {
	pods := []corev1.Pod{asking("100m", "1Gi"), asking("250m", ""), asking("50m", ""), asking("", "")}
	done := asking("8", "8Gi")
	done.Status.Phase = corev1.PodSucceeded
	r := CapacityOf(node("56", "55900m"), append(pods, done), nil)
	if got := r.Largest(Amounts{}, 1); got != (Amounts{55500, 59 << 30}) {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		others Amounts
		n      int
		want   string
	}{
		{Amounts{}, 1, "56 does not fit: 100m reserved, 400m used by 3 pods; 55500m fits"},
		{Amounts{CPU: 100}, 1, "56 does not fit: 100m reserved, 400m used by 3 pods, 100m for the other arms; 55400m fits"},
		{Amounts{}, 2, "56 does not fit: 100m reserved, 400m used by 3 pods, divided among 2 arms; 27750m fits"},
	} {
		if got := r.WhyCPU(c.others, c.n); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	empty := CapacityOf(node("4", "4"), nil, nil)
	if got := empty.WhyCPU(Amounts{}, 1); got != "4 fits: nothing is reserved or used" {
		t.Errorf("%q", got)
	}
	one := CapacityOf(node("2", "1900m"), pods[:1], nil)
	if got := one.WhyCPU(Amounts{}, 1); got != "2 does not fit: 100m reserved, 100m used by 1 pod; 1800m fits" {
		t.Errorf("%q", got)
	}
}

// The scheduler counts the larger of the containers and an init container, sidecars with the
// containers, and the overhead.
func TestRoomCountsAsTheScheduler(t *testing.T) {
	p := asking("300m", "")
	p.Spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Requests: quantities("1", "")}}}
	p.Spec.Overhead = quantities("10m", "")
	if got := CapacityOf(node("4", "4"), []corev1.Pod{p}, nil).Used.CPU; got != 1010 {
		t.Errorf("init container: %d", got)
	}
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.InitContainers[0].RestartPolicy = &always
	if got := CapacityOf(node("4", "4"), []corev1.Pod{p}, nil).Used.CPU; got != 1310 {
		t.Errorf("sidecar: %d", got)
	}
}

// n pods with the largest request fit beside the others, and do not fit with one thousandth
// more each.
func TestLargestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allocatable := rapid.Int64Range(0, 256_000).Draw(t, "allocatable")
		used := rapid.Int64Range(0, allocatable).Draw(t, "used")
		others := rapid.Int64Range(0, allocatable-used).Draw(t, "others")
		n := rapid.IntRange(1, 8).Draw(t, "n")
		r := Capacity{Allocatable: Amounts{CPU: allocatable}, Used: Amounts{CPU: used}}
		each := r.Largest(Amounts{CPU: others}, n).CPU
		if used+others+int64(n)*each > allocatable {
			t.Fatalf("%d each do not fit", each)
		}
		if used+others+int64(n)*(each+1) <= allocatable {
			t.Fatalf("%d each would fit too", each+1)
		}
	})
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]int64{"1500m": 1500, "2": 2000, "0.5": 500, "0": 0, "-1": 0, "x": 0, "": 0} {
		if got, err := ParseCPUs(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("cpu %q: %d %v", text, got, err)
		}
	}
}
