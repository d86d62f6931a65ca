package pods

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/tarelab/tare/internal/outside/kube"
)

// needs are what the pods of the run need beyond PodSecurity's "restricted".
func (a *far) needs() []string {
	s := a.Spec
	s.Beside = nil
	for _, e := range a.Spec.Beside {
		if p, ok := e.(Pod); ok {
			e = p.led()
		}
		s.Beside = append(s.Beside, e)
	}
	return a.kind.allNeeds(s)
}

// provide makes what the volume of the pod is on: the kubelet mounts it.
func (a *far) provide(ctx context.Context, s *kube.PodSpec) error {
	if err := a.kind.Levels.place(s, a.Spec, ""); err != nil {
		return err
	}
	return claim(ctx, a.kind.On, a.cluster, s, a.Spec.Data)
}

// attach finds the volume that the cluster has given the pod. Who may not look at
// volumes, which are no namespace's, is told so in the settings.
func (a *far) attach(ctx context.Context) error {
	if a.server.spec.Volume.Class == "" {
		return nil
	}
	var err error
	a.persistent, err = a.cluster.Bound(ctx, a.server.spec.Claim())
	switch {
	case apierrors.IsForbidden(err):
		a.persistent, a.unseen = nil, err
	case err != nil:
		return err
	}
	return nil
}
