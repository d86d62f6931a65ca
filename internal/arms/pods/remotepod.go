package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/arms/agent"
	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/arms/stream"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
)

// remotePod is a pod on a node where tare is not. tare copies its binary into the pod, where it
// becomes the first process, the agent, and sends requests over a stream.
type remotePod struct {
	stream.Guest
	cluster *kube.Cluster
	spec    kube.PodSpec
	pod     *corev1.Pod
}

// start creates a pod, sends it the binary and the directory data, and connects to its agent; data
// is empty without a data set.
func (s *podSet) start(ctx context.Context, spec kube.PodSpec, data string) (*remotePod, error) {
	c := s.cluster
	p := &remotePod{cluster: c, spec: spec}
	p.Guest = stream.Guest{
		Machine: podMachine{c, p}, Socket: kube.Socket, Dir: filepath.Join(kube.VolumeDir, dataDir(spec)), Lasting: outlives(spec.Volume), Data: data,
	}
	if s.of.Keep {
		p.Copy = kube.KeptData
	}
	p.spec.AgentArgs = p.AgentArgs()
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
	if err := p.Fill(ctx); err != nil {
		return nil, err
	}
	return p, p.Join(ctx, s.Undo)
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

// podMachine runs tare's binary in the pod, beside the agent.
type podMachine struct {
	*kube.Cluster // hears of silence
	*remotePod
}

var _ stream.Machine = podMachine{}

func (m podMachine) Name() string { return "pod " + m.pod.Name }

func (m podMachine) command(args []string) []string { return append([]string{m.spec.Exe()}, args...) }

func (m podMachine) Run(ctx context.Context, in io.Reader, out io.Writer, args []string) (string, error) {
	var words kube.Said
	err := m.cluster.Exec(ctx, m.pod.Namespace, m.pod.Name, kube.Streams{In: in, Out: out, Err: &words}, m.command(args)...)
	return words.String(), m.refused(err, words.String())
}

func (m podMachine) Send(ctx context.Context, from io.Reader, bound time.Duration, args []string) (string, error) {
	said, err := m.cluster.Send(ctx, m.pod.Namespace, m.pod.Name, from, bound, m.command(args)...)
	return said, m.refused(err, said)
}

// refused adds the remedy where the server of the volume refuses the pod's user; said is what the process printed.
func (m podMachine) refused(err error, said string) error {
	if err != nil && strings.Contains(said, "permission denied") && m.spec.Volume.Server != "" {
		return hint.New(err, fmt.Sprintf("the server has to let user %d write there", kube.UserID))
	}
	return err
}

func (m podMachine) Lost() environment.Exit {
	e := lostPod(m.cluster, m.pod)
	if e.Err != nil {
		e.Err = hint.New(fmt.Errorf("%w; %w (%s)", e.Err, agent.ErrBroken, m.pod.Name), hint.Of(e.Err))
	}
	return e
}
