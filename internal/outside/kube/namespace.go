package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// lostBound is how long DeleteNamespace waits before it looks whether a pod's node is not ready, and
// lookEvery how often it then looks.
const (
	lostBound = 20 * time.Second
	lookEvery = 2 * time.Second
)

// DeleteNamespace removes the namespace of a run with its content, and waits until it is gone. A missing
// namespace is no error; a namespace of another run is. If the namespace stays, the error says why.
func (c *Cluster) DeleteNamespace(ctx context.Context, name, run string) error {
	var asked, looked time.Time
	var last corev1.Namespace // the latest answer
	for {
		n, err := c.namespace(ctx, name)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil && !asked.IsZero():
			return c.hindered(ctx, &last, c.explain("look at namespace "+name, err))
		case err != nil:
			return c.explain("look at namespace "+name, err)
		case n.Labels[LabelRun] != run:
			return fmt.Errorf("namespace %s is not that of run %s: its label %s is %q", name, run, LabelRun, n.Labels[LabelRun])
		}
		if asked.IsZero() {
			if err := c.endNamespace(ctx, name); err != nil {
				return err
			}
			asked = time.Now()
		}
		if time.Since(asked) > lostBound && time.Since(looked) > lookEvery {
			if err := c.unreachable(ctx, name); err != nil {
				return err
			}
			looked = time.Now()
		}
		if err := pause(ctx); err != nil {
			return c.hindered(ctx, n, err)
		}
		last = *n
	}
}

func (c *Cluster) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	var n corev1.Namespace
	err := c.patiently(ctx, func() error { return c.client.Get().Resource("namespaces").Name(name).Do(ctx).Into(&n) })
	return &n, err
}

func (c *Cluster) endNamespace(ctx context.Context, name string) error {
	err := c.patiently(ctx, func() error {
		return c.client.Delete().Resource("namespaces").Name(name).Body(&metav1.DeleteOptions{}).Do(ctx).Error()
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.explain("remove namespace "+name, err)
}

// unreachable returns an error if a pod of a namespace is on a node that is not ready. The
// cluster keeps the pod until the node confirms its end.
func (c *Cluster) unreachable(ctx context.Context, namespace string) error {
	pods, err := c.podsIn(ctx, namespace)
	if err != nil {
		return nil // the wait goes on
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil
	}
	for _, p := range pods {
		i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == p.Spec.NodeName })
		if i < 0 {
			continue
		}
		if sick := notReady(&nodes[i]); sick != nil {
			return hint.New(fmt.Errorf("namespace %s stays until the node has ended its pod %s: %w", namespace, p.Name, sick),
				"when the node is ready the cluster removes it by itself, and tare cleanup the rest; kubectl describe node "+p.Spec.NodeName)
		}
	}
	return nil
}

func (c *Cluster) podsIn(ctx context.Context, namespace string) ([]corev1.Pod, error) {
	var l corev1.PodList
	err := c.client.Get().Namespace(namespace).Resource("pods").Do(ctx).Into(&l)
	return l.Items, err
}

// hinderedBound is how long the cluster may take to say why a namespace stays.
const hinderedBound = 5 * time.Second

// hindered is the error about a namespace that is still there when DeleteNamespace gives up. why is the
// reason to give up.
func (c *Cluster) hindered(ctx context.Context, n *corev1.Namespace, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hinderedBound)
	defer cancel()
	if err := c.unreachable(ctx, n.Name); err != nil {
		return err
	}
	var reasons []string
	for _, cond := range n.Status.Conditions {
		if cond.Status == corev1.ConditionTrue && cond.Message != "" {
			reasons = append(reasons, cond.Message)
		}
	}
	if len(reasons) == 0 {
		return fmt.Errorf("wait for the end of namespace %s: %w", n.Name, why)
	}
	return fmt.Errorf("wait for the end of namespace %s: %w: %w", n.Name, why, errors.New(strings.Join(reasons, "; ")))
}
