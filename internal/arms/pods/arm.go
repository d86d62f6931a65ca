package pods

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/wire"
)

// arm is an opened pod.
type arm struct {
	*launch.Sandbox
	kind    Pod
	cluster *kube.Cluster
	node    *corev1.Node
	amounts podAmounts
	spec    kube.PodSpec
	pod     *corev1.Pod // as it was when it began to run
	agent   launch.Agent
	// own is the group of tare's by which the load is frozen: beside the pod's group, or below
	// it on a host with version 2 alone.
	own        cgroup.Group
	hostVolume string                   // the pod's volume as this host sees it
	persistent *corev1.PersistentVolume // nil without a claim
	limits     []limit                  // of the container, as the kubelet set them
	route      route                    // through a Service; the zero value: the pod's address
	cpus       cpus                     // from the kubelet's CPU manager

	client *client // with client=pod; nil: the client runs on the node

	inside launch.Slot
}

// prepare makes the pod, its client's pod and the way between them, and copies the data.
func (a *arm) prepare(ctx context.Context) error {
	a.own = a.Group
	ctr := a.containerd()
	if err := (member{undoer: a.Sandbox, run: a.Spec.Run, on: a.kind.On, cluster: a.cluster, needs: a.kind.allNeeds(a.Spec), ctr: &ctr}).join(ctx); err != nil {
		return err
	}
	if err := a.makeSpec(ctx); err != nil {
		return err
	}
	if err := a.start(ctx); err != nil {
		return err
	}
	if err := a.findPod(ctx); err != nil {
		return err
	}
	if err := a.prepareClient(ctx); err != nil {
		return fmt.Errorf("the client's pod: %w", err)
	}
	if err := a.makeRoute(ctx); err != nil {
		return err
	}
	return a.fill(ctx)
}

// makeSpec resolves the levels of the pod.
func (a *arm) makeSpec(ctx context.Context) error {
	pods, err := a.cluster.PodsOn(ctx, a.node.Name)
	if err != nil {
		return err
	}
	ours := func(p *corev1.Pod) bool { return p.Labels[kube.LabelRun] == a.Spec.Run } // Beside has them
	a.amounts = a.kind.resolve(kube.CapacityOf(a.node, pods, ours), a.Spec.Beside)
	if a.kind.withDefaults().cpu.max && a.amounts.requests.CPU == 0 {
		return noCPU(a.amounts)
	}
	l := a.kind.Levels
	a.spec = kube.PodSpec{
		Run: a.Spec.Run, Arm: a.Spec.Arm, Node: a.node.Name, Image: kube.ImageOf(a.Spec.Run), Other: l.image,
		Requests: a.amounts.requests, Limits: a.amounts.limits, Port: a.Spec.Port,
		AgentArgs: agent.Args(kube.Socket, ""), InstallArgs: agent.InstallArgs(kube.InstallTo()),
	}
	if a.Spec.Neighbour != nil {
		a.spec.Component = "neighbour"
	}
	l.setNetwork(&a.spec)
	l.setProfile(&a.spec)
	switch l.image {
	case "":
		a.spec.Programs = nodePrograms()
	case noImageWord:
		a.spec.Other = ""
	}
	if a.amounts.why != "" {
		a.spec.Notes = map[string]string{"tare/cpu": a.amounts.why}
	}
	return a.makeVolume(ctx)
}

// noCPU is the error of a pod with cpu=max on a node whose CPUs are all requested.
func noCPU(amounts podAmounts) error {
	return hint.New(errors.New("no CPU is left for the pod: "+amounts.why), "remove pods that ask for CPU, or arms; cpu=max asks for parts of one too, and BestEffort for nothing")
}

// start creates the pod and waits until it runs.
func (a *arm) start(ctx context.Context) error {
	// The journal has the namespace; the last arm waits until that is gone.
	a.Undo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removeBound)
		defer cancel()
		return a.cluster.DeletePod(ctx, a.spec.Pod().Namespace, a.spec.Pod().Name)
	})
	p := a.spec.Pod()
	if err := a.cluster.CreatePod(ctx, p); err != nil {
		return err
	}
	var err error
	if a.pod, err = a.cluster.AwaitRunning(ctx, p.Namespace, p.Name); err != nil {
		if a.amounts.short != "" {
			err = fmt.Errorf("%w\n  %s", err, a.amounts.short)
		}
		return err
	}
	if a.spec.Other != "" {
		if err := a.containerd().Fits(a.pod.Status.ContainerStatuses[0].Image); err != nil {
			return fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
		}
	}
	if err := a.cluster.Unchanged(p, a.pod); err != nil {
		return fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
	}
	if got := string(a.pod.Status.QOSClass); got != a.kind.QoS.String() {
		return fmt.Errorf("the cluster made the pod %s, wanted %s", got, a.kind.QoS)
	}
	return nil
}

// findPod finds the pod on this host and connects to its agent.
func (a *arm) findPod(ctx context.Context) error {
	c, err := containerOf(a.own.Tree, a.pod)
	if err != nil {
		return err
	}
	if err := a.adoptGroups(c.group); err != nil {
		return err
	}
	if a.agent, err = a.dial(ctx, c, a.pod); err != nil {
		return err
	}
	if err := a.limitNeighbour(); err != nil {
		return err
	}
	if a.limits, err = readLimits(a.Group); err != nil {
		return err
	}
	if err := a.readCPUs(c.pid); err != nil {
		return err
	}
	return a.findVolume(ctx, c.pid)
}

// dial connects to the agent of a pod.
func (a *arm) dial(ctx context.Context, c container, pod *corev1.Pod) (launch.Agent, error) {
	link, err := agent.Dial(ctx, c.pid, kube.Socket, func() environment.Exit { return lostPod(a.cluster, pod) })
	if err == nil {
		a.Undo(link.Close)
	}
	return launch.Agent{Link: link, Pid: c.pid, Procs: c.procs}, err
}

// containerOf finds the container of a pod on this host.
func containerOf(t *cgroup.Tree, p *corev1.Pod) (container, error) {
	_, id, ok := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "://")
	if !ok {
		return container{}, errors.New("the cluster names no container of the pod")
	}
	return findContainer(t, id)
}

// adoptGroups makes the container's groups the arm's groups. The group that freezes stays tare's.
func (a *arm) adoptGroups(g cgroup.Group) error {
	if g.Tree.Layout == cgroup.V2 {
		own, err := a.makeLoadGroup(g)
		if err != nil {
			return err
		}
		a.Group, a.own = g, own
		return a.setFreezer(a.Outside, own)
	}
	for key, dir := range a.own.Dirs {
		g.Dirs[key] = dir
	}
	a.Group = g
	return nil
}

// makeLoadGroup makes a group for the load in the container's group: a freeze of the
// container's group would stop the agent too.
func (a *arm) makeLoadGroup(g cgroup.Group) (cgroup.Group, error) {
	name := cgroup.Prefix + a.Spec.Run
	dir := filepath.Join(g.Dirs[cgroup.Unified], name)
	plan := cgroup.Plan{Dirs: []string{dir}}
	if err := a.Record(steps.Group{Plan: plan}, func() error { return cgroup.Undo(plan) }); err != nil {
		return cgroup.Group{}, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return cgroup.Group{}, fmt.Errorf("make a group in the pod's: %w", err)
	}
	return cgroup.Group{Tree: g.Tree, Path: filepath.Join(g.Path, name), Dirs: map[string]string{cgroup.Unified: dir}}, nil
}

// setFreezer makes a pause of the arm freeze these groups.
func (a *arm) setFreezer(outside, own cgroup.Group) error {
	freezer, err := cgroup.NewFreezer(outside, own)
	if err != nil {
		return err
	}
	a.Undo(freezer.Close)
	a.Freezer = freezer
	return nil
}

// fill copies the data set into the pod's volume and gives it to the pod's user.
func (a *arm) fill(ctx context.Context) error {
	group := a.Group
	if group.Tree.Layout != cgroup.V2 {
		group.Dirs = map[string]string{}
		for _, c := range group.Controllers {
			group.Dirs[c] = a.Group.Dirs[c]
		}
	}
	dir := a.Place().HostVolume
	if err := a.FillFor(ctx, group, dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(a.hostVolume) // other users of a shared volume can put links there
	if err != nil {
		return fmt.Errorf("open the pod's volume: %w", err)
	}
	defer root.Close()
	return clonetree.Give(root, kube.UserID, kube.UserID, dataDir(a.spec))
}

// Place has the volume, the addresses of the server and the groups.
func (a *arm) Place() wire.Place {
	p := a.Sandbox.Place()
	p.OwnRoot = true
	p.Volume, p.HostVolume = filepath.Join(kube.VolumeDir, dataDir(a.spec)), filepath.Join(a.hostVolume, dataDir(a.spec))
	if a.client != nil {
		p.ClientVolume = filepath.Join(kube.VolumeDir, clientDir)
	}
	if a.Spec.Port != 0 {
		host := a.pod.Status.PodIP
		if a.spec.HostNetwork {
			host = "127.0.0.1"
		}
		p.Listen = net.JoinHostPort(host, strconv.Itoa(a.Spec.Port))
		p.Dial = p.Listen
		if a.route.dial.IsValid() {
			p.Dial = a.route.dial.String()
		}
	}
	return p
}

// Start starts a process in the pod, in the client's pod, or on the node.
func (a *arm) Start(ctx context.Context, p environment.Process) (environment.Running, error) {
	if p.Outside && a.client != nil {
		return a.client.start(ctx, a, p)
	}
	if p.Outside {
		return a.StartBeside(ctx, p)
	}
	c := a.Inside(p)
	c.Request.Dir, c.Request.Exe = a.Place().Volume, a.spec.Exe()
	if a.Spec.Neighbour != nil {
		c.Request.Nobody = &launch.Nobody{CPU: uint64(a.Spec.Neighbour.Time / time.Second)}
	}
	return a.inside.Start(func() (environment.Running, error) { return a.StartByAgent(ctx, a.agent, c, a.own) })
}

// lostBound is how long the cluster may take to report why a pod ended. Blocks of that time
// are dropped.
const lostBound = 5 * time.Second

// lostPod asks the cluster why a pod ended whose first process is gone.
func lostPod(c *kube.Cluster, pod *corev1.Pod) environment.Exit {
	ctx, cancel := context.WithTimeout(context.Background(), lostBound)
	defer cancel()
	gone := func(err error) environment.Exit {
		return environment.Exit{Code: -1, Err: hint.New(fmt.Errorf("was in a pod that is gone: %w", err), hint.Of(err))}
	}
	for {
		p, err := c.Pod(ctx, pod.Namespace, pod.Name)
		if err != nil {
			return gone(err)
		}
		if t := kube.TroubleOf(p); t != nil {
			if t.Reason == "OOMKilled" {
				return environment.Exit{Code: -1, Signal: "SIGKILL", OOM: true}
			}
			return gone(hint.New(t, t.Remedy))
		}
		select {
		case <-ctx.Done():
			return gone(errors.New("its first process ended, and the cluster does not say why"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
