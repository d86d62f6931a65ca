package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// errElsewhere means that this host is not a node of the cluster.
var errElsewhere = errors.New("this host is no node of the cluster")

// ThisNode is the node that this host is, found by the kernel's boot id.
func (c *Cluster) ThisNode(ctx context.Context) (*corev1.Node, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("find the node that this host is: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("find the node that this host is: %w", err)
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	n, err := choose(nodes, strings.TrimSpace(string(boot)), cmp.Or(c.Node, strings.ToLower(host)))
	if err != nil {
		return nil, err
	}
	return n, usable(n)
}

// choose finds the node with a boot id. If several nodes run on one kernel it is the one
// named host, or the first.
func choose(nodes []corev1.Node, boot, host string) (*corev1.Node, error) {
	var here []corev1.Node
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
		if n.Status.NodeInfo.BootID == boot {
			here = append(here, n)
		}
	}
	if len(here) == 0 {
		return nil, hint.New(fmt.Errorf("%w, whose nodes are %s", errElsewhere, strings.Join(names, ", ")), "run tare on one of them, as root, or control pods on one from here: --nodes NAME")
	}
	i := max(0, slices.IndexFunc(here, func(n corev1.Node) bool { return n.Name == host }))
	return &here[i], nil
}

// usable returns an error if no pod can start on a node now.
func usable(n *corev1.Node) error {
	if n.Spec.Unschedulable {
		return hint.New(fmt.Errorf("node %s is cordoned: it takes no pods", n.Name), "kubectl uncordon "+n.Name)
	}
	return hint.New(notReady(n), "kubectl describe node "+n.Name)
}

// ErrGone means that the cluster has no node of that name any longer.
var ErrGone = errors.New("the node is gone: somebody, or an autoscaler, has removed it from the cluster")

// Unready returns an error with the reason if a node is not ready or gone. nil: the node is ready, or
// the cluster does not say.
func (c *Cluster) Unready(ctx context.Context, name string) error {
	nodes, err := c.Nodes(ctx)
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == name })
	switch {
	case err != nil:
		return nil
	case i < 0:
		return hint.New(fmt.Errorf("node %s: %w", name, ErrGone), "kubectl get nodes lists the others: --nodes NAME")
	}
	return notReady(&nodes[i])
}

// notReady returns an error with the reason if a node is not ready.
func notReady(n *corev1.Node) error {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			return fmt.Errorf("node %s is not ready: %s: %s", n.Name, c.Reason, c.Message)
		}
	}
	return nil
}
