package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/kube"
)

// client is the pod of an arm's client (client=pod), on the node of the server's.
type client struct {
	spec   kube.PodSpec
	pod    *corev1.Pod
	agent  launch.Agent
	own    cgroup.Group // freezes its load
	inside launch.Slot
}

// clientRequests is enough for a client whose server is the bottleneck. The client's pod has
// no limits.
var clientRequests = kube.Amounts{CPU: 100, Memory: 128 << 20}

// clientDir holds Spec.Carried in the volume of the client's pod.
const clientDir = "data"

// clientArm is the name under which an arm's client has its pod. Names of arms have no dot.
func clientArm(arm string) string { return arm + ".client" }

var errNoServer = hint.New(errors.New("no server runs here that a client would reach from outside"),
	"leave client=pod out, or client: outside of the workload")

// prepareClient makes the pod of the client.
func (a *arm) prepareClient(ctx context.Context) error {
	if !a.kind.Levels.client {
		return nil
	}
	if a.Spec.Port == 0 {
		return errNoServer
	}
	k := &client{spec: a.spec}
	k.spec.Arm, k.spec.Component, k.spec.Notes = clientArm(a.Spec.Arm), "client", nil
	k.spec.Volume, k.spec.Service = kube.Volume{}, false
	k.spec.AppArmor = nil
	k.spec.Requests, k.spec.Limits = clientRequests, kube.Amounts{}
	p := k.spec.Pod()
	a.Undo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removeBound)
		defer cancel()
		return a.cluster.DeletePod(ctx, p.Namespace, p.Name)
	})
	if err := a.cluster.CreatePod(ctx, p); err != nil {
		return err
	}
	var err error
	if k.pod, err = a.cluster.AwaitRunning(ctx, p.Namespace, p.Name); err != nil {
		return err
	}
	c, err := containerOf(a.Outside.Tree, k.pod)
	if err != nil {
		return err
	}
	if err := a.adoptClientGroups(k, c.group); err != nil {
		return err
	}
	if k.agent, err = a.dial(ctx, c, k.pod); err != nil {
		return err
	}
	a.client = k
	return a.copyCarried(c.pid)
}

// copyCarried copies Spec.Carried into the volume of the client, which does not see the
// server's pod.
func (a *arm) copyCarried(pid int) error {
	volume, err := onHost(pid, kube.VolumeDir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(volume) // the pod's user can put links there
	if err != nil {
		return fmt.Errorf("open the client's volume: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(clientDir, 0o700); err != nil {
		return fmt.Errorf("make the client's directory: %w", err)
	}
	err = carried(a.Spec, func(name string, b []byte) error { return root.WriteFile(filepath.Join(clientDir, name), b, 0o600) })
	if err != nil {
		return err
	}
	return clonetree.Give(root, kube.UserID, kube.UserID, clientDir)
}

// carried calls write for each file of Spec.Carried that the data set has.
func carried(s environment.Spec, write func(name string, b []byte) error) error {
	if s.Data == "" {
		return nil
	}
	for _, name := range s.Carried {
		b, err := os.ReadFile(filepath.Join(s.Data, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = write(name, b)
		}
		if err != nil {
			return fmt.Errorf("copy a part of the data set for the client: %w", err)
		}
	}
	return nil
}

// adoptClientGroups makes the groups of the client's container the groups of what runs
// outside of the arm.
func (a *arm) adoptClientGroups(k *client, g cgroup.Group) error {
	k.own = a.Outside
	if g.Tree.Layout == cgroup.V2 {
		own, err := a.makeLoadGroup(g)
		if err != nil {
			return err
		}
		k.own, a.Outside = own, g
		return a.setFreezer(k.own, a.own)
	}
	for key, dir := range a.Outside.Dirs {
		g.Dirs[key] = dir
	}
	a.Outside = g
	return nil
}

// start starts the client in its pod.
func (k *client) start(ctx context.Context, a *arm, p environment.Process) (environment.Running, error) {
	c := a.Inside(p)
	c.Group, c.Request.Dir, c.Request.Exe = a.Outside, a.Place().ClientVolume, k.spec.Exe()
	return k.inside.Start(func() (environment.Running, error) { return a.StartByAgent(ctx, k.agent, c, k.own) })
}

// clientPlace says where the client of the arm's server runs; empty without a server.
func (a *arm) clientPlace() string {
	switch {
	case a.Spec.Port == 0:
		return ""
	case a.client != nil:
		return "in pod " + a.client.pod.Name + " on node " + a.node.Name
	}
	return "on node " + a.node.Name + ", in no pod"
}
