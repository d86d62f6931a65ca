package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/doctor"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/environment/inspect"
	"github.com/tarelab/tare/internal/environment/kube"
	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/run"
	"github.com/tarelab/tare/record"
)

type runCommand struct {
	experimentFlags
	nodeFlags
	Output string `short:"o" group:"output" placeholder:"DIR" help:"Result directory, made anew. Without it: tare-result-DATE-TIME here."`
	Format format `group:"output" default:"text" placeholder:"FORM" help:"Form of the report on standard output: text, html, json, jsonl, markdown, csv, openmetrics or bencher."`
	Quiet  bool   `short:"q" name:"no-progress" group:"output" help:"No progress on standard error."`
}

func (runCommand) Help() string {
	return `Launches every arm of every workload, lets them take turns, and compares each with the baseline. The host is left as it was found; Ctrl-C ends a run early and prints what is there.

Examples:

  tare run
  tare run --workload commit --scratch /mnt/disk -o r
  tare run --budget 10m --precision 0.5% --arms cgroup,container
  tare run --command './bench' --arms cgroup,container
  tare run mine.yaml --set rpc.concurrency=8 --format json > effects.json
  tare run --nodes a,b --node-helper

Exit codes: 0 measured, 1 error, 2 wrong usage or experiment, 5 this host cannot do it, 130 and 143 ended by Ctrl-C and SIGTERM.`
}

func (r *runCommand) Run(c *console) error {
	e, _, err := r.load()
	if err != nil {
		return err
	}
	if r.elsewhere() {
		return r.onNodes(c, e)
	}
	about, err := r.about()
	if err != nil {
		return err
	}
	host, err := inspectHost(e, r.away())
	if err != nil {
		return err
	}
	p, err := plan.Build(e, catalog.Plan(), host, nil)
	if err != nil {
		return err
	}
	if err := worthwhile(p); err != nil {
		return err
	}
	p.Record.Command = about.command(r.nodeFlags.command(r.experimentFlags.command(p.Record.Seed)), p.Record.Seed)
	dir, err := resultDir(r.Output, time.Now())
	if err != nil {
		return err
	}
	if about == nil {
		c.noteLeftovers()
	}
	show := c.progress(p, r.Quiet)
	show.start(p, about.where(dir))
	out, err := execute(run.Config{
		ID: newID(), Plan: p, Dir: dir, StateDir: journal.StateDir(), Groups: host.Groups,
		Manifest: about.manifest(manifest(host, time.Now())), Probes: catalog.Probes(),
		Decide: decide(p.Record), Keep: analysis.Kept, Progress: show.event,
	}, show)
	show.end()
	if about != nil {
		return about.finish(c, out, err)
	}
	return r.finish(c, out, err)
}

// finish prints the results, whatever ended the run, and says how it ended.
func (r *runCommand) finish(c *console, out run.Outcome, err error) error {
	if out.Reason == "" { // ended before it began
		return err
	}
	var forced *forcedError
	if errors.As(err, &forced) {
		return &forced.signalError
	}
	_, _, aerr := r.show(c, out.Dir, false)
	return errors.Join(notRestored(c, out, err), aerr)
}

// show analyses and prints what is in a result directory. Of one of several
// nodes no page is printed: theirs together follows.
func (r *runCommand) show(c *console, dir string, several bool) (*record.Result, *record.Effects, error) {
	result, err := readResult(dir)
	var effects *record.Effects
	if err == nil {
		effects, err = analysis.Analyse(result)
	}
	if err != nil {
		c.noteResults(dir, false)
		return result, effects, err
	}
	err = keep(result, effects) // on a full disk the report is printed all the same
	kept := err == nil
	switch {
	case r.Format == "html" && several:
	case r.Format == "html":
		err = errors.Join(err, page(c.stdout, result, effects))
	case measured(effects) || r.Format.program():
		err = errors.Join(err, c.print(r.Format, effects))
	}
	c.noteResults(dir, kept && measured(effects))
	return result, effects, err
}

// notRestored tells of a way back that failed, which never decides about a
// finished measurement; other errors it returns.
func notRestored(c *console, out run.Outcome, err error) error {
	if err != nil && finished(out) {
		c.fail(hint.New(fmt.Errorf("the host is not restored: %w", err), "tare cleanup"))
		return nil
	}
	return err
}

// measured says whether there is anything that people would want to read.
func measured(e *record.Effects) bool {
	for _, w := range e.Workloads {
		if w.Blocks > 0 {
			return true
		}
	}
	return e.Dropped.Of > 0
}

// keep writes the effects into the result directory, as --format json has them,
// and the page of them.
func keep(r *record.Result, e *record.Effects) error {
	var b bytes.Buffer
	if err := report.JSON(&b, e); err != nil {
		return err
	}
	if err := record.WriteFile(r.Dir, record.EffectsFile, b.Bytes()); err != nil {
		return err
	}
	_, err := writePage(r.Dir, r, e)
	return err
}

// finished says that the measurement came to its end.
func finished(out run.Outcome) bool { return out.Reason == "precision" || out.Reason == "budget" }

// decide looks at the effects so far for the run.
func decide(p record.Plan) func(record.Workload, []record.Line) run.Decision {
	return func(w record.Workload, lines []record.Line) run.Decision {
		s := analysis.Running(w, lines, p.Precision, p.Margin)
		d := run.Decision{Stop: s.Done, Lengthen: s.Opaque, Why: s.Why}
		for _, a := range s.Arms {
			d.Arms = append(d.Arms, run.Running(a))
		}
		return d
	}
}

// resultDir is a directory that is not there yet or is empty.
func resultDir(given string, at time.Time) (string, error) {
	if given == "" {
		name := at.Format("tare-result-2006-01-02-150405")
		for n := 2; ; n++ { // another run began in the same second
			if _, err := os.Lstat(name); err != nil {
				return name, nil
			}
			name = fmt.Sprintf("%s-%d", at.Format("tare-result-2006-01-02-150405"), n)
		}
	}
	entries, err := os.ReadDir(given)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(entries) == 0:
		return given, nil
	case err != nil:
		return "", &usageError{fmt.Errorf("result directory: %w", err), ""}
	}
	err = fmt.Errorf("result directory %s is not empty", given)
	return "", &usageError{err, "name another one with -o, or remove it; tare report " + given + " prints the result in it"}
}

// newID names a run: it is part of the names of everything that it makes.
func newID() string { return strings.ToLower(rand.Text()[:8]) }

// inspectHost finds out what this host and user can have for the experiment, whose
// pods are on the node away, if one is named.
func inspectHost(e *experiment.Experiment, away string) (h environment.Host, err error) {
	kube.Access.Away = away
	if pods := podsOf(e); len(pods) > 0 {
		h.Away = kube.Away()
	} else if away != "" {
		return h, &usageError{hint.New(errors.New("--nodes, and no arm of the experiment is a pod"),
			"name some: --arms besteffort,guaranteed; or measure the node itself: --node-helper"), ""}
	}
	if kube.Access.Namespace != "" && h.Away == "" {
		return h, &usageError{hint.New(errors.New("--namespace is for pods whose node tare is not on"),
			"name that node: --nodes NAME; pods on this host have a namespace of their own"), ""}
	}
	node := h.Away
	if e.Scratch == "" {
		h = inspect.Host("/")
	} else {
		if e.Scratch, err = scratchAt(e.Scratch); err != nil {
			return h, err
		}
		h = inspect.HostAt("/", e.Scratch)
	}
	h.Away = node
	return h, nil
}

// manifest is what is known before the run; the run adds what it reads back.
func manifest(host environment.Host, started time.Time) record.Manifest {
	m := record.Manifest{Schema: record.ManifestSchema, Started: started.UTC(),
		Tare: version(), Versions: map[string]string{}, Host: doctor.Facts("/")}
	if u, err := user.Current(); err == nil {
		m.User = u.Username
	}
	for name, tool := range host.Tools {
		if tool.Version != "" {
			m.Versions[name] = tool.Version
		}
	}
	return m
}
