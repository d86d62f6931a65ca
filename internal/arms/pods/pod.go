// Package pods is the environment of a pod on the Kubernetes node that this host
// is: one pod per arm, in the quality of service class that gives the arm its
// name, put there by the cluster's own scheduler and kubelet. The pod's first
// process is this binary, which is handed the loads; what a pod consists of and
// how the cluster is asked is internal/outside/kube's.
package pods

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

// QoS is a pod's quality of service class, which follows from what it asks for.
type QoS int

// The classes.
const (
	BestEffort QoS = iota // asks for nothing
	Burstable             // asks for less than its limits, if it has any
	Guaranteed            // its limits are what it asks for
)

func (q QoS) String() string { return [...]string{"BestEffort", "Burstable", "Guaranteed"}[q] }

// Pod is a pod of a class.
type Pod struct {
	QoS    QoS
	Levels Levels
	On     *Target // nil: it can be described, and neither had nor opened
}

var _ environment.Environment = Pod{}

// Name is the word for it.
func (p Pod) Name() string { return [...]string{"besteffort", "burstable", "guaranteed"}[p.QoS] }

// Title is one line for people.
func (p Pod) Title() string {
	title := "a Kubernetes pod, QoS class " + p.QoS.String()
	if p.Levels.text != "" {
		title += ": " + p.Levels.text
	}
	return title
}

// Capabilities of a pod: it has levels. A CPU limit is a quota to the kernel.
func (p Pod) Capabilities() environment.Capabilities {
	limited := p.QoS == Guaranteed || p.Levels.cpuLimit != amount{}
	return environment.Capabilities{With: p.with, Quota: limited, Pod: true}
}

// with is the same class with levels of its own: "cpu=1500m,memory=2Gi".
func (p Pod) with(levels string) (environment.Environment, error) {
	l, err := parse(p.QoS, levels)
	if err != nil {
		return nil, err
	}
	return Pod{p.QoS, l, p.On}, nil
}

// word is what is said of it in an experiment.
func (p Pod) word() string {
	if p.Levels.text == "" {
		return p.Name()
	}
	return p.Name() + ":" + p.Levels.text
}

// Support says whether tare can have such a pod, as the cluster said when it was asked.
func (p Pod) Support(facts.Host) facts.Support { return p.On.answer(p) }

// Changes lists what Open changes, on the host and in the cluster.
func (p Pod) Changes(s environment.Spec) []facts.Change {
	node, away := p.On.where()
	if away {
		return p.farChanges(s, node)
	}
	groups, err := launch.PlainGroups(s.Groups)
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		namespaceChange(s),
		facts.Change{What: "image " + kube.ImageOf(s.Run), Detail: "tare's own binary, in the node's containerd"},
		facts.Change{What: "pod " + kube.PodName(s.Arm) + " of " + kube.NamespaceOf(s.Run), Detail: p.plan(s.Beside)},
	)
	return append(out, p.besides(s, "")...)
}

// besides are the changes in the cluster beside the pod; space is a namespace that
// others use too, or empty.
func (p Pod) besides(s environment.Spec, space string) (out []facts.Change) {
	shape := p.shape(s)
	shape.Run, shape.Arm, shape.Namespace = s.Run, s.Arm, space
	add := func(what, detail string) { out = append(out, facts.Change{What: what, Detail: detail}) }
	if shape.Service {
		add("Service "+shape.ServiceOf().Name+" of "+shape.Space(), "leads to the pod's server by rules of the cluster's proxy")
	}
	if class := shape.Volume.Class; class != "" {
		add("PersistentVolumeClaim "+shape.Name()+" of "+shape.Space(), "of the StorageClass "+class+"; the cluster provides a volume")
	}
	for _, need := range p.needs(s) {
		add("PodSecurity of "+shape.Space()+": privileged", need)
	}
	return out
}

func namespaceChange(s environment.Spec) facts.Change {
	return facts.Change{What: "namespace " + kube.NamespaceOf(s.Run), Detail: "in the cluster, with all that follows; removed with the last arm"}
}

// plan says what the pod asks for, as far as that is known before.
func (p Pod) plan(beside []environment.Environment) string {
	l := p.complete()
	text := p.QoS.String() + l.asks()
	if !l.cpu.max {
		return text
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := p.On.Connect()
	if err != nil {
		return text
	}
	defer c.Close()
	node, _, err := c.Where(ctx)
	if err != nil || len(node.Status.Allocatable) == 0 {
		return text
	}
	pods, err := c.PodsOn(ctx, node.Name)
	if err != nil {
		return text
	}
	return text + "; " + p.settle(kube.RoomOn(node, pods, nil), beside).why
}

// Open makes the arm and its pod.
func (p Pod) Open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	a, err := p.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name(), err)
	}
	return a, nil
}

func (p Pod) open(ctx context.Context, spec environment.Spec) (environment.OpenArm, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cluster, err := p.On.Connect()
	if err != nil {
		return nil, err
	}
	arm, err := p.openIn(ctx, spec, cluster)
	if err != nil {
		return nil, errors.Join(err, cluster.Close())
	}
	return arm, nil
}

// openIn closes the cluster with the arm; on an error that is left to the caller.
func (p Pod) openIn(ctx context.Context, spec environment.Spec, cluster *kube.Cluster) (environment.OpenArm, error) {
	node, away, err := cluster.AwaitWhere(ctx)
	switch {
	case err != nil:
		return nil, err
	case away:
		return p.openFar(ctx, spec, cluster, node)
	case p.Levels.clientNode != "":
		return nil, p.suitsNear(node.Name)
	case os.Geteuid() != 0:
		return nil, fmt.Errorf("%w: a pod's processes and files on its node are root's", facts.ErrUnsupported)
	}
	if err := p.Levels.suitsServer(spec.Port); err != nil {
		return nil, err
	}
	groups, err := launch.PlainGroups(spec.Groups)
	if err == nil && groups.Tree == nil {
		err = fmt.Errorf("%w: no control groups here", facts.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, groups)
	if err != nil {
		return nil, err
	}
	sandbox.Undo(cluster.Close)
	a := &arm{Sandbox: sandbox, kind: p, cluster: cluster, node: node}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}
