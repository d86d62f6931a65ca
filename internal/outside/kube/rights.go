package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// rightsRemedy is the remedy for missing rights: the user writes the file, because it depends
// on the user's kubeconfig, and an administrator applies it.
func (a Access) rightsRemedy() string {
	return cmp.Or(a.Rights, "tare plan --rbac") + " > rights.yaml writes the rights that you need; an administrator gives you them: kubectl apply -f rights.yaml"
}

// forbidden is the remedy for a refusal of the API server. Against quotas and rules of
// admission more rights do not help.
func (c *Cluster) forbidden(text string) string {
	space := cmp.Or(c.Namespace, "NAMESPACE")
	switch {
	case strings.Contains(text, "violates PodSecurity"):
		return "the cluster admits no such pods: leave out what needs them (network=host, a volume), and name an image with what the load needs (image=NAME)"
	case strings.Contains(text, "exceeded quota"):
		return "a ResourceQuota has no room for it: kubectl describe quota -n " + space + "; fewer --arms, less of each (cpu=, memory=, volume-size=), or another --namespace"
	case strings.Contains(text, "failed quota"), strings.Contains(text, "must specify"):
		return "a ResourceQuota wants requests and limits of every pod, which guaranteed arms have: kubectl describe quota -n " + space
	case strings.Contains(text, `User "`) && strings.Contains(text, " cannot "):
		return c.rightsRemedy()
	}
	return "a rule of the cluster forbids it, whatever your rights: kubectl describe limitrange,quota -n " + space + "; its administrator knows the others"
}

// May asks the cluster whether the user has the rights that every run needs, and more. The
// error names user, verbs and resources that are forbidden. A cluster that does not answer
// such questions is no error.
func (c *Cluster) May(ctx context.Context, more ...Rights) error {
	return c.may(ctx, "", withBasic(more))
}

// MayShared is May for pods in a namespace that others use too.
func (c *Cluster) MayShared(ctx context.Context, namespace string, more ...Rights) error {
	return c.may(ctx, namespace, withShared(more))
}

// may asks for rights in a namespace; empty: in the whole cluster.
func (c *Cluster) may(ctx context.Context, namespace string, rights Rights) error {
	type asked struct {
		resource, verb string
		allowed        bool
	}
	var all []*asked
	for _, resource := range slices.Sorted(maps.Keys(rights)) {
		for _, verb := range rights[resource] {
			all = append(all, &asked{resource, verb, true})
		}
	}
	var wait sync.WaitGroup
	for _, a := range all {
		wait.Go(func() { a.allowed = c.allowed(ctx, namespace, a.resource, a.verb) })
	}
	wait.Wait()
	verbs := map[string][]string{}
	for _, a := range all {
		if !a.allowed {
			verbs[a.resource] = append(verbs[a.resource], a.verb)
		}
	}
	if len(verbs) == 0 {
		return nil
	}
	var missing []string
	for _, r := range slices.Sorted(maps.Keys(verbs)) {
		missing = append(missing, strings.Join(verbs[r], ", ")+" "+resourceOf(r))
	}
	return hint.New(refusedError{fmt.Errorf("the cluster forbids user %q to %s", c.whoami(ctx), strings.Join(missing, "; "))}, c.rightsRemedy())
}

// allowed asks for one right in a namespace; empty: in the whole cluster.
func (c *Cluster) allowed(ctx context.Context, namespace, resource, verb string) bool {
	group, resource := groupOf(resource)
	resource, sub, _ := strings.Cut(resource, "/")
	review := &authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorization.ResourceAttributes{Namespace: namespace, Group: group, Resource: resource, Subresource: sub, Verb: verb},
	}}
	var answer authorization.SelfSubjectAccessReview
	err := c.client.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").Body(review).Do(ctx).Into(&answer)
	return err != nil || answer.Status.Allowed
}

// whomBound is how long the cluster may take to say who the user is.
const whomBound = 3 * time.Second

// Whom is the name of the user for RBAC: that of the kubeconfig's certificate, or with a
// token the name that the cluster knows.
func (a Access) Whom(ctx context.Context) string {
	name := a.UserName()
	if name != unknownUser {
		return name
	}
	c, err := a.Connect()
	if err != nil {
		return name
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, whomBound)
	defer cancel()
	c.User = name
	return c.whoami(ctx)
}

// whoami is the user's name in the cluster; if the cluster does not say, that in the
// kubeconfig.
func (c *Cluster) whoami(ctx context.Context) string {
	var answer authentication.SelfSubjectReview
	err := c.client.Post().AbsPath("/apis/authentication.k8s.io/v1/selfsubjectreviews").Body(&authentication.SelfSubjectReview{}).Do(ctx).Into(&answer)
	if name := answer.Status.UserInfo.Username; err == nil && name != "" {
		return name
	}
	return c.User
}
