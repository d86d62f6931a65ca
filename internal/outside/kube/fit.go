package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

// Amounts are CPUs and memory.
type Amounts struct {
	CPU    int64 // thousandths of a CPU
	Memory int64 // bytes
}

func (a Amounts) add(b Amounts) Amounts { return Amounts{a.CPU + b.CPU, a.Memory + b.Memory} }

// Without is the rest of an amount of which another one is a part.
func (a Amounts) Without(part Amounts) Amounts {
	return Amounts{a.CPU - part.CPU, a.Memory - part.Memory}
}

func amountsOf(l corev1.ResourceList) Amounts {
	return Amounts{l.Cpu().MilliValue(), l.Memory().Value()}
}

// Room is what a node has, and what of it is asked for already.
type Room struct {
	Capacity, Allocatable, Used Amounts
	Pods                        int // that ask for CPU
}

// RoomOn adds up what the pods on a node ask for, as its scheduler does: those
// that have ended ask for nothing. leave says which are left out; nil: none.
func RoomOn(n *corev1.Node, pods []corev1.Pod, leave func(*corev1.Pod) bool) Room {
	r := Room{Capacity: amountsOf(n.Status.Capacity), Allocatable: amountsOf(n.Status.Allocatable)}
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

// Largest is the most that each of n pods can ask for when pods beside them ask
// for others too.
func (r Room) Largest(others Amounts, n int) Amounts {
	left := r.Allocatable.Without(r.Used).Without(others)
	return Amounts{max(0, left.CPU/int64(n)), max(0, left.Memory/int64(n))}
}

// WholeCPUs is the most whole CPUs in an amount, in thousandths too.
func WholeCPUs(milli int64) int64 { return milli / 1000 * 1000 }

// WhyCPU says why not all of the node's CPUs fit, in the cluster's own words.
func (r Room) WhyCPU(others Amounts, n int) string {
	if r.Largest(others, n).CPU == r.Capacity.CPU {
		return CPUs(r.Capacity.CPU) + " fits: nothing is reserved or used"
	}
	return r.WhyNot(r.Capacity.CPU, others, n)
}

// WhyNot says why an amount of CPU does not fit, likewise.
func (r Room) WhyNot(cpu int64, others Amounts, n int) string {
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

// CPUs writes thousandths of a CPU as a quantity.
func CPUs(milli int64) string {
	return resource.NewMilliQuantity(milli, resource.DecimalSI).String()
}

// Bytes writes bytes as a quantity.
func Bytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// ParseCPUs reads a quantity of CPUs, to the thousandth.
func ParseCPUs(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() <= 0 {
		return 0, fmt.Errorf("cpu %q: want an amount such as 1500m or 2", text)
	}
	return q.MilliValue(), nil
}

// ParseBytes reads a quantity of bytes.
func ParseBytes(text string) (int64, error) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() <= 0 {
		return 0, fmt.Errorf("memory %q: want an amount such as 512Mi or 2Gi", text)
	}
	return q.Value(), nil
}
