package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
)

// confine gives a pod the profile and the label of the levels.
func (l Levels) confine(s *kube.PodSpec) {
	switch word := l.confined.AppArmor; word {
	case "":
	case environment.Default:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case environment.Unconfined:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	default:
		s.AppArmor = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &word}
	}
	if c := l.confined.Label(); c != (environment.Label{}) {
		s.SELinux = &corev1.SELinuxOptions{User: c.User, Role: c.Role, Type: c.Type, Level: c.Level}
	}
}

// confinedFar refuses both where nobody could read back what the node made of them: one
// without the security module ignores them.
func (l Levels) confinedFar() error {
	if l.confined == (environment.Container{}) {
		return nil
	}
	return hint.New(fmt.Errorf("%w: apparmor and selinux are read back on the node", environment.ErrUnsupported), needsNode)
}
