package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// far is an opened pod on whose node tare is not. It is paused through its load.
type far struct {
	*launch.Sandbox
	kind    Pod
	cluster *kube.Cluster
	node    *corev1.Node
	asks    settled
	// persistent is what the claim was given; nil without a claim, or where this user
	// may not look at it, for the reason unseen.
	persistent *corev1.PersistentVolume
	unseen     error
	route      farRoute // to the server, where that is not the pod's address
	server     *farPod
	client     *farPod // of a server; nil: there is none
	// clientOn is the client's node.
	clientOn *corev1.Node

	mu sync.Mutex
}

const needsNode = "--node-helper, or run tare on the node"

// suitsFar says what a pod cannot have where tare is not on its node, of what is
// known before anything is opened.
func (p Pod) suitsFar() error {
	l := p.Levels
	missing := func(what string) error {
		return hint.New(fmt.Errorf("%w: %s needs tare on the node", facts.ErrUnsupported, what), needsNode)
	}
	switch {
	case l.network == hostNetwork:
		return missing("network=" + l.network)
	case l.volume.kind == hostPathVolume:
		return missing("volume=" + l.volume.kind)
	case p.farImage() == "":
		return hint.New(fmt.Errorf("%w: a pod whose node tare is not on needs an image with sh and what the load needs", facts.ErrUnsupported),
			"name one: --pod-image NAME, or image=NAME of the arm; docs/engines.md has a Dockerfile")
	}
	return nil
}

// led is the pod as it is where tare is not on its node: without the node's programs.
func (p Pod) led() Pod {
	p.Levels.image = cmp.Or(p.farImage(), noImageWord)
	return p
}

// farImage is the image of the pod.
func (p Pod) farImage() string {
	if i := p.Levels.image; i != "" && i != noImageWord {
		return i
	}
	return p.On.Image
}

// openFar makes the arm and its pods.
func (p Pod) openFar(ctx context.Context, spec environment.Spec, c *kube.Cluster, node *corev1.Node) (_ environment.OpenArm, err error) {
	switch {
	case spec.Volume != "", spec.Bind:
		err = hint.New(fmt.Errorf("%w: a volume of the node needs tare on the node", facts.ErrUnsupported), needsNode)
	case p.Levels.clientNode != "" && spec.Port == 0:
		err = errNoServer
	default:
		err = errors.Join(p.suitsFar(), p.Levels.suitsServer(spec.Port))
	}
	if err != nil {
		return nil, err
	}
	sandbox, err := launch.NewSandbox(spec, launch.Groups{})
	if err != nil {
		return nil, err
	}
	sandbox.Undo(c.Close)
	a := &far{Sandbox: sandbox, kind: p.led(), cluster: c, node: node}
	if err := a.prepare(ctx); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	return a, nil
}

func (a *far) prepare(ctx context.Context) error {
	var err error
	if a.clientOn, err = a.kind.clientNode(ctx, a.cluster, a.node); err != nil {
		return err
	}
	if a.asks, err = a.settle(ctx); err != nil {
		return err
	}
	if err := (member{Sandbox: a.Sandbox, on: a.kind.On, cluster: a.cluster, shared: a.cluster.Namespace, needs: a.needs()}).join(ctx); err != nil {
		return err
	}
	spec := kube.PodSpec{
		Run: a.Spec.Run, Arm: a.Spec.Arm, Node: a.node.Name, Other: a.kind.farImage(), Port: a.Spec.Port, Namespace: a.cluster.Namespace,
		Requests: a.asks.requests, Limits: a.asks.limits,
	}
	a.kind.Levels.connect(&spec)
	if err := a.provide(ctx, &spec); err != nil {
		return err
	}
	if a.Spec.Neighbour != nil {
		spec.Component = "neighbour"
	}
	if a.asks.why != "" {
		spec.Notes = map[string]string{"tare/cpu": a.asks.why}
	}
	if a.server, err = startFar(ctx, a.Sandbox, a.cluster, spec, a.Spec.Data); err != nil {
		if a.asks.short != "" {
			err = fmt.Errorf("%w\n  %s", err, a.asks.short)
		}
		return err
	}
	if got := string(a.server.pod.Status.QOSClass); got != a.kind.QoS.String() {
		return fmt.Errorf("the cluster made the pod %s, wanted %s", got, a.kind.QoS)
	}
	a.server.bounds = a.bounds()
	if err := a.attach(ctx); err != nil || a.Spec.Port == 0 {
		return err
	}
	spec.Volume, spec.Service = kube.Volume{}, false
	spec.Arm, spec.Component, spec.Notes = clientArm(a.Spec.Arm), "client", nil
	spec.Requests, spec.Limits, spec.Node = clientAsks, kube.Amounts{}, a.clientOn.Name
	carried, err := a.carried()
	if err != nil {
		return err
	}
	if a.client, err = startFar(ctx, a.Sandbox, a.cluster, spec, carried); err != nil {
		return fmt.Errorf("the client's pod: %w", err)
	}
	return a.makeRoute(ctx)
}

// settle finds what the pod asks for. Who may not look at the node and its pods names
// amounts.
func (a *far) settle(ctx context.Context) (settled, error) {
	l := a.kind.complete()
	if len(a.node.Status.Allocatable) == 0 {
		if l.cpu.max || l.memory.max {
			return settled{}, hint.New(errors.New("what fits on the node is not known: the cluster lets this user not look at nodes"), "name amounts: guaranteed:cpu=1,memory=2Gi")
		}
		asks := settled{requests: kube.Amounts{CPU: l.cpu.n, Memory: l.memory.n}, limits: kube.Amounts{CPU: l.cpuLimit.n, Memory: l.memoryLimit.n}}
		if a.kind.QoS == Guaranteed {
			asks.limits = asks.requests
		}
		return asks, nil
	}
	pods, err := a.cluster.PodsOn(ctx, a.node.Name)
	if err != nil {
		return settled{}, err
	}
	ours := func(p *corev1.Pod) bool { return p.Labels[kube.LabelRun] == a.Spec.Run }
	asks := a.kind.settle(kube.RoomOn(a.node, pods, ours), farBeside(a.Spec))
	if l.cpu.max && asks.requests.CPU == 0 {
		return asks, noCPU(asks)
	}
	return asks, nil
}

// farBeside are the environments that are open at the same time: those with a server
// have the client's pod too, unless that is on another node.
func farBeside(s environment.Spec) []environment.Environment {
	var all []environment.Environment
	for _, e := range s.Beside {
		if p, ok := e.(Pod); ok && s.Port != 0 && p.Levels.clientNode == "" {
			p.Levels.client = true
			e = p
		}
		all = append(all, e)
	}
	return all
}

// carried is a directory with what the client needs of the data set.
func (a *far) carried() (string, error) {
	dir := filepath.Join(a.Dir, "carried")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range a.Spec.Carried {
		b, err := os.ReadFile(filepath.Join(a.Spec.Data, name))
		if a.Spec.Data == "" || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			return "", fmt.Errorf("give the client a part of the data set: %w", err)
		}
	}
	return dir, nil
}

// led is the pod of the load that counts.
func (a *far) led() *farPod {
	if a.client != nil {
		return a.client
	}
	return a.server
}

// Place says where things are.
func (a *far) Place() wire.Place {
	p := wire.Place{Volume: a.server.dir(), Remote: a.server.link}
	if a.Spec.Neighbour != nil {
		p.Pause = a.server.link.Freezer()
	}
	if a.client != nil {
		p.Remote = served{a.client.link, a.server.link}
		p.ClientVolume = a.client.dir()
		p.Listen = a.listen()
		p.Dial = p.Listen
		if a.route.dial.IsValid() {
			p.Dial = a.route.dial.String()
		}
	}
	return p
}

// listen is the address of the server in its pod.
func (a *far) listen() string {
	return net.JoinHostPort(a.server.pod.Status.PodIP, strconv.Itoa(a.Spec.Port))
}

// Start starts a process in the pod, or in the client's.
func (a *far) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if err := errors.Join(a.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case p.Outside && a.client == nil:
		return nil, fmt.Errorf("%w: what runs outside of the pod needs tare on the node", facts.ErrUnsupported)
	case p.Outside:
		return a.client.start(ctx, p)
	}
	return a.server.start(ctx, p)
}

// where says where the client of the arm's server runs; empty without a server.
func (a *far) where() string {
	if a.client == nil {
		return ""
	}
	return "in pod " + a.client.pod.Name + " on node " + a.clientOn.Name
}

// Settings read back what the cluster and the pod say.
func (a *far) Settings() ([]record.Setting, error) {
	clock := a.led().link.Clock()
	all := append(podSettings(a.node, a.server.pod, a.asks, a.where(), a.needs()),
		record.Setting{Name: "kube.kernel", Got: a.node.Status.NodeInfo.KernelVersion},
		record.Setting{Name: "kube.tare", Got: a.paused()},
		record.Setting{Name: "stream.trip", Got: clock.Trip.String()},
		record.Setting{Name: "stream.clock", Got: fmt.Sprintf("the pod's clock is off by at most %v", clock.Trip/2)},
	)
	all = append(all, volumeSettings(a.server.spec.Volume, a.persistent)...)
	if a.unseen != nil {
		all = append(all, record.Setting{Name: "pod.volume.persistent", Got: "not known: " + a.unseen.Error()})
	}
	led, err := a.route.settings(a.kind.Levels.network)
	all = append(all, led...)
	if err != nil {
		return all, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	seen, err := a.server.link.Look(ctx)
	if err != nil {
		return all, err
	}
	return append(append(append(all, seen.Groups...), seen.Process...), seen.Volume...), nil
}

// Reproduction is the manifest of the namespace and the pods as they were.
func (a *far) Reproduction() (string, []byte) {
	comment := fmt.Sprintf(`The pod of the arm %s of run %s, as tare made it: %s.
To make it by hand: kubectl apply -f. Its command waits for tare's binary; put another
one there. What made the arm are the requests and limits, which give the QoS class
%s, the security context and the volumes.
`, a.Spec.Arm, a.Spec.Run, a.kind.Title(), a.kind.QoS)
	if a.asks.why != "" {
		comment += "The most CPU that fits: " + a.asks.why + ".\n"
	}
	var objects []any
	if a.cluster.Namespace == "" {
		objects = append(objects, kube.Namespace(a.Spec.Run, a.needs()))
	}
	if a.server.spec.Volume.Class != "" {
		objects = append(objects, a.server.spec.Claim())
	}
	objects = append(objects, a.server.spec.Pod())
	if a.server.spec.Service {
		objects = append(objects, a.server.spec.ServiceOf())
	}
	if a.client != nil {
		comment += "The client of its server ran in the other pod, " + a.client.pod.Name + ".\n"
		objects = append(objects, a.client.spec.Pod())
	}
	text, err := kube.Manifest(comment, objects...)
	if err != nil { // never: the objects are tare's own
		text = []byte("# " + err.Error() + "\n")
	}
	return a.Spec.Arm + ".yaml", text
}

// farChanges lists what openFar changes.
func (p Pod) farChanges(s environment.Spec, node string) []facts.Change {
	space := p.On.Namespace
	pod := func(arm string) string {
		return "pod " + kube.PodNameIn(space, s.Run, arm) + " of " + cmp.Or(space, kube.NamespaceOf(s.Run))
	}
	out := launch.Changes(s, launch.Groups{})
	if space == "" {
		out = append(out, namespaceChange(s))
	}
	out = append(out, facts.Change{What: pod(s.Arm), Detail: p.plan(farBeside(s)) +
		"; on node " + node + ", into which tare's binary is copied; paused through its load, for tare is not on the node"})
	if s.Port != 0 {
		where := "on the same node"
		if p.Levels.clientNode != "" {
			where = "on node " + p.Levels.clientNode
		}
		out = append(out, facts.Change{What: pod(clientArm(s.Arm)),
			Detail: "the client of its server, " + where + "; the server runs on, idle, while the load is paused"})
	}
	return append(out, p.led().besides(s, space)...)
}
