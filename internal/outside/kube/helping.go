package kube

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tarelab/tare/internal/base/hint"
)

const rbacPath = "/apis/rbac.authorization.k8s.io/v1/"

// MayHelp is May for helpers, whose account gets rights for the pods of the experiment.
func (c *Cluster) MayHelp(ctx context.Context, more ...Rights) error {
	return c.May(ctx, append(slices.Clone(more), HelperRights)...)
}

// CreateHelper makes the helper of a node, and returns when its pod runs.
func (c *Cluster) CreateHelper(ctx context.Context, s HelperSpec) error {
	if err := c.MayHelp(ctx, s.More...); err != nil {
		return err
	}
	n := s.Namespace()
	err := c.CreateNamespace(ctx, n)
	var made corev1.Namespace
	if err == nil {
		err = c.patiently(ctx, func() error { return c.client.Get().Resource("namespaces").Name(n.Name).Do(ctx).Into(&made) })
	}
	if err == nil {
		err = c.createRights(ctx, s, made.UID)
	}
	if err == nil {
		err = c.CreatePod(ctx, s.Pod())
	}
	if err != nil {
		return helperRefused(err)
	}
	_, err = c.AwaitRunning(ctx, n.Name, HelperName)
	return s.notRunning(err)
}

// notRunning says what the helper's image needs, where the cluster's reason does
// not say what to do.
func (s HelperSpec) notRunning(err error) error {
	switch {
	case err == nil:
		return nil
	case s.Image == "":
		return hint.New(err, "name an image that the node can get, with "+helperPrograms+" in it: --helper-image busybox@sha256:...; "+
			"without it the helper begins with "+s.Own+" and the node's own sh")
	case hint.Of(err) == "":
		return hint.New(err, "the helper's image needs "+helperPrograms+" for the node's architecture: --helper-image busybox@sha256:...; "+
			"tare image load puts one into a node's containerd without a registry")
	}
	return err
}

// ReplaceHelper makes the pod of a helper again where somebody has removed or
// evicted it; made: it runs, without tare's binary. What the first one has begun on
// the node is no part of the pod.
func (c *Cluster) ReplaceHelper(ctx context.Context, s HelperSpec) (made bool, err error) {
	namespace := NamespaceOf(s.Run)
	p, err := c.Pod(ctx, namespace, HelperName)
	switch {
	case err == nil && (p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded):
		return false, c.DeletePod(ctx, namespace, HelperName)
	case err == nil:
		return false, nil
	case !errors.Is(err, ErrNone):
		return false, err
	}
	if err := c.CreatePod(ctx, s.Pod()); err != nil {
		return false, err
	}
	_, err = c.AwaitRunning(ctx, namespace, HelperName)
	return err == nil, err
}

// createRights makes the account of tare on the node, and gives it its rights.
func (c *Cluster) createRights(ctx context.Context, s HelperSpec, owner types.UID) error {
	post := func(what, path string, object any) error {
		body, err := json.Marshal(object)
		if err == nil {
			err = c.create(ctx, func() error {
				return c.client.Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
			})
		}
		return c.explain("make "+what, err)
	}
	err := post("service account "+HelperName, "/api/v1/namespaces/"+NamespaceOf(s.Run)+"/serviceaccounts", s.Account())
	if err == nil {
		err = post("cluster role "+s.name(), rbacPath+"clusterroles", s.Role(owner))
	}
	if err == nil {
		err = post("cluster role binding "+s.name(), rbacPath+"clusterrolebindings", s.Binding(owner))
	}
	return err
}

// helperRefused says what to do when the cluster does not want a helper.
func helperRefused(err error) error {
	if strings.Contains(err.Error(), "PodSecurity") || strings.Contains(err.Error(), "admission webhook") {
		return hint.New(err, "the cluster admits no privileged pod, which the node helper is: an administrator exempts namespaces tare-*, or runs tare on the node itself")
	}
	return err
}

// RemoveHelper removes all of a helper, and returns when it is gone. What is
// gone already is fine.
func (c *Cluster) RemoveHelper(ctx context.Context, run string) error {
	var errs []error
	for _, kind := range []string{"clusterrolebindings", "clusterroles"} {
		err := c.patiently(ctx, func() error {
			return c.client.Delete().AbsPath(rbacPath + kind + "/" + NamespaceOf(run)).Body(&metav1.DeleteOptions{}).Do(ctx).Error()
		})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, c.explain("remove "+NamespaceOf(run)+" of "+kind, err))
		}
	}
	return errors.Join(append(errs, c.DeleteNamespace(ctx, NamespaceOf(run), run))...)
}

// politely is how long tare on a node may take to end when nobody waits for its
// record: it restores the node first, for which it needs the cluster.
const politely = 90 * time.Second

// Helps says whether the helper of a run is there, as far as the cluster tells this user.
func (c *Cluster) Helps(ctx context.Context, run string) error {
	return c.client.Get().Resource("namespaces").Name(NamespaceOf(run)).Do(ctx).Error()
}

// LeaveHelper has the tare of a helper whose client is lost end and restore its
// node, before the helper is removed. helper says whether the run had one at all.
func (c *Cluster) LeaveHelper(ctx context.Context, run string) (helper bool, err error) {
	var n corev1.Namespace
	err = c.patiently(ctx, func() error { return c.client.Get().Resource("namespaces").Name(NamespaceOf(run)).Do(ctx).Into(&n) })
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, c.explain("look at namespace "+NamespaceOf(run), err)
	case n.Labels[LabelHelper] == "" || n.Labels[LabelRun] != run:
		return false, nil
	}
	if words, ok := leave(n.Annotations[noteRun]); ok {
		ctx, cancel := context.WithTimeout(ctx, politely)
		defer cancel()
		// One that has not begun, or has ended, has no such command to run.
		_ = c.Exec(ctx, NamespaceOf(run), HelperName, Streams{Out: io.Discard}, words...)
	}
	return true, nil
}
