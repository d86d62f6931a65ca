package kube

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/undo/journal"
)

const (
	// clusterBound is how long a cluster may take to remove a namespace.
	clusterBound = 2 * time.Minute
	// awayBound is how long the API server may be away, and volumeBound how long a
	// volume may take to be removed. They are short: the user waits for tare cleanup, and
	// can run it again.
	awayBound   = 10 * time.Second
	volumeBound = 30 * time.Second
)

// NamespaceStep removes the namespace of a run, tare-RUN, with its content.
type NamespaceStep struct {
	Context    string `json:"value,omitempty"` // of the kubeconfig
	Kubeconfig string `json:"root,omitempty"`
	Name       string `json:"id,omitempty"`
}

// NamespaceStep is the step for the namespace of a run.
func (c *Cluster) NamespaceStep(run string) NamespaceStep {
	return NamespaceStep{Context: c.Context, Kubeconfig: c.Kubeconfig, Name: NamespaceOf(run)}
}

// Kind is the word for it in a journal.
func (NamespaceStep) Kind() string { return "namespace" }

// String names the namespace.
func (s NamespaceStep) String() string { return s.Kind() + " " + s.Name }

// Lasts is true: the namespace is in the cluster.
func (NamespaceStep) Lasts() bool { return true }

// Check refuses other namespaces.
func (s NamespaceStep) Check(run string) error {
	return journal.Own(s.Name == NamespaceOf(run) && s.Kubeconfig != "", s.Name)
}

// Undo removes the namespace and waits until it is gone. If it is a node helper's, tare on
// the node restores the node first.
func (s NamespaceStep) Undo(u *journal.Undoing) error {
	return undoOnce(u, s, Access{Kubeconfig: s.Kubeconfig, Context: s.Context}, func(c *Cluster) error {
		helper, err := c.AwaitRestored(context.Background(), u.Run)
		if err != nil {
			return err
		}
		last := func(ctx context.Context) error { return c.DeleteNamespace(ctx, s.Name, u.Run) }
		first := last
		if helper {
			first = func(ctx context.Context) error { return c.RemoveHelper(ctx, u.Run) }
		}
		return c.removeAll(u, s.Name, first, last, "kubectl delete namespace "+s.Name)
	})
}

// PodsStep removes the pods of a run, with their Services and claims, from a namespace that
// others use too.
type PodsStep struct {
	Context    string `json:"value,omitempty"` // of the kubeconfig
	Kubeconfig string `json:"root,omitempty"`
	Pods       string `json:"id,omitempty"` // NAMESPACE/tare-RUN
}

// PodsStep is the step for the pods of a run in a namespace.
func (c *Cluster) PodsStep(namespace, run string) PodsStep {
	return PodsStep{Context: c.Context, Kubeconfig: c.Kubeconfig, Pods: namespace + "/" + journal.Prefix + run}
}

// Kind is the word for it in a journal.
func (PodsStep) Kind() string { return "pods" }

// String names the namespace and the run.
func (s PodsStep) String() string { return s.Kind() + " " + s.Pods }

// Lasts is true: they are in the cluster.
func (PodsStep) Lasts() bool { return true }

// Check refuses pods of other runs.
func (s PodsStep) Check(run string) error {
	namespace, pods, _ := strings.Cut(s.Pods, "/")
	return journal.Own(namespace != "" && pods == journal.Prefix+run && s.Kubeconfig != "", s.Pods)
}

// Undo removes the pods and waits until they are gone.
func (s PodsStep) Undo(u *journal.Undoing) error {
	namespace, _, _ := strings.Cut(s.Pods, "/")
	return undoOnce(u, s, Access{Kubeconfig: s.Kubeconfig, Context: s.Context}, func(c *Cluster) error {
		remove := func(ctx context.Context) error { return c.DeleteRun(ctx, namespace, u.Run) }
		return c.removeAll(u, namespace, remove, remove,
			"kubectl delete pods,services,persistentvolumeclaims -n "+namespace+" -l "+LabelRun+"="+u.Run)
	})
}

// undoing is shared by the steps of one undoing.
type undoing struct {
	outages Outages
	failed  map[attempt]error
}

// attempt is one try of a step. Every arm of a run has the same step in the journal, and a
// failure may take minutes: the step is tried once a round.
type attempt struct {
	round int
	step  journal.Step
}

// undoOnce connects to a cluster and calls remove, unless an equal step has failed in this
// round.
func undoOnce(u *journal.Undoing, s journal.Step, a Access, remove func(*Cluster) error) error {
	all := journal.Shared[undoing](u)
	try := attempt{u.Round, s}
	if err := all.failed[try]; err != nil {
		return err
	}
	a.VolumeBound, a.Outages = volumeBound, &all.outages
	c, err := a.Connect()
	if err == nil {
		c.Patience = awayBound
		err = remove(c)
		c.Close()
	}
	if errors.As(err, new(*staysError)) {
		err = journal.Stays(err)
	}
	if err != nil {
		if all.failed == nil {
			all.failed = map[attempt]error{}
		}
		all.failed[try] = err
	}
	return err
}

// removeAll calls first, and last at Undoing.Late, when the cluster has made everything that
// the killed run asked for. Then it waits until the volumes are gone. byHand is the command
// for a user.
func (c *Cluster) removeAll(u *journal.Undoing, namespace string, first, last func(context.Context) error, byHand string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterBound)
	defer cancel()
	err := first(ctx)
	if err == nil {
		time.Sleep(time.Until(u.Late))
		err = last(ctx)
	}
	if err == nil {
		return c.AwaitNoVolumes(namespace, u.Run)
	}
	return hint.New(err, strings.TrimPrefix(hint.Of(err)+"; ", "; ")+"by hand: "+byHand)
}

// ImageStep removes the image of a run from a containerd. The image's tag is the run.
type ImageStep struct {
	Address string `json:"root,omitempty"` // of containerd's socket
	Name    string `json:"id,omitempty"`
}

// ImageStep is the step for the image of a run.
func (c Containerd) ImageStep(run string) ImageStep {
	return ImageStep{Address: c.Address, Name: ImageOf(run)}
}

// Kind is the word for it in a journal.
func (ImageStep) Kind() string { return "image" }

// String names the image.
func (s ImageStep) String() string { return s.Kind() + " " + s.Name }

// Lasts is true: containerd keeps its images.
func (ImageStep) Lasts() bool { return true }

// Check refuses other images.
func (s ImageStep) Check(run string) error {
	return journal.Own(s.Name == ImageOf(run) && s.Address != "", s.Name)
}

// Undo removes the image.
func (s ImageStep) Undo(*journal.Undoing) error { return containerdAt(s.Address).Remove(s.Name) }
