package nodes

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
)

// awayError is a node that was not ready for longer than anybody waits.
type awayError struct {
	node string
	err  error
}

func (e *awayError) Error() string {
	return fmt.Sprintf("%v, for %v: nothing is heard of tare there, which ends by itself and restores the node; its record is lost", e.err, collectBound)
}

func (e *awayError) Unwrap() error {
	return hint.New(e.err, "when node "+e.node+" is back: tare cleanup; kubectl describe node "+e.node)
}

// watch looks at the node while tare runs there: a connection to a node that is gone, or
// whose kubelet is stopped, does not break, it lets nothing through. It is waited for as
// long as the record is kept there, and then given up.
func (h *helper) watch(ctx context.Context, said io.Writer, give func(error)) {
	var since time.Time // of a node that is not ready
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
			fmt.Fprintf(said, "tare: node %s is ready again\n", h.node.Name)
		case err == nil:
		case since.IsZero():
			since = time.Now()
			fmt.Fprintf(said, "tare: %v; tare there ends when it has heard nothing for %v, and its record is waited for, up to %v\n", err, lostAfter, collectBound)
		case time.Since(since) > collectBound:
			give(&awayError{h.node.Name, err})
			return
		}
	}
}

// oneByOne is written to by several.
type oneByOne struct {
	mu sync.Mutex
	to io.Writer
}

func (o *oneByOne) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(b)
}
