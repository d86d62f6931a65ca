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
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// remoteArm is an opened pod on a node where tare does not run. tare cannot freeze its processes: the
// load pauses itself at its gate.
type remoteArm struct {
	*launch.Sandbox
	*podSet
	closing func() error
	making  time.Duration // of the pods; 0: they were kept
}

// needsNode is the remedy if tare must run on the pod's node.
const needsNode = "--node-helper, or run tare on the node"

// checkRemote returns an error if the pod has a level that is possible only on the node where tare
// runs, or if it has no image.
func (p Pod) checkRemote() error {
	l := p.Levels
	missing := func(what string) error {
		return hint.New(fmt.Errorf("%w: %s needs tare on the node", facts.ErrUnsupported, what), needsNode)
	}
	switch {
	case l.network == hostNetwork:
		return missing("network=" + l.network)
	case l.clientOutside:
		return missing("client=outside, which is in no pod,")
	case l.volume.kind == hostPathVolume:
		return missing("volume=" + l.volume.kind)
	case p.remoteImage() == "":
		return hint.New(fmt.Errorf("%w: on a node without tare, a pod needs an image with sh and the programs of the load", facts.ErrUnsupported),
			"name one: --pod-image NAME, or image=NAME of the arm; docs/container.md has a Dockerfile")
	}
	return nil
}

// asRemote is the pod as it is made on a node where tare does not run: the programs come from an
// image and not from the node.
func (p Pod) asRemote() Pod {
	p.Levels.image = cmp.Or(p.remoteImage(), noImageWord)
	return p
}

// remoteImage is the image that was named for a pod on a node where tare does not run; empty: none.
func (p Pod) remoteImage() string {
	if i := p.Levels.image; i != "" && i != noImageWord {
		return i
	}
	return p.On.Image
}

// openRemote makes the arm and its pods. Closing the arm closes c.
func (p Pod) openRemote(ctx context.Context, spec environment.Spec, c *kube.Cluster, node *corev1.Node) (_ environment.OpenArm, err error) {
	switch {
	case spec.Volume != "", spec.Bind:
		err = hint.New(fmt.Errorf("%w: a volume of the node needs tare on the node", facts.ErrUnsupported), needsNode)
	case p.Levels.clientNode != "" && spec.Port == 0:
		err = errNoServer
	default:
		err = errors.Join(p.checkRemote(), p.Levels.checkServer(spec.Port))
	}
	if err != nil {
		return nil, err
	}
	spec.Port = p.On.sharedBy(spec.Run).portOf(spec.Arm, spec.Port)
	sandbox, err := launch.NewSandbox(spec, launch.Groups{})
	if err != nil {
		return nil, err
	}
	a := &remoteArm{Sandbox: sandbox}
	a.closing = sync.OnceValue(a.end)
	if a.podSet, err = p.On.sharedBy(spec.Run).take(spec, p); err != nil {
		return nil, errors.Join(err, sandbox.Close())
	}
	if a.podSet != nil {
		sandbox.Undo(c.Close) // the pods have a connection of their own
		err = a.refill(ctx)
	} else {
		a.podSet = &podSet{kind: p.asRemote(), cluster: c, node: node, of: spec, asked: p}
		a.podSet.Undo(c.Close)
		began := time.Now()
		err = a.prepare(ctx)
		a.making = time.Since(began)
	}
	if err != nil {
		a.of.Keep = false
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Making is the time that the next launch saves.
func (a *remoteArm) Making() time.Duration {
	if !a.of.Keep {
		return 0
	}
	return a.making
}

// Close ends all processes. It removes the pods unless they are kept for the next launch.
func (a *remoteArm) Close() error { return a.closing() }

func (a *remoteArm) end() error {
	kept := a.kind.On.sharedBy(a.of.Run).keep(a.podSet)
	err := a.Sandbox.Close()
	if !kept {
		err = errors.Join(err, a.release())
	}
	return err
}

// prepare makes the server's pod, the client's pod and the route between them, and sends the data.
func (a *remoteArm) prepare(ctx context.Context) error {
	var err error
	if a.clientNode, err = a.kind.clientNode(ctx, a.cluster, a.node); err != nil {
		return err
	}
	if a.amounts, err = a.resolve(ctx); err != nil {
		return err
	}
	if err := (member{undoer: a.podSet, run: a.Spec.Run, on: a.kind.On, cluster: a.cluster, namespace: a.cluster.Namespace, needs: a.needs()}).join(ctx); err != nil {
		return err
	}
	spec := kube.PodSpec{
		Run: a.Spec.Run, Arm: a.Spec.Arm, Node: a.node.Name, Other: a.kind.remoteImage(), Port: a.Spec.Port, Namespace: a.cluster.Namespace,
		Requests: a.amounts.requests, Limits: a.amounts.limits,
	}
	a.kind.Levels.setNetwork(&spec)
	if err := a.makeVolume(ctx, &spec); err != nil {
		return err
	}
	if a.Spec.Neighbour != nil {
		spec.Component = "neighbour"
	}
	if a.amounts.why != "" {
		spec.Notes = map[string]string{"tare/cpu": a.amounts.why}
	}
	if a.server, err = a.start(ctx, spec, a.Spec.Data); err != nil {
		if a.amounts.short != "" {
			err = fmt.Errorf("%w\n  %s", err, a.amounts.short)
		}
		return err
	}
	if err := a.cluster.Unchanged(spec.Pod(), a.server.pod); err != nil {
		return fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
	}
	if got := string(a.server.pod.Status.QOSClass); got != a.kind.QoS.String() {
		return fmt.Errorf("the cluster made the pod %s, wanted %s", got, a.kind.QoS)
	}
	a.server.Bounds = a.bounds()
	if err := a.findVolume(ctx); err != nil || a.Spec.Port == 0 {
		return err
	}
	spec.Volume, spec.Service = kube.Volume{}, false
	spec.Arm, spec.Component, spec.Notes = clientArm(a.Spec.Arm), "client", nil
	spec.Requests, spec.Limits, spec.Node = clientRequests, kube.Amounts{}, a.clientNode.Name
	dir, err := a.carriedDir()
	if err != nil {
		return err
	}
	if a.client, err = a.start(ctx, spec, dir); err != nil {
		return fmt.Errorf("the client's pod: %w", err)
	}
	return a.makeRoute(ctx)
}

// resolve finds the requests and limits of the pod. If this user may not read nodes, the levels must
// name the amounts.
func (a *remoteArm) resolve(ctx context.Context) (podAmounts, error) {
	l := a.kind.withDefaults()
	if len(a.node.Status.Allocatable) == 0 {
		if l.cpu.max || l.memory.max {
			return podAmounts{}, hint.New(errors.New("the free CPUs and memory of the node are unknown: this user may not read nodes"), "name amounts: guaranteed:cpu=1,memory=2Gi")
		}
		amounts := podAmounts{requests: kube.Amounts{CPU: l.cpu.n, Memory: l.memory.n}, limits: kube.Amounts{CPU: l.cpuLimit.n, Memory: l.memoryLimit.n}}
		if a.kind.QoS == Guaranteed {
			amounts.limits = amounts.requests
		}
		return amounts, nil
	}
	pods, err := a.cluster.PodsOn(ctx, a.node.Name)
	if err != nil {
		return podAmounts{}, err
	}
	ours := func(p *corev1.Pod) bool { return p.Labels[kube.LabelRun] == a.Spec.Run }
	amounts := a.kind.resolve(kube.CapacityOf(a.node, pods, ours), remoteBeside(a.Spec))
	if l.cpu.max && amounts.requests.CPU == 0 {
		return amounts, noCPU(amounts)
	}
	return amounts, nil
}

// remoteBeside returns the environments that are open at the same time. If the arms have a server,
// each pod is marked to have a client's pod on the same node, unless client=node names another node.
func remoteBeside(s environment.Spec) []environment.Environment {
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

// carriedDir makes a directory with the files of Spec.Carried, which is sent to the client's pod.
func (a *remoteArm) carriedDir() (string, error) {
	dir := filepath.Join(a.Dir, "carried")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, carried(a.Spec, func(name string, b []byte) error { return os.WriteFile(filepath.Join(dir, name), b, 0o600) })
}

// loadPod is the pod of the load that is measured.
func (a *remoteArm) loadPod() *remotePod {
	if a.client != nil {
		return a.client
	}
	return a.server
}

// Place has the paths of the volumes in the pods, the addresses of the server, and the link to the
// pod of the load.
func (a *remoteArm) Place() wire.Place {
	p := wire.Place{Volume: a.server.Dir, Remote: a.server.Link, OwnRoot: true}
	if a.Spec.Neighbour != nil {
		p.Pause = a.server.Link.Freezer()
	}
	if a.client != nil {
		p.Remote = watchedServer{a.client.Link, a.server.Link}
		p.ClientVolume = a.client.Dir
		p.Listen = a.listen()
		p.Dial = p.Listen
		if a.route.dial.IsValid() {
			p.Dial = a.route.dial.String()
		}
	}
	return p
}

// listen is the address of the server in its pod.
func (a *remoteArm) listen() string {
	return net.JoinHostPort(a.server.pod.Status.PodIP, strconv.Itoa(a.Spec.Port))
}

// Start starts a process in the server's pod; with p.Outside in the client's pod.
func (a *remoteArm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if err := errors.Join(a.Open(), ctx.Err()); err != nil {
		return nil, err
	}
	switch {
	case p.Outside && a.client == nil:
		return nil, fmt.Errorf("%w: a process outside of the pod needs tare on the node", facts.ErrUnsupported)
	case p.Outside:
		return a.client.Start(ctx, p)
	}
	return a.server.Start(ctx, p)
}

// clientPlace says where the client of the arm's server runs; empty without a server.
func (a *remoteArm) clientPlace() string {
	if a.client == nil {
		return ""
	}
	return "in pod " + a.client.pod.Name + " on node " + a.clientNode.Name
}

// Settings reads back the pod from the cluster and from the agent in it.
func (a *remoteArm) Settings() ([]record.Setting, error) {
	clock := a.loadPod().Link.Clock()
	all := append(podSettings(a.node, a.server.pod, a.amounts, a.clientPlace(), a.needs()),
		record.Setting{Name: "kube.kernel", Got: a.node.Status.NodeInfo.KernelVersion},
		record.Setting{Name: "kube.tare", Got: a.paused()},
		record.Setting{Name: "stream.trip", Got: clock.Trip.String()},
		record.Setting{Name: "stream.clock", Got: fmt.Sprintf("the pod's clock is off by at most %v", clock.Trip/2)},
	)
	all = append(all, volumeSettings(a.server.spec.Volume, a.persistent)...)
	if a.persistentErr != nil {
		all = append(all, record.Setting{Name: "pod.volume.persistent", Got: "unknown: " + a.persistentErr.Error()})
	}
	routeSettings, err := a.route.settings(a.kind.Levels.network)
	all = append(all, routeSettings...)
	if err != nil {
		return all, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	seen, err := a.server.Link.Look(ctx)
	if err != nil {
		return all, err
	}
	return append(append(append(all, seen.Groups...), seen.Process...), seen.Volume...), nil
}

// Reproduction is a manifest of the namespace and the pods.
func (a *remoteArm) Reproduction() (string, []byte) {
	comment := fmt.Sprintf(`The pod of the arm %s of run %s, as tare made it: %s.
To make it by hand: kubectl apply -f. Its command waits for tare's binary; put another
one there. What made the arm are the requests and limits, which give the QoS class
%s, the security context and the volumes.
`, a.Spec.Arm, a.Spec.Run, said.English(a.kind.Title()), a.kind.QoS)
	if a.amounts.why != "" {
		comment += "The most CPU that fits: " + a.amounts.why + ".\n"
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
	if err != nil { // impossible: tare made the objects
		text = []byte("# " + err.Error() + "\n")
	}
	return a.Spec.Arm + ".yaml", text
}

// remoteChanges lists what openRemote changes.
func (p Pod) remoteChanges(s environment.Spec, node string) []facts.Change {
	space := p.On.Namespace
	pod := func(arm string) messages.Message {
		return messages.Say("change.pod", "name", kube.PodNameIn(space, s.Run, arm), "space", cmp.Or(space, kube.NamespaceOf(s.Run)))
	}
	out := launch.Changes(s, launch.Groups{})
	if space == "" {
		out = append(out, namespaceChange(s))
	}
	out = append(out, facts.Changed(pod(s.Arm), messages.Say("change.plain", "text", p.amountsText(remoteBeside(s))),
		messages.Say("change.pod.node", "node", node), messages.Say("change.pod.paused")))
	if s.Port != 0 {
		where := messages.Say("change.node.same")
		switch p.Levels.clientNode {
		case "":
		case anyOther:
			where = messages.Say("change.node.other")
		default:
			where = messages.Say("change.node", "node", p.Levels.clientNode)
		}
		out = append(out, facts.Changed(pod(clientArm(s.Arm)), messages.Say("change.client", "where", where), messages.Say("change.client.idle")))
	}
	return append(out, p.asRemote().clusterChanges(s, space)...)
}
