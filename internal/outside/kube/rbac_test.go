package kube

import (
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// Two users, and two experiments of one, have roles and bindings of different names: applying one takes no
// rights from another.
func TestRolesHaveOwnNames(t *testing.T) {
	objects := func(t *rapid.T, text []byte, err error) (role, binding string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		first, second, _ := strings.Cut(string(text), "---\n")
		var r rbacv1.ClusterRole
		var b rbacv1.ClusterRoleBinding
		if yaml.Unmarshal([]byte(first), &r) != nil || yaml.Unmarshal([]byte(second), &b) != nil {
			t.Fatalf("%s", text)
		}
		if b.RoleRef.Name != r.Name || len(b.Subjects) != 1 {
			t.Fatalf("%s is bound to %s for %+v", b.Name, b.RoleRef.Name, b.Subjects)
		}
		return r.Name, b.Name
	}
	name := regexp.MustCompile(`^tare(-[a-z0-9]+)+$`)
	users := rapid.SampledFrom([]string{"alice", "bob", "Bob", "a.b", "a-b", "a@example.com", "system:serviceaccount:team:ci", "system:serviceaccount:other:ci", "", "NAME", "王", "李"})
	experiments := rapid.SampledFrom([]string{"pod-volumes", "mysql-kubernetes", "mine.yaml", "mine/yaml", ""})
	more := rapid.SampledFrom([]Rights{nil, {"services": {"create", "get"}}, {"services": {"create"}}, HelperRights})
	rapid.Check(t, func(t *rapid.T) {
		whom := [2]For{{users.Draw(t, "user"), experiments.Draw(t, "experiment")}, {users.Draw(t, "other user"), experiments.Draw(t, "other experiment")}}
		rights := [2]Rights{more.Draw(t, "rights"), more.Draw(t, "other rights")}
		var roles, bindings, shared [2]string
		for i := range whom {
			text, err := RBAC(whom[i], rights[i])
			roles[i], bindings[i] = objects(t, text, err)
			text, err = SharedRBAC(whom[i], "team", rights[i])
			shared[i], _ = objects(t, text, err)
			for _, n := range []string{roles[i], bindings[i], shared[i]} {
				if !name.MatchString(n) || len(n) > 63 {
					t.Fatalf("%+v: %q", whom[i], n)
				}
			}
		}
		if whom[0] != whom[1] && (roles[0] == roles[1] || bindings[0] == bindings[1] || shared[0] == shared[1]) {
			t.Fatalf("%+v: %q %q %q", whom, roles, bindings, shared)
		}
	})
	one, err1 := RBAC(For{"alice", "pod-volumes"}, Rights{"services": {"get"}})
	two, err2 := RBAC(For{"alice", "pod-volumes"}, Rights{"services": {"get"}})
	if err1 != nil || err2 != nil || string(one) != string(two) {
		t.Error("the same rights have other names the next time")
	}
}
