package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

// confine gives a pod the profile of the levels.
func (l Levels) confine(s *kube.PodSpec) {
	switch word := l.apparmor; word {
	case "":
	case environment.Default:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case environment.Unconfined:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	default:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &word}
	}
}

// confinedFar refuses a profile where tare cannot read back what the node made of it: a node
// without AppArmor ignores it.
func (l Levels) confinedFar() error {
	if l.apparmor == "" {
		return nil
	}
	return hint.New(fmt.Errorf("%w: apparmor is read back on the node", facts.ErrUnsupported), needsNode)
}
