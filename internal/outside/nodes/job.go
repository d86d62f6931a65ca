package nodes

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Job is an experiment that runs on nodes.
type Job struct {
	Cluster *kube.Cluster
	// Image is the image of the helper's pod; empty: an image that the node has (kube.OwnImage).
	Image string
	// Args are the arguments of tare run, Files the files that they name, by base name.
	Args  []string
	Files map[string][]byte
	// Command has the arguments that repeat the run.
	Command []string
	// Deadline ends the run on the node, counted from its start.
	Deadline time.Duration
	StateDir string // of the client's journals
	// Rights has an entry for each pod of the experiment: the rights that it needs in addition to
	// the rights of every run with pods. Empty: the experiment has no pods.
	Rights []kube.Rights
	// Guard starts a process that undoes the journal of a run if this process is killed. dismiss
	// ends that process.
	Guard func(run string) (dismiss func(), err error)
}

// ExitError means that tare on a node ended with a code other than 0. That tare has already printed
// its error.
type ExitError struct {
	Node string
	Code int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("tare on node %s ended with exit code %d", e.Node, e.Code)
}

// lostError means that the client did not receive the whole result of a node.
type lostError struct {
	node string
	err  error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("the result of node %s is lost: %v; tare there ends the run and restores the node", e.node, e.err)
}

func (e *lostError) Unwrap() error {
	return hint.New(e.err, "measure the node again: --nodes "+e.node+" --node-helper; if it failed, tare cleanup when it is back (kubectl describe node "+e.node+")")
}

// removeBound is how long the client waits until the node is restored and the cluster
// has removed the helper.
const removeBound = 3 * time.Minute

// helper is the helper of one node.
type helper struct {
	Job
	node  *corev1.Node
	spec  kube.HelperSpec
	order order
}

// Run runs the job on a node. It writes the output of tare there to out, from several goroutines, and
// the result into dir. Each value of interrupts interrupts the run as Ctrl-C does. Before it returns,
// Run removes the helper; only if ctx has ended does it leave that to tare cleanup.
func (j Job) Run(ctx context.Context, n *corev1.Node, out io.Writer, dir string, interrupts <-chan struct{}) (err error) {
	h, err := j.helper(n, dir)
	if err != nil {
		return err
	}
	steps, err := journal.Open(j.StateDir, h.spec.Run)
	if err != nil {
		return err
	}
	var lost bool
	remove, err := steps.Record(j.Cluster.NamespaceStep(h.spec.Run), func() error { return h.remove(ctx, lost) })
	if err != nil {
		return errors.Join(err, steps.Close())
	}
	dismiss, err := j.Guard(h.spec.Run)
	if err != nil {
		return errors.Join(fmt.Errorf("guard the run: %w", err), remove(), steps.Close())
	}
	defer dismiss()
	err = h.measure(ctx, out, interrupts)
	if ctx.Err() != nil {
		return errors.Join(err, steps.Close())
	}
	lost = errors.As(err, new(*lostError))
	removeErr := remove()
	if removeErr != nil {
		removeErr = hint.New(fmt.Errorf("remove the helper of node %s: %w", n.Name, removeErr), "tare cleanup")
	}
	return errors.Join(err, removeErr, steps.Close())
}

func (j Job) helper(n *corev1.Node, dir string) (*helper, error) {
	h := &helper{Job: j, node: n, spec: kube.HelperSpec{
		Run: newID(), NodeRun: newID(), Node: n.Name, Image: j.Image, Arch: n.Status.NodeInfo.Architecture, Deadline: j.Deadline, Pods: len(j.Rights) > 0, More: j.Rights,
	}}
	image := j.Image
	if image == "" {
		var err error
		if h.spec.Own, err = kube.OwnImage(n); err != nil {
			return nil, err
		}
		image = h.spec.Own
	}
	server, err := j.Cluster.Serving()
	h.order = order{
		Run: h.spec.Run, NodeRun: h.spec.NodeRun, Node: n.Name, Image: image, Args: j.Args, Files: j.Files, Command: j.Command, Dir: dir,
		Server: server, Deadline: j.Deadline, Kubelet: n.Status.NodeInfo.KubeletVersion, Runtime: n.Status.NodeInfo.ContainerRuntimeVersion,
	}
	return h, err
}

func newID() string { return strings.ToLower(rand.Text()[:8]) }

// remove removes the helper. lost says that tare on the node has lost its client. Then remove first
// waits: tare there needs the helper's rights in the cluster until it has restored the node.
func (h *helper) remove(ctx context.Context, lost bool) error {
	ctx, cancel := context.WithTimeout(ctx, removeBound)
	defer cancel()
	if lost {
		h.Cluster.AwaitHelperGone(ctx, h.spec.Run)
	}
	return h.Cluster.RemoveHelper(ctx, h.spec.Run)
}

// measure makes the helper, and runs the job in it.
func (h *helper) measure(ctx context.Context, out io.Writer, interrupts <-chan struct{}) error {
	making, stop := interruptible(ctx, interrupts)
	err := h.Cluster.CreateHelper(making, h.spec)
	if err == nil {
		err = h.copySelf(making)
	}
	if stop() {
		return errors.Join(ErrInterrupted, err)
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", h.node.Name, err)
	}
	return h.run(ctx, out, interrupts)
}

// ErrInterrupted means that an interrupt came before tare ran on the node.
var ErrInterrupted = errors.New("interrupted")

// interruptible returns a context that an interrupt cancels. stop cancels it too, and returns whether
// an interrupt came.
func interruptible(ctx context.Context, interrupts <-chan struct{}) (_ context.Context, stop func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	over, was := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-interrupts:
			cancel()
			was <- true
		case <-over:
			was <- false
		}
	}()
	return ctx, func() bool {
		close(over)
		defer cancel()
		return <-was
	}
}

const selfInPod = kube.HelperDir + "/tare"

// copySelf copies this binary into the helper's pod.
func (h *helper) copySelf(ctx context.Context) error {
	if err := h.Cluster.CopyIntoHelper(ctx, h.spec, selfInPod); err != nil {
		return fmt.Errorf("copy this binary into the helper: %w", err)
	}
	return nil
}

// run runs tare on the node and unpacks its result. If the result is incomplete, run removes all of it.
func (h *helper) run(ctx context.Context, out io.Writer, interrupts <-chan struct{}) error {
	in, send := io.Pipe()
	over := make(chan struct{})
	defer func() { close(over); send.Close() }() // talk may be in the middle of a write
	go h.talk(send, interrupts, over)
	watched, giveUp := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watch(watched, out, giveUp) })
	var execErr error
	err := unpack(h.order.Dir, func(to io.Writer) error {
		execErr = h.Cluster.Exec(watched, kube.NamespaceOf(h.spec.Run), kube.HelperName, kube.Streams{In: in, Out: to, Err: out},
			selfInPod, Command, roleEnter, taskRun)
		return execErr
	})
	giveUp(nil) // keeps an earlier cause
	watching.Wait()
	if _, missing := os.Stat(h.order.Dir); err == nil && missing != nil { // a stream can end without an error
		err, execErr = missing, missing
	}
	var code *kube.ExitError
	switch unready := context.Cause(watched); {
	case err == nil:
		return nil
	case errors.As(execErr, &code) && code.Code != codeUnsent:
		return &ExitError{h.node.Name, code.Code}
	case ctx.Err() != nil:
	case execErr == nil: // the result has come, and cannot be written here
		err = fmt.Errorf("node %s: %w", h.node.Name, err)
	case code != nil:
		err = &lostError{h.node.Name, errors.New("it was not sent as a whole")}
	case !errors.Is(unready, context.Canceled):
		err = &lostError{h.node.Name, unready}
	default:
		err = &lostError{h.node.Name, fmt.Errorf("the connection broke: %w", execErr)}
	}
	return errors.Join(err, os.RemoveAll(h.order.Dir))
}

// talk sends the order, and then heartbeats and interrupts until over is closed.
func (h *helper) talk(to *io.PipeWriter, interrupts <-chan struct{}, over <-chan struct{}) {
	defer to.Close()
	text, err := json.Marshal(h.order)
	if err == nil {
		_, err = to.Write(append(text, '\n'))
	}
	every := time.NewTicker(beatEvery)
	defer every.Stop()
	for err == nil {
		select {
		case <-over:
			return
		case <-interrupts:
			_, err = to.Write([]byte{interrupt})
		case <-every.C:
			_, err = to.Write([]byte{beat})
		}
	}
}
