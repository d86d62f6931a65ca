package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

// Amounts are amounts of CPU and memory.
type Amounts struct {
	CPU    int64 // thousandths of a CPU
	Memory int64 // bytes
}

func (a Amounts) add(b Amounts) Amounts { return Amounts{a.CPU + b.CPU, a.Memory + b.Memory} }

// Without subtracts a part.
func (a Amounts) Without(part Amounts) Amounts {
	return Amounts{a.CPU - part.CPU, a.Memory - part.Memory}
}

func amountsOf(l corev1.ResourceList) Amounts {
	return Amounts{l.Cpu().MilliValue(), l.Memory().Value()}
}

// Capacity is the capacity of a node and the requests of its pods.
type Capacity struct {
	Capacity, Allocatable, Used Amounts
	Pods                        int // that request CPU
}

// CapacityOf adds up the requests of the pods on a node, as the scheduler does: without pods that
// have ended. leave says which others to leave out; nil: none.
func CapacityOf(n *corev1.Node, pods []corev1.Pod, leave func(*corev1.Pod) bool) Capacity {
	r := Capacity{Capacity: amountsOf(n.Status.Capacity), Allocatable: amountsOf(n.Status.Allocatable)}
	for i := range pods {
		p := &pods[i]
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if ended || leave != nil && leave(p) {
			continue
		}
		asks := amountsOf(helper.PodRequests(p, helper.PodResourcesOptions{UseStatusResources: true}))
		r.Used = r.Used.add(asks)
		if asks.CPU > 0 {
			r.Pods++
		}
	}
	return r
}

// Largest is the largest request that each of n pods can have beside other pods that
// request others.
func (r Capacity) Largest(others Amounts, n int) Amounts {
	left := r.Allocatable.Without(r.Used).Without(others)
	return Amounts{max(0, left.CPU/int64(n)), max(0, left.Memory/int64(n))}
}

// WholeCPUs rounds thousandths of a CPU down to whole CPUs, in thousandths.
func WholeCPUs(milli int64) int64 { return milli / 1000 * 1000 }

// WhyCPU says why a request for all of the node's CPUs does not fit, in Kubernetes' terms.
func (r Capacity) WhyCPU(others Amounts, n int) string {
	if r.Largest(others, n).CPU == r.Capacity.CPU {
		return CPUs(r.Capacity.CPU) + " fits: nothing is reserved or used"
	}
	return r.WhyNot(r.Capacity.CPU, others, n)
}

// WhyNot says why a request for CPU does not fit.
func (r Capacity) WhyNot(cpu int64, others Amounts, n int) string {
	text := CPUs(cpu) + " does not fit: "
	text += CPUs(r.Capacity.CPU-r.Allocatable.CPU) + " reserved, " + CPUs(r.Used.CPU) + " used by " + count(r.Pods, "pod")
	if others.CPU > 0 {
		text += ", " + CPUs(others.CPU) + " for the other arms"
	}
	if n > 1 {
		text += fmt.Sprintf(", divided among %d arms", n)
	}
	return text + "; " + CPUs(r.Largest(others, n).CPU) + " fits"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// CPUs formats thousandths of a CPU as a Kubernetes quantity.
func CPUs(milli int64) string {
	return resource.NewMilliQuantity(milli, resource.DecimalSI).String()
}

// Bytes formats bytes as a Kubernetes quantity.
func Bytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// ParseCPUs parses a quantity of CPUs into thousandths.
func ParseCPUs(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() <= 0 {
		return 0, fmt.Errorf("cpu %q: want an amount such as 1500m or 2", text)
	}
	return q.MilliValue(), nil
}
