package pods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
)

// podSet is what a remote arm has in the cluster: its pods, their connections and the data in them. It can
// live through several launches of the arm (environment.Spec.Keep): making pods, copying the binary and
// sending the data take much longer than a new process.
type podSet struct {
	kind    Pod
	cluster *kube.Cluster
	node    *corev1.Node
	amounts podAmounts
	// persistent is the volume of the claim; nil without a claim, and if this user may not read
	// it. persistentErr is the reason then.
	persistent    *corev1.PersistentVolume
	persistentErr error
	route         remoteRoute // to the server, through a Service; the zero value: the pod's address
	server        *remotePod  // the pod of the server, or of a load without a server
	client        *remotePod  // the pod of the server's client; nil: there is no server
	clientNode    *corev1.Node

	of    environment.Spec // of the arm that made it
	asked Pod              // kind as the experiment has it

	stack journal.UndoStack
}

var _ undoer = (*podSet)(nil)

// Undo adds a function for release to run.
func (s *podSet) Undo(back func() error) { s.stack.Push(back) }

// Record writes a step to the run's journal; release calls back.
func (s *podSet) Record(step journal.Step, back func() error) error {
	return s.stack.Record(s.of.Journal, step, back)
}

// release removes the pods and all else.
func (s *podSet) release() error {
	if err := s.stack.Undo(); err != nil {
		return fmt.Errorf("remove the pods of arm %s: %w", s.of.Arm, err)
	}
	return nil
}

// all are the pods.
func (s *podSet) all() []*remotePod {
	return slices.DeleteFunc([]*remotePod{s.client, s.server}, func(p *remotePod) bool { return p == nil })
}

// emptied ends the processes of the pods, the client first. It says whether the pods can be used again.
func (s *podSet) emptied() bool {
	return !slices.ContainsFunc(s.all(), func(p *remotePod) bool { return !p.Emptied() }) && s.connected()
}

// connected says whether the streams to all pods exist.
func (s *podSet) connected() bool {
	return len(s.all()) > 0 && !slices.ContainsFunc(s.all(), func(p *remotePod) bool { return !p.Connected() })
}

// keep keeps the pods of an arm for its next launch. It says whether it does.
func (s *shared) keep(set *podSet) bool {
	if !set.of.Keep || set.of.Neighbour != nil || !set.emptied() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, set)
	return true
}

// take returns the kept pods of an arm, or nil. Pods that are not fit for it are removed: the arm gets new
// ones of the same names.
func (s *shared) take(spec environment.Spec, asked Pod) (*podSet, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.kept, func(k *podSet) bool { return k.of.Arm == spec.Arm })
	if i < 0 {
		s.mu.Unlock()
		return nil, nil
	}
	set := s.kept[i]
	s.kept = slices.Delete(s.kept, i, i+1)
	s.mu.Unlock()
	if set.asked == asked && set.of.Data == spec.Data && (set.of.Port != 0) == (spec.Port != 0) && set.connected() {
		return set, nil
	}
	return nil, set.release()
}

// Release removes the pods that are kept for a run.
func (p Pod) Release(run string) error {
	if p.On == nil { // no arm was opened
		return nil
	}
	s := p.On.sharedBy(run)
	s.mu.Lock()
	kept := s.kept
	s.kept = nil
	s.mu.Unlock()
	errs := make([]error, len(kept))
	var wg sync.WaitGroup
	for i, set := range kept {
		wg.Go(func() { errs[i] = set.release() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

var (
	_ environment.Keeper  = Pod{}
	_ environment.KeptArm = (*remoteArm)(nil)
)

// refill gives the kept pods of an arm the data of a new launch.
func (a *remoteArm) refill(ctx context.Context) error {
	errs := make([]error, len(a.all()))
	var wg sync.WaitGroup
	for i, p := range a.all() {
		wg.Go(func() { errs[i] = p.Refill(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
