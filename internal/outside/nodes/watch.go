package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tarelab/tare/internal/outside/kube"
)

// unreadyBound is how long the client waits for a node that is not ready. Tare there
// ends its run earlier, after lostAfter.
const unreadyBound = time.Minute

// watch asks the cluster for the node's state while tare runs there. A connection to a
// node that is down, or whose kubelet is stopped, does not break: it stalls. giveUp gets
// the reason when the node is not ready for longer than unreadyBound.
func (h *helper) watch(ctx context.Context, out io.Writer, giveUp func(error)) {
	var since time.Time // when the node was first seen not ready; zero: it is ready
	every := time.NewTicker(beatEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		err := h.Cluster.Unready(ctx, h.node.Name)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !since.IsZero():
			since = time.Time{}
			fmt.Fprintf(out, "tare: node %s is ready again\n", h.node.Name)
		case err == nil:
		case errors.Is(err, kube.ErrGone):
			giveUp(err)
			return
		case since.IsZero():
			since = time.Now()
			fmt.Fprintf(out, "tare: %v; tare there ends after %v without a word from here, and its result is then lost\n", err, lostAfter)
		case time.Since(since) > unreadyBound:
			giveUp(err)
			return
		}
	}
}
