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

// MayHelp returns an error, like May, if the user lacks rights to make a node helper. more are the rights
// that the experiment's pods need.
func (c *Cluster) MayHelp(ctx context.Context, more ...Rights) error {
	return c.May(ctx, append(slices.Clone(more), HelperRights)...)
}

// CreateHelper makes the helper of a node and returns when its pod runs.
func (c *Cluster) CreateHelper(ctx context.Context, s HelperSpec) error {
	if err := c.MayHelp(ctx, s.More...); err != nil {
		return err
	}
	n := s.Namespace()
	err := c.CreateNamespace(ctx, n)
	var made *corev1.Namespace
	if err == nil {
		made, err = c.namespace(ctx, n.Name)
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

// notRunning adds a remedy to the error of a helper's pod that does not run: another image. With an image
// that the user named it keeps a remedy that the error has.
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

// createRights makes the service account of tare on the node with its rights.
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

// helperRefused adds a remedy to the error of a cluster that admits no privileged pods.
func helperRefused(err error) error {
	if strings.Contains(err.Error(), "PodSecurity") || strings.Contains(err.Error(), "admission webhook") {
		return hint.New(err, "the cluster admits no privileged pod, which the node helper is: an administrator exempts namespaces tare-*, or runs tare on the node itself")
	}
	return err
}

// RemoveHelper removes everything of a helper and returns when it is gone. Missing objects are
// no error.
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

// restoreBound is how long tare on a node that has lost its client may take to restore the node. The
// helper must exist until then: tare there needs its rights.
const restoreBound = 90 * time.Second

// FindHelper returns nil if the namespace of a run's helper exists, or else the error of the request.
func (c *Cluster) FindHelper(ctx context.Context, run string) error {
	return c.client.Get().Resource("namespaces").Name(NamespaceOf(run)).Do(ctx).Error()
}

// AwaitHelperGone waits until tare on a node that has lost its client has restored the
// node and removed its helper; at most for restoreBound, or until the cluster does not
// answer.
func (c *Cluster) AwaitHelperGone(ctx context.Context, run string) {
	ctx, cancel := context.WithTimeout(ctx, restoreBound)
	defer cancel()
	for {
		n, err := c.namespace(ctx, NamespaceOf(run))
		if err != nil || n.DeletionTimestamp != nil || pause(ctx) != nil {
			return
		}
	}
}

// AwaitRestored waits until tare on the node of a killed client's helper has restored the
// node; at most for restoreBound. helper is false if the run had no helper.
func (c *Cluster) AwaitRestored(ctx context.Context, run string) (helper bool, err error) {
	n, err := c.namespace(ctx, NamespaceOf(run))
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, c.explain("look at namespace "+NamespaceOf(run), err)
	case n.Labels[LabelHelper] == "" || n.Labels[LabelRun] != run:
		return false, nil
	}
	if command, ok := awaitCommand(n.Annotations[annotationNodeRun]); ok {
		ctx, cancel := context.WithTimeout(ctx, restoreBound)
		defer cancel()
		// It fails where tare never began on the node: there is nothing to restore.
		_ = c.Exec(ctx, NamespaceOf(run), HelperName, Streams{Out: io.Discard}, command...)
	}
	return true, nil
}
