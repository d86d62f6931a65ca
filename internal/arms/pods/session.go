package pods

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
)

// session is what the arms of a run share in a cluster: the namespace and the
// image. The first arm makes it, the last one removes it.
type session struct {
	mu   sync.Mutex // held while it is made and removed
	arms int
	made bool
	// claims says that pods have some, whose volumes go with them.
	claims bool
}

// removeBound is how long the cluster may take to remove something.
const removeBound = 2 * time.Minute

// member is an arm in a session.
type member struct {
	*launch.Sandbox
	on      *Target
	cluster *kube.Cluster
	needs   []string         // of all pods of the run, beyond "restricted"
	ctr     *kube.Containerd // of the node; nil: tare is not on it, and has no image there
	shared  string           // the namespace, where that is not the run's own
}

// join takes part in the session of the run. What is shared is in the journal of
// every arm, and is removed by the last one that leaves.
func (a member) join(ctx context.Context) error {
	s := a.on.session(a.Spec.Run)
	s.mu.Lock()
	defer s.mu.Unlock()
	leave := sync.OnceValue(func() error { return a.leave(s) })
	s.arms++
	steps := []journal.Step{a.cluster.NamespaceStep(a.Spec.Run)}
	if a.shared != "" {
		steps = []journal.Step{a.cluster.PodsStep(a.shared, a.Spec.Run)}
	}
	if a.ctr != nil {
		steps = append([]journal.Step{a.ctr.ImageStep(a.Spec.Run)}, steps...)
	}
	var errs []error
	for _, step := range steps {
		errs = append(errs, a.Record(step, leave))
	}
	if err := errors.Join(errs...); err != nil || s.made {
		return err
	}
	if a.ctr != nil {
		if err := a.ctr.Load(ctx, a.Spec.Run, selfPath, rootLinks()); err != nil {
			return err
		}
	}
	s.made = a.shared != ""
	if s.made {
		return nil
	}
	if err := a.cluster.CreateNamespace(ctx, kube.Namespace(a.Spec.Run, a.needs)); err != nil {
		return err
	}
	s.made = true
	return nil
}

// leave removes what is shared, with the last arm.
func (a member) leave(s *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arms--; s.arms > 0 {
		return nil
	}
	s.made = false
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	remove, namespace := a.cluster.DeleteNamespace, kube.NamespaceOf(a.Spec.Run)
	if a.shared != "" {
		remove, namespace = a.cluster.DeleteRun, a.shared
	}
	err := remove(ctx, namespace, a.Spec.Run)
	if err == nil && s.claims {
		err = a.cluster.AwaitNoVolumes(namespace, a.Spec.Run)
	}
	if a.ctr != nil {
		err = errors.Join(err, a.ctr.Remove(kube.ImageOf(a.Spec.Run)))
	}
	return err
}

// selfPath leads to this very binary.
const selfPath = "/proc/self/exe"

// containerd is that of the node; what is started for it ends with tare.
func (a *arm) containerd() kube.Containerd {
	c := kube.NewContainerd()
	c.Run = func(cmd *exec.Cmd) error { return a.OnThread(cmd.Run) }
	return c
}

// allNeeds are what the pods of all arms need beyond "restricted".
func (p Pod) allNeeds(s environment.Spec) []string {
	all := p.needs(s)
	s.Volume, s.Bind = "", false
	for _, e := range s.Beside {
		if p, ok := e.(Pod); ok {
			all = append(all, p.needs(s)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// needs are what a pod needs beyond "restricted".
func (p Pod) needs(s environment.Spec) []string { return p.shape(s).Needs() }

// shape is the pod as far as what it needs depends on it.
func (p Pod) shape(s environment.Spec) kube.PodSpec {
	spec := kube.PodSpec{Port: s.Port}
	p.Levels.connect(&spec)
	p.Levels.confine(&spec)
	if p.Levels.image == "" {
		spec.Programs = nodePrograms()
	}
	_ = p.Levels.place(&spec, s, "a directory") // what is wrong with it Open says
	return spec
}

// Rights are what the cluster must allow for this pod beyond what every run with
// pods needs.
func (p Pod) Rights() kube.Rights { return p.shape(environment.Spec{}).Rights() }
