package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tarelab/tare/internal/base/hint"
)

// Amount is a request or a limit of a container, or both, which are then equal.
type Amount struct {
	Container      string
	Limit, Request bool
	Resource       corev1.ResourceName
}

// Of is the amount in the specification of a pod; ok is false without one.
func (a Amount) Of(p *corev1.Pod) (q resource.Quantity, ok bool) {
	for _, c := range p.Spec.Containers {
		if c.Name == a.Container {
			q, ok = a.list(c.Resources)[a.Resource]
		}
	}
	return q, ok
}

// Actual is the amount that the kubelet has put in force; ok is false if the status has none.
func (a Amount) Actual(p *corev1.Pod) (q resource.Quantity, ok bool) {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == a.Container && s.Resources != nil {
			q, ok = a.list(*s.Resources)[a.Resource]
		}
	}
	return q, ok
}

func (a Amount) list(r corev1.ResourceRequirements) corev1.ResourceList {
	if a.Limit {
		return r.Limits
	}
	return r.Requests
}

// Restarts says whether a change of the amount restarts the container.
func (a Amount) Restarts(p *corev1.Pod) bool {
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == a.Container })
	return i >= 0 && slices.ContainsFunc(p.Spec.Containers[i].ResizePolicy, func(r corev1.ContainerResizePolicy) bool {
		return r.ResourceName == a.Resource && r.RestartPolicy == corev1.RestartContainer
	})
}

// patch is a strategic merge patch of the amount.
func (a Amount) patch(q resource.Quantity) ([]byte, error) {
	r := corev1.ResourceRequirements{}
	list := corev1.ResourceList{a.Resource: q}
	if a.Limit {
		r.Limits = list
	}
	if a.Request {
		r.Requests = list
	}
	type container struct {
		Name      string                      `json:"name"`
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	return json.Marshal(map[string]any{"spec": map[string]any{"containers": []container{{a.Container, r}}}})
}

// ErrNoResize means that the server or the node has no in-place resize.
var ErrNoResize = errors.New("no in-place resize")

// resizeBound is how long a kubelet may take to resize a container.
const resizeBound = 30 * time.Second

// CanResize asks the server, by a dry run, whether it would resize a pod.
func (c *Cluster) CanResize(ctx context.Context, namespace, pod string, a Amount, q resource.Quantity) error {
	return c.resize(ctx, namespace, pod, a, q, metav1.DryRunAll)
}

// Resize changes an amount of a running pod and waits until the kubelet has put it in force.
func (c *Cluster) Resize(ctx context.Context, namespace, pod string, a Amount, q resource.Quantity) error {
	if err := c.resize(ctx, namespace, pod, a, q); err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, resizeBound)
	defer cancel()
	why := "it says nothing"
	for {
		p, err := c.Pod(bound, namespace, pod)
		if err != nil {
			return err
		}
		if got, ok := a.Actual(p); ok && got.Cmp(q) == 0 && !resizing(p) {
			return nil
		}
		for _, cond := range p.Status.Conditions {
			if cond.Type != corev1.PodResizePending {
				continue
			}
			why = cond.Reason + ": " + cond.Message
			// A condition without a generation, before Kubernetes 1.34, may be about an earlier resize.
			if cond.Reason == corev1.PodReasonInfeasible && cond.ObservedGeneration >= p.Generation {
				return fmt.Errorf("the kubelet does not resize pod %s: %s", pod, why)
			}
		}
		if err := pause(bound); err != nil {
			return fmt.Errorf("the kubelet has not resized pod %s within %v: %s", pod, resizeBound, why)
		}
	}
}

func resizing(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(cond corev1.PodCondition) bool {
		return cond.Type == corev1.PodResizePending || cond.Type == corev1.PodResizeInProgress
	})
}

func (c *Cluster) resize(ctx context.Context, namespace, pod string, a Amount, q resource.Quantity, dry ...string) error {
	text, err := a.patch(q)
	if err != nil {
		return err
	}
	err = c.patiently(ctx, func() error {
		return c.client.Patch(types.StrategicMergePatchType).Namespace(namespace).Resource("pods").Name(pod).SubResource("resize").
			VersionedParams(&metav1.PatchOptions{DryRun: dry}, parameters).Body(text).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) {
		return hint.New(fmt.Errorf("resize pod %s: this API server has %w", pod, ErrNoResize), "Kubernetes 1.33 or newer")
	}
	return c.explain("resize pod "+pod, err)
}
