package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

// With client=node:NAME the client of a server is on another node. tare shares no memory with
// its load, so both pods are controlled over streams.

const (
	nodeWord = "node:"
	anyOther = "*" // client=node:*, the first other node that can have it
)

// parseClient reads the level client.
func (l *Levels) parseClient(value string) error {
	switch name, node := strings.CutPrefix(value, nodeWord); {
	case value == "inside":
		return hint.New(errors.New("client=inside is a parameter of the workload"), "set: {client: inside} of the arm, or params: of the workload")
	case node && name == "":
		return hint.New(fmt.Errorf("client=%s: want the name of a node", value), "kubectl get nodes lists them")
	case node:
		l.clientNode = name
	case value != "outside" && value != "pod":
		return fmt.Errorf("client %q: want outside, pod or %sNAME%s", value, nodeWord, hint.DidYouMean(value, []string{"outside", "pod"}))
	}
	l.client, l.clientOutside = value == "pod", value == "outside"
	return nil
}

// check returns why a pod cannot be had, as far as the levels and the cluster show before it
// is opened. remote says that tare is not on its node.
func (p Pod) check(remote bool) error {
	if remote {
		if err := cmp.Or(p.checkRemote(), p.Levels.checkRemoteProfile()); err != nil {
			return err
		}
	}
	if p.Levels.clientNode == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askBound)
	defer cancel()
	c, err := p.On.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	node, _, err := c.Where(ctx)
	if err != nil {
		return err
	}
	if !remote {
		return p.needsRemote(node.Name)
	}
	_, err = p.clientNode(ctx, c, node)
	return err
}

// needsRemote is the error of a client on another node where tare is on the server's node.
func (p Pod) needsRemote(node string) error {
	return hint.New(fmt.Errorf("%w: client=%s%s needs the pods to be controlled over a stream, from a host that is not on their node", facts.ErrUnsupported, nodeWord, p.Levels.clientNode),
		"--nodes "+node+" without --node-helper; then all arms of the run are paused alike")
}

// clientNode is the node of the client's pod: the server's node, or the other one that the
// levels name.
func (p Pod) clientNode(ctx context.Context, c *kube.Cluster, server *corev1.Node) (*corev1.Node, error) {
	name := p.Levels.clientNode
	switch name {
	case "":
		return server, nil
	case server.Name:
		return nil, hint.New(fmt.Errorf("client=%s%s: that is the node of the server", nodeWord, name), "client=pod has the client there; name another node")
	}
	all, err := c.Nodes(ctx)
	switch {
	case err != nil && name == anyOther:
		return nil, hint.New(err, "name the node: client="+nodeWord+"NAME")
	case err != nil:
		return nil, err
	case name == anyOther:
		return otherNode(all, server.Name)
	}
	found, err := kube.FindNodes(all, []string{name})
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// otherNode is the first node, in the order of their names, that can have pods of this binary and is
// not that of the server.
func otherNode(all []corev1.Node, server string) (*corev1.Node, error) {
	names := make([]string, 0, len(all))
	for _, n := range all {
		if n.Name != server {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	none := hint.New(fmt.Errorf("%w: the cluster has no node beside %s", facts.ErrUnsupported, server), "add a node; --arms leaves this arm out")
	for _, name := range names {
		found, err := kube.FindNodes(all, []string{name})
		if err == nil {
			return &found[0], nil
		}
		none = err
	}
	return nil, none
}
