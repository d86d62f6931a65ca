package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/outside/dirtar"
	"github.com/tarelab/tare/internal/outside/kube"
)

// remotePod is a pod on a node where tare is not. tare copies its binary into the pod, where it
// becomes the first process, the agent, and sends requests over a stream.
type remotePod struct {
	cluster *kube.Cluster
	spec    kube.PodSpec
	pod     *corev1.Pod
	link    *agent.Link
	inside  launch.Occupant
	bounds  *agent.Bounds // of its processes; nil: none
	// data is the data set, a directory of this host; empty: none. kept says that the pod has a copy of
	// it beside that on its volume.
	data string
	kept bool
}

// start creates a pod, sends it the binary and the directory data, and connects to its agent; data
// is empty without a data set.
func (s *podSet) start(ctx context.Context, spec kube.PodSpec, data string) (*remotePod, error) {
	c := s.cluster
	p := &remotePod{cluster: c, spec: spec, data: data}
	p.spec.AgentArgs = agent.Args(kube.Socket, p.lasting())
	manifest := p.spec.Pod()
	s.Undo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removeBound)
		defer cancel()
		return c.DeletePod(ctx, manifest.Namespace, manifest.Name)
	})
	err := awaitNoPod(ctx, c, manifest.Namespace, manifest.Name)
	if err == nil {
		err = c.CreatePod(ctx, manifest)
	}
	if err != nil {
		return nil, err
	}
	if p.pod, err = c.AwaitRunning(ctx, manifest.Namespace, manifest.Name); err != nil {
		return nil, err
	}
	if err := c.CopySelf(ctx, p.pod.Namespace, p.pod.Name, p.spec.Exe()); err != nil {
		return nil, hint.New(fmt.Errorf("copy tare's binary into pod %s: %w", p.pod.Name, err),
			cmpHint(err, "the image needs sh, head, wc, chmod, mv and sleep"))
	}
	if err := p.fill(ctx, s.of.Keep); err != nil {
		return nil, err
	}
	return p, p.join(ctx, s)
}

// awaitNoPod waits until the pod of that name that an earlier launch had is gone.
func awaitNoPod(ctx context.Context, c *kube.Cluster, namespace, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeBound)
	defer cancel()
	for {
		_, err := c.Pod(ctx, namespace, name)
		switch {
		case errors.Is(err, kube.ErrNone):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("pod %s of an earlier launch is still there: %w", name, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// cmpHint is the hint of an error, or other if it has none.
func cmpHint(err error, other string) string {
	if h := hint.Of(err); h != "" {
		return h
	}
	return other
}

// dir is the data directory in the pod.
func (p *remotePod) dir() string { return filepath.Join(kube.VolumeDir, dataDir(p.spec)) }

// lasting is the directory that the agent removes before it ends: data on a volume that may
// outlive the pod; empty: none.
func (p *remotePod) lasting() string {
	if !outlives(p.spec.Volume) {
		return ""
	}
	return p.dir()
}

// exec runs tare's binary in the pod, beside the agent.
func (p *remotePod) exec(ctx context.Context, s kube.Streams, args []string) error {
	return p.cluster.Exec(ctx, p.pod.Namespace, p.pod.Name, s, append([]string{p.spec.Exe()}, args...)...)
}

// fillBound is how long a pod may accept no byte of a data set: on a network volume, closing a
// large file waits until all of it is written.
const fillBound = 10 * time.Minute

// mostKept is the size in bytes of the largest data set of which a pod keeps a copy on its node. Larger ones
// are sent again at each launch.
const mostKept = 1 << 30

// fill sends the data set into the pod's volume. keep: also to a directory beside it, for refill.
func (p *remotePod) fill(ctx context.Context, keep bool) error {
	if keep && p.data != "" {
		bytes, err := clonetree.Size(p.data)
		if err != nil {
			return fmt.Errorf("find the size of the data set: %w", err)
		}
		if p.kept = bytes <= mostKept; p.kept {
			if err := p.send(ctx, kube.KeptData); err != nil {
				return err
			}
			return p.refill(ctx)
		}
	}
	return p.send(ctx, p.dir())
}

// refill replaces the data by that of a new launch.
func (p *remotePod) refill(ctx context.Context) error {
	if !p.kept {
		return p.send(ctx, p.dir())
	}
	var words kube.Said
	if err := p.exec(ctx, kube.Streams{Err: &words}, agent.RefillArgs(p.dir(), kube.KeptData)); err != nil {
		return p.notFilled("copy the data set in", err, words.String())
	}
	return nil
}

// send sends the data set into a directory of the pod.
func (p *remotePod) send(ctx context.Context, to string) error {
	r, w := io.Pipe()
	go func() {
		data := p.data
		if data == "" {
			data = filepath.Join(os.DevNull, "none") // makes an empty archive
		}
		w.CloseWithError(dirtar.Write(w, data))
	}()
	output, err := p.cluster.Send(ctx, p.pod.Namespace, p.pod.Name, r, fillBound, append([]string{p.spec.Exe()}, agent.FillArgs(to)...)...)
	r.CloseWithError(err)
	if err != nil {
		return p.notFilled("send the data set into", err, output)
	}
	return nil
}

// notFilled is the error of a pod that did not get its data; output is what the process in it printed.
func (p *remotePod) notFilled(what string, err error, output string) error {
	err = fmt.Errorf("%s pod %s: %w: %s", what, p.pod.Name, err, output)
	if strings.Contains(output, "permission denied") && p.spec.Volume.Server != "" {
		err = hint.New(err, fmt.Sprintf("the server has to let user %d write there", kube.UserID))
	}
	return err
}

// clearBound is how long the agent may take to remove the data.
const clearBound = time.Minute

// join makes the stream to the agent.
func (p *remotePod) join(ctx context.Context, g undoer) error {
	events, fromPod := io.Pipe()
	toPod, requests := io.Pipe()
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	g.Undo(func() error {
		if p.lasting() != "" {
			select {
			case <-over: // the agent has removed the data
			case <-time.After(clearBound):
			}
		}
		cancel()
		<-over
		return nil
	})
	go func() {
		defer close(over)
		var words kube.Said
		err := p.exec(lasting, kube.Streams{In: toPod, Out: fromPod, Err: &words}, agent.JoinArgs(kube.Socket))
		if text := words.String(); err != nil && text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		fromPod.CloseWithError(err)
		toPod.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	var err error
	if p.link, err = agent.Connect(ctx, events, requests, p.lost, p.cluster); err != nil {
		return err
	}
	g.Undo(p.link.Close)
	return nil
}

// lost is how the processes of the pod ended when its stream broke.
func (p *remotePod) lost() environment.Exit {
	e := lostPod(p.cluster, p.pod)
	if e.Err != nil {
		e.Err = hint.New(fmt.Errorf("%w; %w (%s)", e.Err, agent.ErrBroken, p.pod.Name), hint.Of(e.Err))
	}
	return e
}

// start starts a process in the pod.
func (p *remotePod) start(ctx context.Context, proc environment.Process) (environment.Running, error) {
	return p.inside.Start(func() (environment.Running, error) {
		running, err := p.link.Start(ctx, proc, p.dir(), p.bounds)
		if err != nil {
			return nil, err
		}
		return running, nil
	})
}
