package kube

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods in a namespace that others use too: nothing else of a run is there.

// SharedRights are all that a user needs in such a namespace, and none beyond it.
var SharedRights = Rights{
	"pods":      {"create", "delete", "get", "list"},
	"pods/exec": FarRights["pods/exec"],
	"events":    {"list"},
}

// DeletePods removes the pods of a run from a namespace, and returns when they are
// gone.
func (c *Cluster) DeletePods(ctx context.Context, namespace, run string) error {
	for asked := false; ; asked = true {
		var l corev1.PodList
		err := c.patiently(ctx, func() error {
			return c.client.Get().Namespace(namespace).Resource("pods").
				VersionedParams(&metav1.ListOptions{LabelSelector: LabelRun + "=" + run}, parameters).Do(ctx).Into(&l)
		})
		if err != nil {
			return c.explain("list the pods of run "+run, err)
		}
		if len(l.Items) == 0 {
			return nil
		}
		var errs []error
		for _, p := range l.Items {
			if !asked || p.DeletionTimestamp == nil {
				errs = append(errs, c.DeletePod(ctx, namespace, p.Name))
			}
		}
		if err := errors.Join(append(errs, pause(ctx))...); err != nil {
			return err
		}
	}
}

// SharedRBAC is the least that a user needs for pods in a namespace that others use
// too.
func SharedRBAC(user, namespace string) ([]byte, error) {
	meta := metav1.ObjectMeta{Name: "tare", Namespace: namespace}
	role := rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: meta, Rules: rules(SharedRights)}
	binding := rbacv1.RoleBinding{
		TypeMeta: rbacType("RoleBinding"), ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	return Manifest(`The least that tare needs for arms in pods of this namespace, which are led from
outside: no right beyond it, and none on nodes. Pods of others are not touched.
The user is the one that the cluster sees: kubectl auth whoami.
`, role, binding)
}
