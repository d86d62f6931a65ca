package agent

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tarelab/tare/internal/arms/environment"
)

// noted is an ear that keeps what it is told.
type noted []string

func (n *noted) Quiet(since time.Time) {
	*n = append(*n, fmt.Sprintf("quiet for %v", time.Since(since)))
}
func (n *noted) Heard() { *n = append(*n, "heard") }

// That nothing is heard of an agent is told once while it lasts, and that something is again;
// an agent who answers every beat is not told of.
func TestEar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, says := io.Pipe()
		l := newLink(in, nowhere{io.Discard}, func() environment.Exit { return environment.Exit{Code: -1} })
		told := &noted{}
		l.listener = told
		over := make(chan struct{})
		go func() { l.receive(lostAfter); close(over) }()
		for _, after := range []time.Duration{beatEvery, beatEvery, 20 * time.Second, beatEvery, 9 * time.Second} {
			time.Sleep(after)
			fmt.Fprintln(says, "{}")
			synctest.Wait()
		}
		says.Close()
		<-over
		time.Sleep(time.Minute)
		want := []string{"quiet for 8s", "heard", "quiet for 8s", "heard"}
		if !slices.Equal(*told, want) {
			t.Errorf("told %q, want %q", *told, want)
		}
	})
}
