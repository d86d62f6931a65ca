package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/kube"
)

// What the levels say is in the pod, and tare away from its node says nothing of it.
func TestConfine(t *testing.T) {
	for _, c := range []struct {
		levels  string
		profile corev1.AppArmorProfileType
		name    string // of a profile that is loaded
		label   corev1.SELinuxOptions
	}{
		{"network=pod", "", "", corev1.SELinuxOptions{}},
		{"apparmor=default,selinux=default", "RuntimeDefault", "", corev1.SELinuxOptions{}},
		{"apparmor=unconfined", "Unconfined", "", corev1.SELinuxOptions{}},
		{"apparmor=mine", "Localhost", "mine", corev1.SELinuxOptions{}},
		{"selinux=spc_t", "", "", corev1.SELinuxOptions{Type: "spc_t"}},
		{"selinux=u:r:container_t:s0:c1.c3", "", "", corev1.SELinuxOptions{User: "u", Role: "r", Type: "container_t", Level: "s0:c1.c3"}},
	} {
		p := with(t, BestEffort, c.levels)
		s := p.shape(environment.Spec{})
		at := kube.PodSpec{AppArmor: s.AppArmor, SELinux: s.SELinux}.Pod().Spec.SecurityContext
		if a := at.AppArmorProfile; (a != nil) != (c.profile != "") || a != nil && (a.Type != c.profile || (a.LocalhostProfile != nil) != (c.name != "") || c.name != "" && *a.LocalhostProfile != c.name) {
			t.Errorf("%s: %+v", c.levels, a)
		}
		if l := at.SELinuxOptions; (l != nil) != (c.label != corev1.SELinuxOptions{}) || l != nil && *l != c.label {
			t.Errorf("%s: %+v", c.levels, l)
		}
		if err := p.Levels.confinedFar(); (err != nil) != (c.levels != "network=pod") {
			t.Errorf("%s, from elsewhere: %v", c.levels, err)
		}
	}
}
