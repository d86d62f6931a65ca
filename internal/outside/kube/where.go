package kube

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tarelab/tare/internal/base/hint"
)

// Where finds the node of the pods; away says that tare is not on it.
func (c *Cluster) Where(ctx context.Context) (n *corev1.Node, away bool, err error) {
	if c.PodNode == "" {
		n, err = c.ThisNode(ctx)
		if !errors.Is(err, errElsewhere) {
			return n, false, err
		}
	}
	nodes, listErr := c.Nodes(ctx)
	if apierrors.IsForbidden(listErr) && c.PodNode != "" && c.Namespace != "" {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.PodNode}}, true, nil // the scheduler checks the name
	}
	if listErr != nil {
		return nil, true, listErr
	}
	var names []string
	switch {
	case c.PodNode != "":
		names = []string{c.PodNode}
	case len(nodes) > 1:
		return nil, true, hint.New(fmt.Errorf("%w; all pods of a run have to be on the same one", err), "name it: --nodes NAME, or run tare on it, as root")
	}
	found, err := FindNodes(nodes, names)
	if err != nil {
		return nil, true, err
	}
	return &found[0], true, nil
}

// AwaitWhere is Where, and waits for an API server that is away.
func (c *Cluster) AwaitWhere(ctx context.Context) (n *corev1.Node, away bool, err error) {
	err = c.patiently(ctx, func() error {
		var err error
		n, away, err = c.Where(ctx)
		return err
	})
	return n, away, err
}
