package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

// setProfile sets the AppArmor profile of the levels.
func (l Levels) setProfile(s *kube.PodSpec) {
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

// checkRemoteProfile refuses a profile where tare is not on the node and cannot read it back: a
// node without AppArmor ignores it.
func (l Levels) checkRemoteProfile() error {
	if l.apparmor == "" {
		return nil
	}
	return hint.New(fmt.Errorf("%w: reading the AppArmor profile back needs tare on the node", facts.ErrUnsupported), needsNode)
}
