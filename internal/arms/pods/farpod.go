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
	"github.com/tarelab/tare/internal/outside/dirtar"
	"github.com/tarelab/tare/internal/outside/kube"
)

// farPod is a pod on whose node tare is not: this binary is copied into it, becomes
// its first process, and is told over a stream what to do.
type farPod struct {
	cluster *kube.Cluster
	spec    kube.PodSpec
	pod     *corev1.Pod
	link    *agent.Link
	inside  environment.Running // the last one
	bounds  *agent.Bounds       // of what runs in it; nil: none
}

// startFar has the cluster run such a pod, with a directory that has a copy of data
// where there is some.
func startFar(ctx context.Context, g *launch.Sandbox, c *kube.Cluster, spec kube.PodSpec, data string) (*farPod, error) {
	p := &farPod{cluster: c, spec: spec}
	p.spec.AgentArgs = agent.Args(kube.Socket, p.lasting())
	manifest := p.spec.Pod()
	g.Undo(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removeBound)
		defer cancel()
		return c.DeletePod(ctx, manifest.Namespace, manifest.Name)
	})
	if err := c.CreatePod(ctx, manifest); err != nil {
		return nil, err
	}
	var err error
	if p.pod, err = c.AwaitRunning(ctx, manifest.Namespace, manifest.Name); err != nil {
		return nil, err
	}
	if err := c.CopySelf(ctx, p.pod.Namespace, p.pod.Name, p.spec.Exe()); err != nil {
		return nil, hint.New(fmt.Errorf("copy tare's binary into pod %s: %w", p.pod.Name, err),
			cmpHint(err, "the image needs sh, head, wc, chmod, mv and sleep"))
	}
	if err := p.fill(ctx, data); err != nil {
		return nil, err
	}
	return p, p.join(ctx, g)
}

// cmpHint is the remedy of an error, or else another one.
func cmpHint(err error, other string) string {
	if h := hint.Of(err); h != "" {
		return h
	}
	return other
}

// dir is where the data is in the pod.
func (p *farPod) dir() string { return filepath.Join(kube.VolumeDir, dataDir(p.spec)) }

// lasting is what the pod's first process is to remove before it ends: data on a
// volume that may be there afterwards.
func (p *farPod) lasting() string {
	if !outlives(p.spec.Volume) {
		return ""
	}
	return p.dir()
}

// exec runs this binary in the pod, beside its first process.
func (p *farPod) exec(ctx context.Context, s kube.Streams, args []string) error {
	return p.cluster.Exec(ctx, p.pod.Namespace, p.pod.Name, s, append([]string{p.spec.Exe()}, args...)...)
}

// fillBound is how long a pod may take nothing of a data set: where its volume is on a
// network, the end of a large file waits until all of it is there.
const fillBound = 10 * time.Minute

// fill sends the data set into the pod's volume.
func (p *farPod) fill(ctx context.Context, data string) error {
	r, w := io.Pipe()
	go func() {
		if data == "" {
			data = filepath.Join(os.DevNull, "none") // an empty archive
		}
		w.CloseWithError(dirtar.Write(w, data))
	}()
	said, err := p.cluster.Send(ctx, p.pod.Namespace, p.pod.Name, r, fillBound, append([]string{p.spec.Exe()}, agent.FillArgs(p.dir())...)...)
	r.CloseWithError(err)
	if err != nil {
		err = fmt.Errorf("send the data set into pod %s: %w: %s", p.pod.Name, err, said)
		if strings.Contains(said, "permission denied") && p.spec.Volume.Server != "" {
			err = hint.New(err, fmt.Sprintf("the server has to let user %d write there", kube.UserID))
		}
		return err
	}
	return nil
}

// clearBound is how long the first process of a pod may take to remove the data.
const clearBound = time.Minute

// join makes the stream to the pod's first process.
func (p *farPod) join(ctx context.Context, g *launch.Sandbox) error {
	hear, said := io.Pipe()
	in, tell := io.Pipe()
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan struct{})
	g.Undo(func() error {
		if p.lasting() != "" {
			select {
			case <-over: // all that is to be removed is
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
		err := p.exec(lasting, kube.Streams{In: in, Out: said, Err: &words}, agent.JoinArgs(kube.Socket))
		if text := words.String(); err != nil && text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		said.CloseWithError(err)
		in.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	}()
	var err error
	if p.link, err = agent.Connect(ctx, hear, tell, p.lost, p.cluster); err != nil {
		return err
	}
	g.Undo(p.link.Close)
	return nil
}

// lost says what became of the pod whose stream broke.
func (p *farPod) lost() environment.Exit {
	e := lostPod(p.cluster, p.pod)
	if e.Err != nil {
		e.Err = hint.New(fmt.Errorf("%w; %w (%s)", e.Err, agent.ErrBroken, p.pod.Name), hint.Of(e.Err))
	}
	return e
}

// start starts a process in the pod.
func (p *farPod) start(ctx context.Context, proc environment.Process) (environment.Running, error) {
	if !environment.Ended(p.inside) {
		return nil, environment.ErrBusy
	}
	running, err := p.link.Start(ctx, proc, p.dir(), p.bounds)
	if err != nil {
		return nil, err
	}
	p.inside = running
	return running, nil
}
