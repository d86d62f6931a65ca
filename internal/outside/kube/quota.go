package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ask is what one pod asks of a namespace and of its node.
type Ask struct {
	Arm              string
	Requests, Limits Amounts
	Claim            int64 // bytes of a claim; 0: none
}

// bestEffort says whether a pod with these amounts has no requests and no limits.
func (a Ask) bestEffort() bool { return a.Requests == Amounts{} && a.Limits == Amounts{} }

// Quotas are the quotas of a namespace; none where this user may not list them.
func (c *Cluster) Quotas(ctx context.Context, namespace string) ([]corev1.ResourceQuota, error) {
	var l corev1.ResourceQuotaList
	err := c.client.Get().Namespace(namespace).Resource("resourcequotas").VersionedParams(&metav1.ListOptions{}, parameters).Do(ctx).Into(&l)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	return l.Items, c.explain("list the quotas of namespace "+namespace, err)
}

// OverQuota says which quota has no room for all of these pods at once, and for what; empty: each has.
func OverQuota(quotas []corev1.ResourceQuota, asks []Ask) string {
	for _, q := range quotas {
		var counted []Ask
		for _, a := range asks {
			if inScopes(q, a) {
				counted = append(counted, a)
			}
		}
		hard := q.Status.Hard
		if hard == nil {
			hard = q.Spec.Hard
		}
		for _, name := range slices.Sorted(maps.Keys(hard)) {
			limit, used := hard[name], q.Status.Used[name]
			more := needed(name, counted)
			if more == nil {
				continue
			}
			sum := used.DeepCopy()
			sum.Add(*more)
			if sum.Cmp(limit) > 0 {
				return fmt.Sprintf("quota %s has %s of %s, %s are used, and %d pods at once need %s", q.Name, limit.String(), name, used.String(), len(counted), more.String())
			}
		}
	}
	return ""
}

// needed is what pods need of a resource of a quota; nil: nothing that is known.
func needed(name corev1.ResourceName, asks []Ask) *resource.Quantity {
	var cpu, memory, cpuLimit, memoryLimit, claims, storage int64
	for _, a := range asks {
		cpu, memory = cpu+a.Requests.CPU, memory+a.Requests.Memory
		cpuLimit, memoryLimit = cpuLimit+a.Limits.CPU, memoryLimit+a.Limits.Memory
		if a.Claim > 0 {
			claims++
			storage += a.Claim
		}
	}
	switch strings.TrimPrefix(string(name), "count/") {
	case "pods":
		return resource.NewQuantity(int64(len(asks)), resource.DecimalSI)
	case "cpu", "requests.cpu":
		return resource.NewMilliQuantity(cpu, resource.DecimalSI)
	case "memory", "requests.memory":
		return resource.NewQuantity(memory, resource.BinarySI)
	case "limits.cpu":
		return resource.NewMilliQuantity(cpuLimit, resource.DecimalSI)
	case "limits.memory":
		return resource.NewQuantity(memoryLimit, resource.BinarySI)
	case "persistentvolumeclaims":
		return resource.NewQuantity(claims, resource.DecimalSI)
	case "requests.storage":
		return resource.NewQuantity(storage, resource.BinarySI)
	}
	return nil
}

// inScopes says whether a quota counts a pod of tare's, which has a deadline and no priority class.
func inScopes(q corev1.ResourceQuota, a Ask) bool {
	if q.Spec.ScopeSelector != nil && len(q.Spec.ScopeSelector.MatchExpressions) > 0 {
		return false
	}
	for _, s := range q.Spec.Scopes {
		switch s {
		case corev1.ResourceQuotaScopeBestEffort:
			if !a.bestEffort() {
				return false
			}
		case corev1.ResourceQuotaScopeNotBestEffort:
			if a.bestEffort() {
				return false
			}
		case corev1.ResourceQuotaScopeTerminating:
		default:
			return false
		}
	}
	return true
}

// Crowded says why a node has no room for all of these pods at once; empty: it has.
func Crowded(n *corev1.Node, on []corev1.Pod, asks []Ask) string {
	room := CapacityOf(n, on, nil)
	var sum Amounts
	for _, a := range asks {
		sum = sum.add(a.Requests)
	}
	left := room.Allocatable.Without(room.Used)
	switch most := n.Status.Allocatable.Pods().Value(); {
	case sum.CPU > left.CPU:
		return fmt.Sprintf("%d pods request %s CPUs at once, and node %s has %s left of %s", len(asks), CPUs(sum.CPU), n.Name, CPUs(max(0, left.CPU)), CPUs(room.Allocatable.CPU))
	case sum.Memory > left.Memory:
		return fmt.Sprintf("%d pods request %s of memory at once, and node %s has %s left of %s", len(asks), Bytes(sum.Memory), n.Name, Bytes(max(0, left.Memory)), Bytes(room.Allocatable.Memory))
	case most > 0 && int64(len(asks)+running(on)) > most:
		return fmt.Sprintf("%d pods run on node %s, which takes %d, and the arms are %d more at once", running(on), n.Name, most, len(asks))
	}
	return ""
}

// running counts pods that have not ended.
func running(pods []corev1.Pod) (n int) {
	for _, p := range pods {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			n++
		}
	}
	return n
}
