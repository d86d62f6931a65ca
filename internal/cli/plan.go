package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/outside/kube"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

type planCommand struct {
	experimentFlags
	Format  planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
	Verbose bool       `short:"v" group:"output" help:"Each arm, parameter and change of this host."`
	RBAC    bool       `name:"rbac" group:"kubernetes" hidden:"" help:"tare plan only: print the rights that this user needs, as a file that an administrator applies."`

	NodeHelper bool     `group:"kubernetes" hidden:"" help:"Allow a privileged pod on each of these nodes."`
	Nodes      []string `group:"kubernetes" hidden:"" placeholder:"NAME" help:"The nodes, as in tare run."`
}

// planFormat is the value of --format of plan.
type planFormat string

func (f *planFormat) UnmarshalText(b []byte) error {
	return oneOf((*string)(f), string(b), f.words()...)
}

func (planFormat) words() []string { return []string{"text", "json"} }

func (planCommand) Help() string {
	return `Prints the time, the loads and arms, what is skipped and why, the changes that a run would make to this host, and the launches and the precision to expect by earlier runs here. Nothing is changed.

Examples:

  tare plan
  tare plan mine.yaml --arms host,container
  tare plan -v
  tare plan --format json | jq .changes

Flags for pods and nodes: tare help kubernetes.`
}

func (planCommand) exits() []codeMeaning {
	return exitCodes("planned", exitError, exitUsage, exitUnsupported, exitInterrupted, exitTerminated)
}

func (p *planCommand) Run(c *console) error {
	e, _, err := p.load()
	if err != nil {
		return err
	}
	on := nodeFlags{Nodes: p.Nodes, NodeHelper: p.NodeHelper && !p.RBAC}
	p.cluster().Rights = p.rightsCommand(p.Nodes, p.NodeHelper)
	if on.throughHelpers() {
		if err := p.onlyHere(); err != nil {
			return err
		}
		return p.onNodes(c, &on, e)
	}
	if p.RBAC {
		return p.printRights(c, e, on.podNode())
	}
	c.warnOfPrograms()
	host, err := inspectHost(e, p.Volume, p.cluster(), on.podNode())
	if err != nil {
		return err
	}
	built, err := p.plan(e, host)
	if err != nil {
		return err
	}
	if err := p.ready(built, "", host.Groups, fewer); err != nil {
		return err
	}
	built.Record.Command = on.command(p.command(built.Record.Seed))
	if p.Format == "json" {
		return export.Object(c.stdout, planJSON{built.Record, built.Left, asJSON(changes(built)), built.Expected().Seconds(), leastDeciding(built)})
	}
	return c.printPlan(built, e.Title, doctor.OwnLimit(host), p.Verbose)
}

// onNodes makes the checks in the cluster that a run through node helpers makes before it begins.
func (p *planCommand) onNodes(c *console, on *nodeFlags, e *experiment.Experiment) error {
	if p.Format == "json" {
		return &usageError{errors.New("--format json is for the plan of one host, and only tare on a node knows what it can have"), "on the node: tare plan --format json"}
	}
	if err := on.checkHelper(); err != nil {
		return err
	}
	if err := checkKubeconfig(p.Kubeconfig); err != nil {
		return err
	}
	cluster, err := p.cluster().Connect()
	if err != nil {
		return err
	}
	defer cluster.Close()
	chosen, err := on.choose(context.Background(), cluster, e)
	if err != nil {
		return err
	}
	lines := []string{c.text("plan.nodes", "name", e.Name, "time", quantity.Duration(e.Budget.Seconds()))}
	for i := range chosen {
		image, err := kube.OwnImage(&chosen[i])
		if err != nil {
			return err
		}
		lines = append(lines, c.text("plan.nodes.ready", "node", chosen[i].Name, "image", image))
	}
	_, err = fmt.Fprintln(c.stdout, strings.Join(append(lines, c.text("plan.nodes.more")), "\n"))
	return err
}

// printRights prints the rights that arms in pods on a node need.
func (p *planCommand) printRights(c *console, e *experiment.Experiment, node string) error {
	more := rightsOf(e)
	p.cluster().PodNode = node
	p.cluster().Ask(facts.Host{})
	if p.NodeHelper {
		more = append(more, kube.HelperRights)
	} else if p.cluster().Elsewhere() != "" {
		more = append(more, kube.FarRights)
	}
	whom := kube.For{User: p.cluster().Whom(context.Background()), Experiment: e.Name}
	text, err := kube.RBAC(whom, more...)
	if p.Namespace != "" && !p.NodeHelper {
		text, err = kube.SharedRBAC(whom, p.Namespace, more...)
	}
	if err == nil {
		_, err = fmt.Fprint(c.stdout, export.Terminal(string(text)))
	}
	return err
}

// rightsOf has an entry for each pod of an experiment: the rights that it needs beyond those
// of every run with pods. nil: the experiment has no pods.
func rightsOf(e *experiment.Experiment) []kube.Rights {
	var all []kube.Rights
	for _, p := range podsOf(e, nil) {
		all = append(all, p.Rights())
	}
	return all
}

// podsOf finds the environments of an experiment that are pods.
func podsOf(e *experiment.Experiment, on *pods.Target) []pods.Pod {
	var words []string
	add := func(volume string, environments ...string) {
		for _, w := range environments {
			words = append(words, plan.OnVolumeOfPod(w, volume))
		}
	}
	add(e.Volume, e.Arms...)
	for i := range e.Workloads {
		add(e.Volume, e.Workloads[i].Arms...)
		for _, a := range e.ArmsOf(&e.Workloads[i]) {
			add(cmp.Or(a.Volume, e.Volume), a.Environment)
		}
	}
	for _, n := range e.Neighbours {
		words = append(words, n.Environment)
	}
	var all []pods.Pod
	for _, w := range words {
		if p, ok := podOf(w, on); ok {
			all = append(all, p)
		}
	}
	return all
}

// podOf returns the environment of a word if it is a pod.
func podOf(word string, on *pods.Target) (pods.Pod, bool) {
	r, err := catalog.Plan(on).Rung(word)
	p, ok := r.Environment.(pods.Pod)
	return p, err == nil && ok
}

// planJSON is the plan as --format json prints it.
type planJSON struct {
	record.Plan
	Left     []record.Left `json:"left_out"`
	Changes  []armChanges  `json:"changes"`
	Expected float64       `json:"expected_seconds"`
	// Deciding is the least budget with enough launches for verdicts; nil: the experiment fixes too few, or of a load
	// nothing is known.
	Deciding *float64 `json:"least_deciding_seconds"`
}

func leastDeciding(p *plan.Plan) *float64 {
	d, ok := p.Deciding()
	if !ok || len(p.Unknown()) > 0 {
		return nil
	}
	seconds := d.Seconds()
	return &seconds
}

func scratchDir(p *plan.Plan, id string) string {
	return filepath.Join(cmp.Or(p.Scratch, inspect.DefaultScratch), "tare-"+id)
}

// percent formats a ratio as the flags accept it.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 4, 64) + " %" }

func params(values map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if values[k] != "" {
			out = append(out, k+"="+values[k])
		}
	}
	return out
}
