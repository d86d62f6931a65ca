package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// Nodes lists the nodes of the cluster.
func (c *Cluster) Nodes(ctx context.Context) ([]corev1.Node, error) {
	var l corev1.NodeList
	err := c.client.Get().Resource("nodes").Do(ctx).Into(&l)
	return l.Items, c.explain("list the nodes", err)
}

// PodsOn lists the pods of all namespaces on a node.
func (c *Cluster) PodsOn(ctx context.Context, node string) ([]corev1.Pod, error) {
	var l corev1.PodList
	err := c.patiently(ctx, func() error {
		return c.client.Get().Resource("pods").
			VersionedParams(&metav1.ListOptions{FieldSelector: "spec.nodeName=" + node}, parameters).Do(ctx).Into(&l)
	})
	return l.Items, c.explain("list the pods on node "+node, err)
}

// Events lists the events of an object by its name, in no order.
func (c *Cluster) Events(ctx context.Context, namespace, pod string) ([]corev1.Event, error) {
	var l corev1.EventList
	err := c.client.Get().Namespace(namespace).Resource("events").
		VersionedParams(&metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod}, parameters).Do(ctx).Into(&l)
	return l.Items, c.explain("list the events of pod "+pod, err)
}

// Pod reads a pod; ErrNone: there is none.
func (c *Cluster) Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	var p corev1.Pod
	err := c.patiently(ctx, func() error {
		return c.client.Get().Namespace(namespace).Resource("pods").Name(name).Do(ctx).Into(&p)
	})
	if apierrors.IsNotFound(err) {
		return nil, ErrNone
	}
	return &p, c.explain("look at pod "+name, err)
}

// ErrNone means that there is no such object.
var ErrNone = errors.New("no such object")

// accountBound is how long a new namespace may take to get its default service account,
// without which the cluster admits no pod.
const accountBound = 20 * time.Second

// CreatePod makes a pod.
func (c *Cluster) CreatePod(ctx context.Context, p *corev1.Pod) error {
	for end := time.Now().Add(accountBound); ; {
		err := c.create(ctx, func() error {
			return c.client.Post().Namespace(p.Namespace).Resource("pods").Body(p).Do(ctx).Error()
		})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "serviceaccount") || time.Now().After(end) {
			return c.explain("make pod "+p.Name, err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// Refuses asks the API server whether it would admit a pod and its claim, by a dry run, which
// checks quotas, limits and rules of admission. nil: it would, or does not say.
func (c *Cluster) Refuses(ctx context.Context, s PodSpec) error {
	if s.Volume.Class != "" {
		claim := s.Claim()
		err := c.client.Post().Namespace(claim.Namespace).Resource("persistentvolumeclaims").Param("dryRun", metav1.DryRunAll).Body(claim).Do(ctx).Error()
		if apierrors.IsForbidden(err) {
			return c.explain("make PersistentVolumeClaim "+claim.Name, err)
		}
	}
	p := s.Pod()
	var got corev1.Pod
	err := c.client.Post().Namespace(p.Namespace).Resource("pods").Param("dryRun", metav1.DryRunAll).Body(p).Do(ctx).Into(&got)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return c.explain("make pod "+p.Name, err)
	}
	if err != nil || len(got.Spec.Containers) == 0 {
		return nil
	}
	return c.changedError(p, &got)
}

// changedError is the error about a pod that the cluster made another one than was asked for; nil: it did not.
func (c *Cluster) changedError(asked, got *corev1.Pod) error {
	what := changed(asked, got)
	if what == "" {
		return nil
	}
	return hint.New(fmt.Errorf("the cluster changes pod %s: %s", asked.Name, what),
		"a LimitRange or another rule of admission does it: kubectl describe limitrange -n "+asked.Namespace+"; name amounts that it leaves alone (guaranteed:cpu=1,memory=2Gi), or another --namespace")
}

// Unchanged returns an error if a pod that runs is not the one that was asked for.
func (c *Cluster) Unchanged(asked, got *corev1.Pod) error { return c.changedError(asked, got) }

// create makes an object. If a repeated attempt finds it, an earlier one made it and the
// answer was lost.
func (c *Cluster) create(ctx context.Context, post func() error) error {
	asked := 0
	return c.patiently(ctx, func() error {
		asked++
		err := post()
		if asked > 1 && apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// poll is the time between two looks at an object that is waited for.
const poll = 100 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(poll):
		return nil
	}
}

// DeletePod asks for the end of a pod and does not wait: DeleteNamespace waits for it. A
// missing pod is no error.
func (c *Cluster) DeletePod(ctx context.Context, namespace, name string) error {
	return c.deleteOne(ctx, namespace, "pods", name)
}

func (c *Cluster) deleteOne(ctx context.Context, namespace, resource, name string) error {
	options := &metav1.DeleteOptions{}
	if resource == "pods" {
		options.GracePeriodSeconds = to(int64(1)) // with 0 the cluster forgets the pod before the node has cleaned up
	}
	err := c.patiently(ctx, func() error {
		return c.client.Delete().Namespace(namespace).Resource(resource).Name(name).Body(options).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.explain("remove "+strings.TrimSuffix(resource, "s")+" "+name, err)
}

// CreateNamespace makes a namespace.
func (c *Cluster) CreateNamespace(ctx context.Context, n *corev1.Namespace) error {
	err := c.create(ctx, func() error { return c.client.Post().Resource("namespaces").Body(n).Do(ctx).Error() })
	return c.explain("make namespace "+n.Name, err)
}
