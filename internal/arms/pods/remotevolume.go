package pods

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tarelab/tare/internal/outside/kube"
)

// needs are what the pods of the run need beyond the PodSecurity level "restricted".
func (a *remoteArm) needs() []string {
	s := a.Spec
	s.Beside = nil
	for _, e := range a.Spec.Beside {
		if p, ok := e.(Pod); ok {
			e = p.asRemote()
		}
		s.Beside = append(s.Beside, e)
	}
	return a.kind.allNeeds(s)
}

// makeVolume makes the claim of the pod's volume, if it has one.
func (a *remoteArm) makeVolume(ctx context.Context, s *kube.PodSpec) error {
	if err := a.kind.Levels.setVolume(s, a.Spec, ""); err != nil {
		return err
	}
	return createClaim(ctx, a.kind.On, a.cluster, s, a.Spec.Data)
}

// findVolume finds the volume of the claim. A user with rights in one namespace may not read
// volumes: the settings say so.
func (a *remoteArm) findVolume(ctx context.Context) error {
	if a.server.spec.Volume.Class == "" {
		return nil
	}
	var err error
	a.persistent, err = a.cluster.Bound(ctx, a.server.spec.Claim())
	switch {
	case apierrors.IsForbidden(err):
		a.persistent, a.persistentErr = nil, err
	case err != nil:
		return err
	}
	return nil
}
