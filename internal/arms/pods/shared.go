package pods

import (
	"context"
	"errors"
	"net/netip"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
)

// shared is what the arms of a run share in a cluster: the namespace and the image. The first
// arm makes both, the last one removes them.
type shared struct {
	mu     sync.Mutex // held while they are made and removed
	arms   int
	made   bool
	claims bool // the last arm waits until their volumes are gone
	kept   []*podSet
	// ports are the ports of the servers of remote arms, which stay: a Service of the arm may exist.
	ports map[string]int
	// claimed and services are the arms with a claim, and with a Service at an address; both exist as long as
	// what is shared.
	claimed  map[string]bool
	services map[string]netip.Addr
}

// claim makes the claim of an arm with create, unless an earlier pod of the arm had it.
func (s *shared) claim(arm string, create func() error) error {
	s.mu.Lock()
	had := s.claimed[arm]
	s.mu.Unlock()
	if had {
		return nil
	}
	if err := create(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claimed == nil {
		s.claimed = map[string]bool{}
	}
	s.claimed[arm] = true
	return nil
}

// service is the address of an arm's Service, which create makes if there is none.
func (s *shared) service(arm string, create func() (netip.Addr, error)) (netip.Addr, error) {
	s.mu.Lock()
	at, ok := s.services[arm]
	s.mu.Unlock()
	if ok {
		return at, nil
	}
	at, err := create()
	if err != nil {
		return at, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.services == nil {
		s.services = map[string]netip.Addr{}
	}
	s.services[arm] = at
	return at, nil
}

// portOf is the port of an arm's server: that of its first launch, or port; 0: there is no server.
func (s *shared) portOf(arm string, port int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ports == nil {
		s.ports = map[string]int{}
	}
	if s.ports[arm] == 0 {
		s.ports[arm] = port
	}
	if port == 0 {
		return 0
	}
	return s.ports[arm]
}

// removeBound is how long the cluster may take to remove an object.
const removeBound = 2 * time.Minute

// undoer keeps what is to be undone: launch.Sandbox until its arm is closed, podSet for longer.
type undoer interface {
	Undo(back func() error)
	Record(step journal.Step, back func() error) error
}

// member is an arm that uses what is shared.
type member struct {
	undoer
	run       string
	on        *Target
	cluster   *kube.Cluster
	needs     []string         // of all pods of the run, beyond "restricted"
	ctr       *kube.Containerd // of the node; nil: tare is not on the node and loads no image
	namespace string           // that exists already; empty: the run makes its own
}

// join makes the namespace and the image, unless another arm has. The journal of every arm has
// both; closing the last arm removes them.
func (a member) join(ctx context.Context) error {
	s := a.on.sharedBy(a.run)
	s.mu.Lock()
	defer s.mu.Unlock()
	leave := sync.OnceValue(func() error { return a.leave(s) })
	s.arms++
	steps := []journal.Step{a.cluster.NamespaceStep(a.run)}
	if a.namespace != "" {
		steps = []journal.Step{a.cluster.PodsStep(a.namespace, a.run)}
	}
	if a.ctr != nil {
		steps = append([]journal.Step{a.ctr.ImageStep(a.run)}, steps...)
	}
	var errs []error
	for _, step := range steps {
		errs = append(errs, a.Record(step, leave))
	}
	if err := errors.Join(errs...); err != nil || s.made {
		return err
	}
	if a.ctr != nil {
		if err := a.ctr.Load(ctx, a.run, selfPath, rootLinks()); err != nil {
			return err
		}
	}
	s.made = a.namespace != ""
	if s.made {
		return nil
	}
	if err := a.cluster.CreateNamespace(ctx, kube.Namespace(a.run, a.needs)); err != nil {
		return err
	}
	s.made = true
	return nil
}

// leave removes what is shared if this is the last arm.
func (a member) leave(s *shared) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arms--; s.arms > 0 {
		return nil
	}
	s.made, s.claimed, s.services = false, nil, nil
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	remove, namespace := a.cluster.DeleteNamespace, kube.NamespaceOf(a.run)
	if a.namespace != "" {
		remove, namespace = a.cluster.DeleteRun, a.namespace
	}
	err := remove(ctx, namespace, a.run)
	if err == nil && s.claims {
		err = a.cluster.AwaitNoVolumes(namespace, a.run)
	}
	if a.ctr != nil {
		err = errors.Join(err, a.ctr.Remove(kube.ImageOf(a.run)))
	}
	return err
}

// selfPath is the binary of this process.
const selfPath = "/proc/self/exe"

// containerd is the node's. Programs that it starts end with tare.
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

// needs are what the pod needs beyond "restricted".
func (p Pod) needs(s environment.Spec) []string { return p.outline(s).Needs() }

// outline is the pod as far as needs and rights depend on it.
func (p Pod) outline(s environment.Spec) kube.PodSpec {
	spec := kube.PodSpec{Port: s.Port}
	p.Levels.setNetwork(&spec)
	p.Levels.setProfile(&spec)
	if p.Levels.image == "" {
		spec.Programs = nodePrograms()
	}
	_ = p.Levels.setVolume(&spec, s, "a directory") // Open returns this error
	return spec
}

// Rights are what the cluster has to allow for this pod beyond the rights that all pods need.
func (p Pod) Rights() kube.Rights { return p.outline(environment.Spec{}).Rights() }
