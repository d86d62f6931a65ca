package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
)

// The pod has the profile of its levels; a remote arm refuses one.
func TestConfine(t *testing.T) {
	for _, c := range []struct {
		levels  string
		profile corev1.AppArmorProfileType
		name    string // of a profile that is loaded
	}{
		{"network=pod", "", ""},
		{"apparmor=default", "RuntimeDefault", ""},
		{"apparmor=unconfined", "Unconfined", ""},
		{"apparmor=mine", "Localhost", "mine"},
	} {
		p := with(t, BestEffort, c.levels)
		s := p.outline(environment.Spec{})
		at := kube.PodSpec{AppArmor: s.AppArmor}.Pod().Spec.SecurityContext
		if a := at.AppArmorProfile; (a != nil) != (c.profile != "") || a != nil && (a.Type != c.profile || (a.LocalhostProfile != nil) != (c.name != "") || c.name != "" && *a.LocalhostProfile != c.name) {
			t.Errorf("%s: %+v", c.levels, a)
		}
		if err := p.Levels.checkRemoteProfile(); (err != nil) != (c.levels != "network=pod") {
			t.Errorf("%s, from elsewhere: %v", c.levels, err)
		}
	}
}
