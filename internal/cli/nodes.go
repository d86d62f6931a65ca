package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/outside/nodes"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// nodeFlags choose nodes of a cluster: nodes to measure through node helpers, or one node whose pods
// tare controls from this host.
type nodeFlags struct {
	Nodes       []string `group:"kubernetes" hidden:"" placeholder:"NAME" help:"One node: arms in pods run there, controlled from here. With --node-helper: the whole experiment runs on each of these nodes, or on all, one after the other."`
	NodeHelper  bool     `group:"kubernetes" hidden:"" help:"Allow a privileged pod on each of these nodes, through which tare is root on the node's host."`
	HelperImage string   `group:"kubernetes" hidden:"" placeholder:"IMAGE" help:"Image of that pod, by digest, with sh, head, sleep, chmod and wc. Default: any image that the node has."`

	NodeAbout string `hidden:"" placeholder:"FILE"`
}

// throughHelpers says that the whole experiment runs on other hosts, the nodes, through node helpers.
func (f *nodeFlags) throughHelpers() bool { return f.several() || f.NodeHelper }

// several says that there may be more than one node.
func (f *nodeFlags) several() bool { return len(f.Nodes) > 1 || f.everywhere() }

// everywhere says that all nodes of the cluster are measured.
func (f *nodeFlags) everywhere() bool { return slices.Equal(f.Nodes, []string{"all"}) }

// podNode is the node of the pods that are controlled from here; "": none is named.
func (f *nodeFlags) podNode() string {
	if f.throughHelpers() || len(f.Nodes) == 0 {
		return ""
	}
	return f.Nodes[0]
}

// command adds the node of the pods to a command that repeats the run.
func (f *nodeFlags) command(c []string) []string {
	if f.podNode() == "" {
		return c
	}
	return append(c, "--nodes="+f.podNode())
}

// helperArgs are the flags for node helpers as arguments.
func (f *nodeFlags) helperArgs() []string {
	out := []string{"--nodes=" + strings.Join(f.Nodes, ","), "--node-helper"}
	if f.HelperImage != "" {
		out = append(out, "--helper-image="+f.HelperImage)
	}
	return out
}

// rightsCommand is the command (tare plan --rbac) that prints the Kubernetes rights that the run needs.
// It leaves out flags that do not change these rights.
func (f *experimentFlags) rightsCommand(nodes []string, helper bool) string {
	words := []string{"tare", "plan"}
	for _, w := range f.unseededCommand()[2:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "--set" {
			name, _, _ = strings.Cut(value, "=")
		}
		if !slices.Contains([]string{"--budget", "--precision", "--margin", "--scratch", "--pod-image", "--max-cost", "--until-decided", "generations", "unequal"}, name) {
			words = append(words, w)
		}
	}
	words = append(words, "--rbac")
	if helper {
		return hint.Command(append(words, "--node-helper")...)
	}
	if len(nodes) > 0 {
		words = append(words, "--nodes="+strings.Join(nodes, ","))
	}
	return hint.Command(words...)
}

// checkFlags returns an error if a flag about nodes has no effect, or needs another one.
func (f *nodeFlags) checkFlags() error {
	if f.HelperImage != "" && !f.throughHelpers() {
		return &usageError{hint.New(errors.New("--helper-image is about several nodes, and this run is on one"), "name them: --nodes a,b --node-helper, or --nodes all --node-helper"), ""}
	}
	if f.throughHelpers() {
		return f.checkHelper()
	}
	return nil
}

// checkHelper returns an error if the flags do not suffice for a run through node helpers.
func (f *nodeFlags) checkHelper() error {
	switch {
	case !f.NodeHelper:
		return &usageError{hint.New(errors.New("several nodes are measured through a privileged pod on each, in its host's namespaces"), "allow it with --node-helper, run tare on the node itself, or name one node, whose pods are then controlled from here"), ""}
	case f.HelperImage != "" && kube.CheckHelperImage(f.HelperImage) != nil:
		return &usageError{kube.CheckHelperImage(f.HelperImage), ""}
	case len(f.Nodes) == 0:
		return &usageError{hint.New(errors.New("--node-helper, and no node"), "name some: --nodes a,b or --nodes all; kubectl get nodes lists them"), ""}
	}
	return nil
}

// onNodes runs the experiment on nodes of the cluster.
func (r *runCommand) onNodes(c *console, e *experiment.Experiment) error {
	if err := checkKubeconfig(r.Kubeconfig); err != nil {
		return err
	}
	dir, err := resultDir(r.Output, time.Now())
	if err != nil {
		return err
	}
	cluster, err := r.cluster().Connect()
	if err != nil {
		return err
	}
	defer cluster.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	chosen, err := r.choose(ctx, cluster, e)
	if err != nil {
		return err
	}
	job, err := r.job(cluster, e)
	if err != nil {
		return err
	}
	c.noteLeftovers()
	if !r.quiet() && r.Progress != "json" {
		r.cluster().Told(func(m messages.Message) { fmt.Fprintln(c.stderr, "tare: "+c.in.Say(m)) })
	}
	v := &nodeRunner{console: c, job: job, dir: dir, several: len(chosen) > 1, quiet: r.quiet(), interrupts: make(chan struct{}, 2)}
	v.relaySignals(cancel)
	errs := v.runAll(ctx, chosen)
	return r.finishNodes(c, dir, chosen, errs)
}

// choose returns the nodes to measure. It first checks that this user has the rights, and that the
// StorageClasses of the experiment exist.
func (f *nodeFlags) choose(ctx context.Context, cluster *kube.Cluster, e *experiment.Experiment) ([]corev1.Node, error) {
	if err := cluster.MayHelp(ctx, rightsOf(e)...); err != nil {
		return nil, err
	}
	all, err := cluster.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range podsOf(e, nil) {
		if class := p.Class(); class != "" {
			if err := cluster.ClassMissing(ctx, class); err != nil {
				return nil, fmt.Errorf("%w: %w", facts.ErrUnsupported, err)
			}
		}
	}
	names := f.Nodes
	if f.everywhere() {
		names = nil
	}
	chosen, err := kube.FindNodes(all, names)
	if err != nil {
		err = hint.New(fmt.Errorf("%w: %w", facts.ErrUnsupported, err), hint.Of(err)) // as for a node of pods
	}
	return chosen, err
}

// job describes the run on a node; it is the same for every node.
func (r *runCommand) job(cluster *kube.Cluster, e *experiment.Experiment) (nodes.Job, error) {
	j := nodes.Job{
		Cluster: cluster, Image: r.HelperImage, Files: map[string][]byte{}, StateDir: journal.StateDir(),
		Command: slices.Concat(r.experimentFlags.unseededCommand(), r.nodeFlags.helperArgs()), Deadline: nodeDeadline(e.Budget), Rights: rightsOf(e),
		Guard: guard,
	}
	there := r.experimentFlags               // as the node needs them
	there.Kubeconfig, there.Context = "", "" // files and names of this host
	if _, preset := experiment.Preset(there.Experiment); there.Experiment != "" && !preset {
		name, src, err := findExperiment(there.Experiment)
		if err != nil {
			return j, err
		}
		there.Experiment = filepath.Base(name)
		j.Files[there.Experiment] = src
	}
	j.Args = there.unseededCommand()[2:] // without "tare run"
	if r.Seed != "" {
		j.Args = append(j.Args, "--seed="+r.Seed)
	}
	if r.quiet() {
		j.Args = append(j.Args, "--quiet")
	} else if r.Progress == "json" {
		j.Args = append(j.Args, "--progress=json")
	}
	if r.Beside {
		j.Args = append(j.Args, "--force")
	}
	return j, nil
}

// guard starts the process that undoes the journal of a run when this process is killed.
func guard(run string) (dismiss func(), err error) {
	g, err := launch.NewGuard(journal.StateDir(), run, nil)
	if err != nil {
		return nil, err
	}
	return g.Dismiss, nil
}

// nodeDeadline is the longest time of a run on a node; then the helper ends it. A run may take longer
// than its budget, because servers take time to start and blocks that have begun are finished.
func nodeDeadline(budget time.Duration) time.Duration { return 2*budget + 30*time.Minute }

// nodeRunner measures nodes, one after the other.
type nodeRunner struct {
	*console
	job     nodes.Job
	dir     string
	several bool
	quiet   bool

	interrupts chan struct{} // the first two signals, for the node that is being measured
	signals    atomic.Int32
}

// relaySignals relays signals to the run on the node. The first signal ends that run with a report,
// the second without. The third cancels the context: tare cleanup must restore the node then.
func (v *nodeRunner) relaySignals(cancel context.CancelFunc) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, child.Ending()...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed pipe must not end tare
	go func() {
		for range signals {
			if v.signals.Add(1) > 2 {
				cancel()
				continue
			}
			v.interrupts <- struct{}{}
		}
	}()
}

func (v *nodeRunner) runAll(ctx context.Context, chosen []corev1.Node) []error {
	errs := make([]error, len(chosen))
	for i := range chosen {
		errs[i] = v.runOne(ctx, &chosen[i])
	}
	return errs
}

func (v *nodeRunner) runOne(ctx context.Context, n *corev1.Node) error {
	if v.signals.Load() > 0 {
		return &signalError{syscall.SIGINT, fmt.Errorf("node %s: %w", n.Name, nodes.ErrInterrupted)}
	}
	out := &relayed{to: v.stderr}
	if v.events {
		out.event = n.Name
	} else if v.several {
		out.prefix = n.Name + ": "
	}
	defer out.flush()
	if !v.quiet {
		fmt.Fprintln(out, v.text("nodes.enter", "node", n.Name))
	}
	err := v.job.Run(ctx, n, out, filepath.Join(v.dir, n.Name), v.interrupts)
	if errors.Is(err, nodes.ErrInterrupted) || ctx.Err() != nil {
		return &signalError{syscall.SIGINT, err}
	}
	return err
}

// finishNodes prints the results of all nodes that have one, and then their comparison. errs are the
// errors of the runs, by node.
func (r *runCommand) finishNodes(c *console, dir string, chosen []corev1.Node, errs []error) error {
	var measured []analysis.OfNode
	var left []record.Left
	var answers []error
	for i, n := range chosen {
		at := filepath.Join(dir, n.Name)
		if _, err := os.Stat(filepath.Join(at, record.RecordFile)); err == nil {
			result, effects, err := r.show(c, at)
			if err != nil {
				errs[i] = errors.Join(errs[i], err)
			} else {
				answers = append(answers, r.limitError(c, result, effects))
				measured = append(measured, analysis.OfNode{Name: n.Name, Dir: n.Name, Manifest: result.Manifest, Effects: effects})
				continue
			}
		}
		if errs[i] != nil {
			left = append(left, record.Left{Arm: n.Name, Reason: record.InProse(errs[i].Error()), Remedy: record.InProse(hint.Of(errs[i]))})
		}
	}
	err := errors.Join(errs...)
	if len(chosen) < 2 || len(measured) == 0 {
		if err == nil {
			return worstAnswer(answers)
		}
		return err
	}
	side := compareNodes(dir, measured, left)
	return errors.Join(err, side.write(), side.print(c, r.Format), worstAnswer(answers))
}
