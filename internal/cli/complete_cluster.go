package cli

import (
	"context"
	"time"

	"github.com/tarelab/tare/internal/outside/kube"
)

// clusterPatience is how long completion waits for a cluster. Somebody waits at the prompt.
const clusterPatience = 1500 * time.Millisecond

// access is the cluster of the line.
func (k *completer) access() kube.Access {
	return kube.Access{Kubeconfig: k.value("kubeconfig"), Context: k.value("context")}
}

// asked asks the cluster. Without an answer in time it returns nothing: a program that gives credentials to
// kubectl may wait for somebody to log in, and no context ends it.
func (k *completer) asked(ask func(context.Context, *kube.Cluster) ([]string, error)) []string {
	ctx, cancel := context.WithTimeout(context.Background(), clusterPatience)
	defer cancel()
	got := make(chan []string, 1)
	go func() {
		defer close(got)
		cluster, err := k.access().Connect()
		if err != nil {
			return
		}
		defer cluster.Close()
		if names, err := ask(ctx, cluster); err == nil {
			got <- names
		}
	}()
	select {
	case names := <-got:
		return names
	case <-ctx.Done():
		return nil
	}
}

// nodes are the nodes of the cluster.
func (k *completer) nodes(word string) completion {
	names := k.asked(func(ctx context.Context, c *kube.Cluster) (names []string, err error) {
		all, err := c.Nodes(ctx)
		for i := range all {
			names = append(names, all[i].Name)
		}
		return names, err
	})
	a := plainly(names...)
	a.values = append(a.values, candidate{"all", "every node, with --node-helper"})
	return listOf(word, a)
}

// classes are the StorageClasses of the cluster.
func (k *completer) classes() []string {
	return k.asked(func(ctx context.Context, c *kube.Cluster) ([]string, error) { return c.Classes(ctx) })
}

// contexts are those of the kubeconfig.
func (k *completer) contexts(string) completion { return plainly(k.access().Contexts()...) }
