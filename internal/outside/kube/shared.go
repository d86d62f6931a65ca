package kube

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// In a namespace that others use too a run makes pods, and their Services and claims.

// sharedRights are the rights that a run needs in such a namespace. It needs none outside.
var sharedRights = Rights{
	"pods":      {"create", "delete", "get", "list"},
	"pods/exec": FarRights["pods/exec"],
	"events":    {"list"},
}

// quotaRights are rights that tare plan uses where the user has them: for the quotas of all pods together.
var quotaRights = Rights{"resourcequotas": {"list"}}

// podObjects are objects that pods may have, with the label of the run.
var podObjects = []string{"services", "persistentvolumeclaims"}

// withShared adds to sharedRights those of pods that need more, without rights on objects
// that are in no namespace.
func withShared(more []Rights) Rights {
	all := maps.Clone(sharedRights)
	for _, r := range more {
		for _, resource := range podObjects {
			if r[resource] != nil {
				all[resource] = []string{"create", "delete", "get", "list"}
			}
		}
	}
	return all
}

// DeleteRun removes the pods of a run from a namespace, then their Services and claims, and
// returns when all are gone.
func (c *Cluster) DeleteRun(ctx context.Context, namespace, run string) error {
	for _, resource := range append([]string{"pods"}, podObjects...) {
		if err := c.deleteAll(ctx, namespace, resource, run); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) deleteAll(ctx context.Context, namespace, resource, run string) error {
	for asked := false; ; asked = true {
		var l metav1.PartialObjectMetadataList
		err := c.patiently(ctx, func() error {
			text, err := c.client.Get().Namespace(namespace).Resource(resource).SetHeader("Accept", "application/json").
				VersionedParams(&metav1.ListOptions{LabelSelector: LabelRun + "=" + run}, parameters).Do(ctx).Raw()
			if err != nil {
				return err
			}
			return json.Unmarshal(text, &l)
		})
		switch {
		case apierrors.IsForbidden(err) && resource != "pods":
			return nil // without the right to list them the run made none
		case err != nil:
			return c.explain("list the "+resource+" of run "+run, err)
		case len(l.Items) == 0:
			return nil
		}
		var errs []error
		for _, o := range l.Items {
			if !asked || o.DeletionTimestamp == nil {
				errs = append(errs, c.deleteOne(ctx, namespace, resource, o.Name))
			}
		}
		if err := errors.Join(append(errs, pause(ctx))...); err != nil {
			return err
		}
	}
}

// SharedRBAC is a manifest of the rights that a user needs in a namespace that others use
// too; more are the pods' rights beyond those of every run.
func SharedRBAC(whom For, namespace string, more ...Rights) ([]byte, error) {
	all := withShared(more)
	maps.Copy(all, quotaRights)
	meta := metav1.ObjectMeta{Name: whom.role(all), Namespace: namespace}
	role := rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: meta, Rules: rules(all)}
	binding := rbacv1.RoleBinding{
		TypeMeta: rbacType("RoleBinding"), ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: whom.User}},
	}
	return Manifest(`The least that tare needs for arms in pods of this namespace, which are controlled
from outside: no right beyond it, and none on nodes. Pods of others are not touched.
The user is the one that the cluster sees: kubectl auth whoami.
`, role, binding)
}
