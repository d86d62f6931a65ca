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

// Job is an experiment that is to run on nodes.
type Job struct {
	Cluster *kube.Cluster
	// Image of the helper; empty: one that the node has.
	Image string
	// Args of tare run, and the Files that they name, by base name.
	Args  []string
	Files map[string][]byte
	// Command is what repeats the run.
	Command []string
	// Deadline ends the run on the node whatever happens.
	Deadline time.Duration
	StateDir string // of the client's journals
	// Rights are those of tare on the node beyond what every run with pods needs, for
	// each of the experiment's pods; none without pods.
	Rights []kube.Rights
	// Guard starts what takes back the journal of a run when this process is killed, and
	// returns its end.
	Guard func(run string) (dismiss func(), err error)
}

// ExitError is tare on a node that ended with a code other than 0. What was
// wrong it has said itself.
type ExitError struct {
	Node string
	Code int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("tare on node %s ended with exit code %d", e.Node, e.Code)
}

// removeBound is how long the cluster may take to remove a helper.
const removeBound = 3 * time.Minute

// helper is the helper of one node.
type helper struct {
	Job
	node *corev1.Node
	spec kube.HelperSpec
	stay order
}

// Run runs the job on a node: what tare says there goes to said, its record into
// dir, each value of interrupts interrupts it as Ctrl-C would. The helper is gone
// when it returns. Ending ctx leaves everything to tare cleanup.
func (j Job) Run(ctx context.Context, n *corev1.Node, said io.Writer, dir string, interrupts <-chan struct{}) (err error) {
	h, err := j.helper(n)
	if err != nil {
		return err
	}
	way, err := journal.Open(j.StateDir, h.spec.Run)
	if err != nil {
		return err
	}
	remove, err := way.Record(j.Cluster.NamespaceStep(h.spec.Run), func() error {
		bounded, cancel := context.WithTimeout(ctx, removeBound)
		defer cancel()
		return j.Cluster.RemoveHelper(bounded, h.spec.Run)
	})
	if err != nil {
		return errors.Join(err, way.Close())
	}
	dismiss, err := j.Guard(h.spec.Run)
	if err != nil {
		return errors.Join(fmt.Errorf("guard the run: %w", err), remove(), way.Close())
	}
	defer dismiss()
	err = h.measure(ctx, said, dir, interrupts)
	if ctx.Err() != nil {
		return errors.Join(err, way.Close())
	}
	removeErr := remove()
	if removeErr != nil {
		removeErr = hint.New(fmt.Errorf("remove the helper of node %s: %w", n.Name, removeErr), "tare cleanup")
	}
	return errors.Join(err, removeErr, way.Close())
}

func (j Job) helper(n *corev1.Node) (*helper, error) {
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
	h.stay = order{
		Run: h.spec.Run, NodeRun: h.spec.NodeRun, Node: n.Name, Image: image, Args: j.Args, Files: j.Files, Command: j.Command,
		Server: server, Deadline: j.Deadline, Kubelet: n.Status.NodeInfo.KubeletVersion, Runtime: n.Status.NodeInfo.ContainerRuntimeVersion,
	}
	return h, err
}

func newID() string { return strings.ToLower(rand.Text()[:8]) }

// measure makes the helper, and has it run the job.
func (h *helper) measure(ctx context.Context, said io.Writer, dir string, interrupts <-chan struct{}) error {
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
	return h.run(ctx, said, dir, interrupts)
}

// ErrInterrupted is an interrupt before tare ran on the node.
var ErrInterrupted = errors.New("interrupted")

// interruptible is a context that an interrupt ends; stop says whether one did.
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

// copySelf puts this binary into the helper's pod.
func (h *helper) copySelf(ctx context.Context) error {
	if err := h.Cluster.CopyIntoHelper(ctx, h.spec, selfInPod); err != nil {
		return fmt.Errorf("copy this binary into the helper: %w", err)
	}
	return nil
}

// run has tare run on the node, and takes its record.
func (h *helper) run(ctx context.Context, said io.Writer, dir string, interrupts <-chan struct{}) error {
	h.stay.Dir = dir
	in, lifeline := io.Pipe()
	over := make(chan struct{})
	defer func() { close(over); lifeline.Close() }() // also when a word is on its way
	go h.talk(lifeline, interrupts, over)
	said = &oneByOne{to: said}
	watched, give := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watch(watched, said, give) })
	err := h.receive(watched, dir, kube.Streams{In: in, Err: said}, wordRun)
	give(nil) // no other cause any more
	watching.Wait()
	var code *kube.ExitError
	var away *awayError
	switch {
	case errors.As(context.Cause(watched), &away):
		return away
	case errors.As(err, &code):
		return &ExitError{h.node.Name, code.Code}
	case err == nil || ctx.Err() != nil:
		return err
	}
	fmt.Fprintf(said, "tare: the connection to node %s is lost (%v): its tare ends, and its record is fetched when the cluster is back\n", h.node.Name, err)
	return errors.Join(fmt.Errorf("node %s: the connection was lost: %w", h.node.Name, err), h.fetch(ctx, said, dir))
}

// receive executes a word in the helper and unpacks what that sends.
func (h *helper) receive(ctx context.Context, dir string, s kube.Streams, words ...string) error {
	return unpack(dir, func(to io.Writer) error {
		s.Out = to
		return h.Cluster.Exec(ctx, kube.NamespaceOf(h.spec.Run), kube.HelperName, s, append([]string{selfInPod, Command, wordEnter}, words...)...)
	})
}

// talk says what to do, and then that the client is there.
func (h *helper) talk(to *io.PipeWriter, interrupts <-chan struct{}, over <-chan struct{}) {
	defer to.Close()
	text, err := json.Marshal(h.stay)
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

// fetch gets the record after the connection was lost, as soon as the cluster
// answers; through another pod where the helper's is gone.
func (h *helper) fetch(ctx context.Context, said io.Writer, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, collectBound)
	defer cancel()
	for {
		err := os.RemoveAll(dir)
		if err == nil {
			err = h.receive(ctx, dir, kube.Streams{Err: said}, wordCollect, h.stay.NodeRun)
		}
		var code *kube.ExitError
		if err == nil || errors.As(err, &code) {
			return err
		}
		made, replaceErr := h.Cluster.ReplaceHelper(ctx, h.spec)
		if made {
			fmt.Fprintf(said, "tare: the helper of node %s is gone; another one fetches the record\n", h.node.Name)
			replaceErr = h.copySelf(ctx)
		}
		if replaceErr != nil {
			return fmt.Errorf("fetch the record of node %s: %w", h.node.Name, errors.Join(err, replaceErr))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("fetch the record of node %s: %w", h.node.Name, err)
		case <-time.After(time.Second):
		}
	}
}
