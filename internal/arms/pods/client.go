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
	own    cgroup.Group // that its load is frozen by
	inside environment.Running
}

// clientAsks are what the client's pod asks for: enough to be waited on nowhere
// but at its server. It has no limits.
var clientAsks = kube.Amounts{CPU: 100, Memory: 128 << 20}

// clientDir is what the client has of the data set, in the volume of its pod.
const clientDir = "data"

// clientArm is what the pod of the client of an arm is called; no arm that an
// experiment names has a dot.
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
	k.spec.Requests, k.spec.Limits = clientAsks, kube.Amounts{}
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
	if err := a.adoptClient(k, c.group); err != nil {
		return err
	}
	if k.agent, err = a.dial(ctx, c, k.pod); err != nil {
		return err
	}
	a.client = k
	return a.carry(c.pid)
}

// carry gives the client what it needs of the data set: it sees nothing of the
// server's pod.
func (a *arm) carry(pid int) error {
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
	for _, name := range a.Spec.Carried {
		b, err := os.ReadFile(filepath.Join(a.Spec.Data, name))
		if errors.Is(err, os.ErrNotExist) || a.Spec.Data == "" {
			continue
		}
		if err == nil {
			err = root.WriteFile(filepath.Join(clientDir, name), b, 0o600)
		}
		if err != nil {
			return fmt.Errorf("give the client a part of the data set: %w", err)
		}
	}
	return clonetree.Give(root, kube.UserID, kube.UserID, clientDir)
}

// adoptClient makes the container's groups those of what runs outside, beside
// tare's own.
func (a *arm) adoptClient(k *client, g cgroup.Group) error {
	k.own = a.Outside
	if g.Tree.Layout == cgroup.V2 {
		own, err := a.below(g)
		if err != nil {
			return err
		}
		k.own, a.Outside = own, g
		return a.refreeze(k.own, a.own)
	}
	for key, dir := range a.Outside.Dirs {
		g.Dirs[key] = dir
	}
	a.Outside = g
	return nil
}

// start starts the client in its pod.
func (k *client) start(ctx context.Context, a *arm, p environment.Process) (environment.Running, error) {
	if !environment.Ended(k.inside) {
		return nil, environment.ErrBusy
	}
	c := a.Inside(p)
	c.Group, c.Request.Dir, c.Request.Exe = a.Outside, a.Place().ClientVolume, k.spec.Exe()
	running, err := a.StartByAgent(ctx, k.agent, c, k.own)
	if err != nil {
		return nil, err
	}
	k.inside = running
	return running, nil
}

// where says where the client of the arm's server runs; empty without a server.
func (a *arm) where() string {
	switch {
	case a.Spec.Port == 0:
		return ""
	case a.client != nil:
		return "in pod " + a.client.pod.Name + " on node " + a.node.Name
	}
	return "on node " + a.node.Name + ", in no pod"
}
