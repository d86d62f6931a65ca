// Package pods is the environment of a Kubernetes pod: one pod per arm, in the quality of service
// class that names the arm, made by the cluster's own scheduler and kubelet. The pod's first
// process is tare's binary (package agent), which starts the loads. An arm is either on the node
// that this host is (type arm), where tare freezes and reads its control groups, or on a node
// where tare is not (type remoteArm), where the agent does that over a stream.
//
// Manifests and requests to the cluster are in internal/outside/kube.
package pods

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/record"
)

// QoS is a pod's quality of service class. Kubernetes derives it from requests and limits.
type QoS int

// The classes.
const (
	BestEffort QoS = iota // no requests and no limits
	Burstable             // requests, and higher limits or none
	Guaranteed            // requests equal to the limits
)

func (q QoS) String() string { return [...]string{"BestEffort", "Burstable", "Guaranteed"}[q] }

// Pod is a pod of a class.
type Pod struct {
	QoS    QoS
	Levels Levels
	On     *Target // nil: the pod can be described and not opened
}

var _ environment.Environment = Pod{}

// Name is the word for it on the command line and in the record.
func (p Pod) Name() string { return [...]string{"besteffort", "burstable", "guaranteed"}[p.QoS] }

// Title is one line for people.
func (p Pod) Title() record.Said {
	if p.Levels.text == "" {
		return record.Say("arm_pod", "class", p.QoS.String())
	}
	return record.Say("arm_pod_levels", "class", p.QoS.String(), "levels", p.Levels.text)
}

// Capabilities of a pod: levels, and a quota where it has a CPU limit.
func (p Pod) Capabilities() environment.Capabilities {
	limited := p.QoS == Guaranteed || p.Levels.cpuLimit != amount{}
	return environment.Capabilities{With: p.with, Quota: limited, Pod: true}
}

// with is the same class with levels: "cpu=1500m,memory=2Gi".
func (p Pod) with(levels string) (environment.Environment, error) {
	l, err := parse(p.QoS, levels)
	if err != nil {
		return nil, err
	}
	return Pod{p.QoS, l, p.On}, nil
}

// word names class and levels as an experiment does.
func (p Pod) word() string {
	if p.Levels.text == "" {
		return p.Name()
	}
	return p.Name() + ":" + p.Levels.text
}

// Support is the cluster's answer to Target.Ask.
func (p Pod) Support(facts.Host) facts.Support { return p.On.answer(p) }

// Changes lists what Open changes, on the host and in the cluster.
func (p Pod) Changes(s environment.Spec) []facts.Change {
	node, remote := p.On.where()
	if remote {
		return p.remoteChanges(s, node)
	}
	groups, err := launch.PlainGroups(s.Groups)
	if err != nil {
		return nil
	}
	out := append(launch.Changes(s, groups),
		namespaceChange(s),
		facts.Changed(messages.Say("change.image", "name", kube.ImageOf(s.Run)), messages.Say("change.image.own")),
		facts.Changed(messages.Say("change.pod", "name", kube.PodName(s.Arm), "space", kube.NamespaceOf(s.Run)), messages.Say("change.plain", "text", p.amountsText(s.Beside))),
	)
	return append(out, p.clusterChanges(s, "")...)
}

// clusterChanges are the changes in the cluster other than the pod. space is a namespace that
// exists already; empty: the run makes its own.
func (p Pod) clusterChanges(s environment.Spec, space string) (out []facts.Change) {
	outline := p.outline(s)
	outline.Run, outline.Arm, outline.Namespace = s.Run, s.Arm, space
	if outline.Service {
		out = append(out, facts.Changed(messages.Say("change.service", "name", outline.ServiceOf().Name, "space", outline.Space()), messages.Say("change.service.proxy")))
	}
	if class := outline.Volume.Class; class != "" {
		out = append(out, facts.Changed(messages.Say("change.claim", "name", outline.Name(), "space", outline.Space()),
			messages.Say("change.claim.class", "class", class), messages.Say("change.claim.volume")))
	}
	for _, need := range p.needs(s) {
		out = append(out, facts.Changed(messages.Say("change.security", "space", outline.Space()), messages.Say("change.plain", "text", need)))
	}
	return out
}

func namespaceChange(s environment.Spec) facts.Change {
	return facts.Changed(messages.Say("change.namespace", "name", kube.NamespaceOf(s.Run)), messages.Say("change.namespace.cluster"))
}

// amountsText has class and amounts of the pod, as far as they are known before it is opened.
func (p Pod) amountsText(beside []environment.Environment) string {
	l := p.withDefaults()
	text := p.QoS.String() + l.amounts()
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
	return text + "; " + p.resolve(kube.CapacityOf(node, pods, nil), beside).why
}

// Open creates the pod and makes the arm.
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

// openIn opens the arm in a cluster. Closing the arm closes the cluster; on an error the caller
// does.
func (p Pod) openIn(ctx context.Context, spec environment.Spec, cluster *kube.Cluster) (environment.OpenArm, error) {
	node, remote, err := cluster.AwaitWhere(ctx)
	switch {
	case err != nil:
		return nil, err
	case remote:
		return p.openRemote(ctx, spec, cluster, node)
	case p.Levels.clientNode != "":
		return nil, p.needsRemote(node.Name)
	case os.Geteuid() != 0:
		return nil, fmt.Errorf("%w: a pod's processes and files on its node are root's", facts.ErrUnsupported)
	}
	if err := p.Levels.checkServer(spec.Port); err != nil {
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
