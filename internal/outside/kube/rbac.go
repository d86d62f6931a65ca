package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rights are verbs by resource, which is GROUP:RESOURCE outside of the core group.
type Rights map[string][]string

// groupOf splits a key of Rights; group is "" for the core.
func groupOf(name string) (group, resource string) {
	if group, resource, ok := strings.Cut(name, ":"); ok {
		return group, resource
	}
	return "", name
}

func resourceOf(name string) string {
	_, resource := groupOf(name)
	return resource
}

// rules are rights as the rules of a role.
func rules(rights Rights) []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		group, resource := groupOf(name)
		all = append(all, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: rights[name]})
	}
	return all
}

// basic are the rights that every run with pods needs.
var basic = Rights{
	"namespaces": {"create", "delete", "get"},
	"nodes":      {"list"},
	"pods":       {"create", "delete", "get", "list"},
	"events":     {"list"},
}

// Rights are those that this pod needs beyond those of every run with pods.
func (s PodSpec) Rights() Rights {
	r := Rights{}
	if s.Service {
		r["services"] = []string{"create", "get"}
	}
	if s.Volume.Class != "" {
		r["persistentvolumeclaims"] = []string{"create", "get"}
		r["persistentvolumes"] = []string{"get", "list"}
	}
	return r
}

// withBasic adds more to the rights of every run.
func withBasic(more []Rights) Rights {
	all := maps.Clone(basic)
	for _, r := range more {
		for resource, verbs := range r {
			all[resource] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[resource], verbs))))
		}
	}
	return all
}

// For is whom rights are for: the objects of another user or experiment have other names, so that applying
// them takes no rights from this one.
type For struct{ User, Experiment string }

// notInNames are characters that do not belong into the name of an object.
var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// role is the name of a role with these rights and of its binding.
func (f For) role(rights Rights) string {
	const most = 20 // characters of each part
	part := func(s string) string {
		s = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
		return strings.Trim(s[max(0, len(s)-most):], "-") // of a service account the end is its own
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", f.User, f.Experiment)
	for _, name := range slices.Sorted(maps.Keys(rights)) {
		fmt.Fprintf(h, " %q %q", name, slices.Sorted(slices.Values(rights[name])))
	}
	words := []string{"tare", part(f.User), part(f.Experiment), hex.EncodeToString(h.Sum(nil))[:8]}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-")
}

// RBAC is a manifest of the rights that a user needs; more are the pods' rights beyond those
// of every run.
func RBAC(whom For, more ...Rights) ([]byte, error) {
	all := withBasic(more)
	if all["persistentvolumeclaims"] != nil {
		all["storage.k8s.io:storageclasses"] = []string{"list"} // to find a missing class before a run
	}
	name := whom.role(all)
	role := rbacv1.ClusterRole{
		TypeMeta: rbacType("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules(all),
	}
	binding := rbacv1.ClusterRoleBinding{
		TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: whom.User}},
	}
	comment := `The least that tare needs for the arms of this experiment. Namespaces are named
when they are made, so that the rights are the cluster's: tare makes one per run,
tare-RUN, and removes no other. Other users and experiments have roles of other names. Pods are listed to find what is left on the node.
The user is the one that the cluster sees: kubectl auth whoami.
`
	if all["pods/exec"] != nil {
		comment += `With the node helper (--node-helper), which is a privileged pod, these rights are root
on every node that admits it. Its service account gets those of the pods' arms
and no others, in a role tare-RUN that goes with the run.
`
	}
	return Manifest(comment, role, binding)
}
