package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
)

// The client of a server can be on another node (client=node:NAME): a load counts
// where tare does not share its memory, so that both pods are controlled over a stream.

const nodeWord = "node:"

// parseClient reads where the client is.
func (l *Levels) parseClient(value string) error {
	switch name, node := strings.CutPrefix(value, nodeWord); {
	case value == "inside":
		return hint.New(errors.New("client=inside is the workload's"), "set: {client: inside} of the arm, or params: of the workload")
	case node && name == "":
		return hint.New(fmt.Errorf("client=%s: want the name of a node", value), "kubectl get nodes lists them")
	case node:
		l.clientNode = name
	case value != "outside" && value != "pod":
		return fmt.Errorf("client %q: want outside, pod or %sNAME%s", value, nodeWord, hint.DidYouMean(value, []string{"outside", "pod"}))
	}
	l.client = value == "pod"
	return nil
}

// suits says what a pod cannot have here, of what is known before anything is opened.
func (p Pod) suits(away bool) error {
	if away {
		if err := cmp.Or(p.suitsFar(), p.Levels.confinedFar()); err != nil {
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
	if !away {
		return p.suitsNear(node.Name)
	}
	_, err = p.clientNode(ctx, c, node)
	return err
}

// suitsNear says what a pod cannot have where tare is on its node.
func (p Pod) suitsNear(node string) error {
	return hint.New(fmt.Errorf("%w: client=%s%s needs the pods to be controlled over a stream, from a host that is not on their node", facts.ErrUnsupported, nodeWord, p.Levels.clientNode),
		"--nodes "+node+" without --node-helper; then all arms of the run are paused alike")
}

// clientNode is the node of the client's pod: the server's, or the one that the
// levels name, which has to be another one.
func (p Pod) clientNode(ctx context.Context, c *kube.Cluster, server *corev1.Node) (*corev1.Node, error) {
	name := p.Levels.clientNode
	if name == "" {
		return server, nil
	}
	if name == server.Name {
		return nil, hint.New(fmt.Errorf("client=%s%s: that is the node of the server", nodeWord, name), "client=pod has the client there; name another node")
	}
	all, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	found, err := kube.FindNodes(all, []string{name})
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}
