// Package kube is the environment of a pod on the Kubernetes node that this host
// is: one pod per arm, in the quality of service class that gives the arm its
// name, put there by the cluster's own scheduler and kubelet. The pod's first
// process is this binary, which is handed the loads; what a pod consists of and
// how the cluster is asked is internal/kube's.
package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/launch"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/kube"
)

// Access is the cluster that is meant. The command line sets it before anything
// is planned.
var Access kube.Access

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
}

var _ environment.Leveled = Pod{}

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

// With is the same class with levels of its own: "cpu=1500m,memory=2Gi".
func (p Pod) With(levels string) (environment.Environment, error) {
	l, err := parse(p.QoS, levels)
	if err != nil {
		return nil, err
	}
	return Pod{p.QoS, l}, nil
}

// asked remembers answers for a moment: every arm of a plan asks the same.
var asked struct {
	sync.Mutex
	of     kube.Access
	at     time.Time
	answer environment.Support
	away   bool // tare is, from the node
}

const (
	askBound   = 10 * time.Second
	askedBound = 10 * time.Second
)

// Support says whether tare can reach pods of this kind, and asks the cluster: those
// on the node that this host is, or those of another one, over a stream.
func (p Pod) Support(h environment.Host) environment.Support {
	asked.Lock()
	defer asked.Unlock()
	if asked.of != Access || time.Since(asked.at) > askedBound {
		asked.answer, asked.away = reachable(h)
		asked.of, asked.at = Access, time.Now()
	}
	if asked.answer.Answer != environment.Yes {
		return asked.answer
	}
	if err := p.suits(asked.away); err != nil {
		return environment.Unsupported(err.Error(), hint.Of(err))
	}
	if s := p.Levels.confined.Confinable(h); s.Answer != environment.Yes {
		return s
	}
	if more := p.Rights(); len(more) > 0 {
		answer, _ := reachable(h, more)
		return answer
	}
	return asked.answer
}

// here says whether this user can have pods on the node that this host is.
func here(h environment.Host) environment.Support {
	switch {
	case !h.Root:
		return environment.Unsupported("a pod's processes and files on its node are root's", "run as root, or lead the pods from outside: --nodes NAME")
	case h.Groups == nil:
		return environment.Unsupported(h.GroupsWhy, h.GroupsRemedy)
	}
	return environment.Supported()
}

// reachable says whether tare reaches the cluster and may do what every run needs
// there, and more, and whether it is away from the node of the pods.
func reachable(h environment.Host, more ...kube.Rights) (s environment.Support, away bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := Access.Connect()
	if err == nil { // that there is no cluster comes first
		defer c.Close()
		if _, away, err = c.Where(ctx); away {
			more = append(more, kube.FarRights)
		} else if can := here(h); can.Answer != environment.Yes {
			return can, false
		} else if err == nil {
			err = kube.NewContainerd().Can()
		}
		may := func() error { return c.May(ctx, more...) }
		if away && c.Namespace != "" {
			may = func() error { return c.MayShared(ctx, c.Namespace, more...) }
		}
		if mayErr := may(); mayErr != nil {
			err = mayErr // all rights that are missing, not the first
		}
	}
	if err == nil {
		return environment.Supported(), away
	}
	s = environment.Unsupported(err.Error(), hint.Of(err))
	if s.Remedy == "" {
		s.Remedy = "kubectl get nodes asks the same"
	}
	return s, away
}

// Changes lists what Open changes, on the host and in the cluster.
func (p Pod) Changes(s environment.Spec) []environment.Change {
	node, away := p.where()
	if away {
		return p.farChanges(s, node)
	}
	groups, err := launch.PlainGroups(s.Groups)
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		namespaceChange(s),
		environment.Change{What: "image " + kube.ImageOf(s.Run), Detail: "tare's own binary, in the node's containerd"},
		environment.Change{What: "pod " + kube.PodName(s.Arm) + " of " + kube.NamespaceOf(s.Run), Detail: p.plan(s.Beside)},
	)
	return append(out, p.besides(s, "")...)
}

// besides are the changes in the cluster beside the pod; space is a namespace that
// others use too, or empty.
func (p Pod) besides(s environment.Spec, space string) (out []environment.Change) {
	shape := p.shape(s)
	shape.Run, shape.Arm, shape.Namespace = s.Run, s.Arm, space
	add := func(what, detail string) { out = append(out, environment.Change{What: what, Detail: detail}) }
	if shape.Service {
		add("Service "+shape.ServiceOf().Name+" of "+shape.Space(), "leads to the pod's server by rules of the cluster's proxy")
	} else if shape.HostPort {
		add("hostPort of pod "+shape.Name(), "a port of "+kube.HostPortIP+" that leads to the pod's server by rules of the node's CNI plugin")
	}
	if class := shape.Volume.Class; class != "" {
		add("PersistentVolumeClaim "+shape.Name()+" of "+shape.Space(), "of the StorageClass "+class+"; the cluster provides a volume")
	}
	for _, need := range p.needs(s) {
		add("PodSecurity of "+shape.Space()+": privileged", need)
	}
	return out
}

func namespaceChange(s environment.Spec) environment.Change {
	return environment.Change{What: "namespace " + kube.NamespaceOf(s.Run), Detail: "in the cluster, with all that follows; removed with the last arm"}
}

// where is the name of the pods' node, and whether tare is away from it, as far as the
// cluster says.
func (p Pod) where() (node string, away bool) {
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := Access.Connect()
	if err != nil {
		return "", false
	}
	defer c.Close()
	n, away, err := c.Where(ctx)
	if err != nil {
		return "", false
	}
	return n.Name, away
}

// Away is the node of the pods, where that is not this host; else empty.
func Away() string {
	if Access.Away != "" {
		return Access.Away
	}
	node, away := Pod{}.where()
	if !away {
		return ""
	}
	return node
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
	c, err := Access.Connect()
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
func (p Pod) Open(ctx context.Context, spec environment.Spec) (environment.Arm, error) {
	a, err := p.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name(), err)
	}
	return a, nil
}

func (p Pod) open(ctx context.Context, spec environment.Spec) (environment.Arm, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cluster, err := Access.Connect()
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
func (p Pod) openIn(ctx context.Context, spec environment.Spec, cluster *kube.Cluster) (environment.Arm, error) {
	node, away, err := cluster.AwaitWhere(ctx)
	switch {
	case err != nil:
		return nil, err
	case away:
		return p.openFar(ctx, spec, cluster, node)
	case p.Levels.clientNode != "":
		return nil, p.suitsNear(node.Name)
	case os.Geteuid() != 0:
		return nil, fmt.Errorf("%w: a pod's processes and files on its node are root's", environment.ErrUnsupported)
	}
	if err := p.Levels.suitsServer(spec.Port); err != nil {
		return nil, err
	}
	groups, err := launch.PlainGroups(spec.Groups)
	if err == nil && groups.Tree == nil {
		err = fmt.Errorf("%w: no control groups here", environment.ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	ground, err := launch.NewGround(spec, groups)
	if err != nil {
		return nil, err
	}
	ground.Undo(cluster.Close)
	a := &arm{Ground: ground, kind: p, cluster: cluster, node: node}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, ground.Close())
	}
	return a, nil
}
