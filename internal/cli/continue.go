package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

// continueRun adds launches to the record of a result. It checks all reasons to refuse before it
// changes anything.
func (r *runCommand) continueRun(c *console) error {
	dir := strings.TrimRight(r.Continue, "/")
	earlier, err := run.Reopen(dir)
	if err != nil {
		return cannotContinue(dir, err)
	}
	lock, held := alone(dir, r.Beside)
	if held != nil && !(errors.Is(held, hostlock.ErrHeld) && hasPods(earlier.Result.Plan)) {
		return errors.Join(held, earlier.Close())
	}
	defer lock.Release()
	c.warnOfPrograms()
	p, host, m, err := r.planFurther(earlier.Result)
	if err == nil {
		err = c.heldHere(lock, host, held)
	}
	if err != nil {
		return errors.Join(err, earlier.Close())
	}
	programs, err := sameFiles(earlier.Result, p)
	if err != nil {
		return errors.Join(err, earlier.Close())
	}
	if err := r.ready(p, dir, host.Groups, fewer); err != nil {
		all := refusals{}
		all.add(err, earlier.Close(), programs.Close())
		return all.err()
	}
	c.noteLeftovers()
	show := c.progress(p, r.progressFlags)
	show.start(p, dir)
	r.cluster().Told(func(m messages.Message) { show.say(c.in.Say(m)) })
	out, err := measure(run.Config{Warnings: withShared(sharedLines(p), r.cluster().Warnings), Plan: p, Dir: dir, Groups: host.Groups, Manifest: m, Programs: programs, Earlier: earlier, Progress: show.event}, show, c.in)
	return r.finish(c, out, err)
}

// hasPods says whether an arm of a plan is a pod.
func hasPods(p record.Plan) bool {
	return slices.ContainsFunc(p.Workloads, func(w record.Workload) bool {
		return slices.ContainsFunc(w.Arms, func(a record.Arm) bool { _, ok := podOf(a.Environment, nil); return ok })
	})
}

// sameFiles identifies the programs of the plan and refuses those whose content is not that of the result's.
func sameFiles(was *record.Result, p *plan.Plan) (*run.Programs, error) {
	programs, err := run.Identify(p)
	if err != nil || len(was.Manifest.Files) == 0 {
		return programs, err
	}
	if err := programs.DiffersFrom(was.Manifest.Files); err != nil {
		err = fmt.Errorf("cannot continue %s: %w", was.Dir, err)
		return nil, errors.Join(&usageError{err, "tare run measures anew; or install the file of the result again, which manifest.json names under files"}, programs.Close())
	}
	return programs, nil
}

// takeClusterFlags takes the flags about the cluster and its nodes from command, the command of the
// result, unless they are given now.
func (r *runCommand) takeClusterFlags(command []string) {
	for _, word := range command {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "--kubeconfig":
			r.Kubeconfig = cmp.Or(r.Kubeconfig, value)
		case "--context":
			r.Context = cmp.Or(r.Context, value)
		case "--namespace":
			r.Namespace = cmp.Or(r.Namespace, value)
		case "--pod-image":
			r.PodImage = cmp.Or(r.PodImage, value)
		case "--nodes":
			if len(r.Nodes) == 0 {
				r.Nodes = strings.Split(value, ",")
			}
		}
	}
}

// cannotContinue is the error about a result that cannot be continued. If the directory has no record,
// the remedy names the newest result in the working directory.
func cannotContinue(dir string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, record.ErrNoRecord):
		if err := adviceGiven(dir); err != nil {
			return err
		}
		if info, serr := os.Stat(dir); serr != nil || !info.IsDir() {
			err = noResult(dir)
		}
		err := fmt.Errorf("cannot continue: %w", err)
		if newest := newestResult(); newest != "" {
			return &usageError{err, "the newest result here: tare run --continue " + newest}
		}
		return &usageError{err, "tare run -o DIR makes a result"}
	case errors.Is(err, record.ErrDamaged), errors.Is(err, record.ErrNewer):
		return fmt.Errorf("cannot continue: %w", readable(err))
	}
	return &usageError{fmt.Errorf("cannot continue: %w", err), "tare report " + dir}
}

// planFurther returns the plan for the launches that are added to the result was, or the reason why
// the result cannot be continued.
func (r *runCommand) planFurther(was *record.Result) (p *plan.Plan, host facts.Host, m record.Manifest, err error) {
	refuse := func(err error, remedy string) error {
		return &usageError{fmt.Errorf("cannot continue %s: %w", was.Dir, err), remedy}
	}
	switch {
	case was.Manifest.Imported != nil:
		return p, host, m, refuse(errors.New("another tool measured it"), "tare run")
	case was.Manifest.Schema == "" || len(was.Lines) == 0:
		return p, host, m, refuse(errors.New("its record is empty"), "tare run")
	case was.Manifest.Host.Helper != nil:
		return p, host, m, refuse(fmt.Errorf("it was measured on node %s through a node helper", was.Manifest.Host.Helper.Node),
			"tare run --nodes "+was.Manifest.Host.Helper.Node+" --node-helper measures anew; tare compare DIR DIR compares")
	}
	r.takeClusterFlags(was.Plan.Command)
	e, err := r.sameExperiment(was)
	if err != nil {
		return p, host, m, err
	}
	if host, err = inspectHost(e, r.Volume, r.cluster(), r.podNode()); err != nil {
		return p, host, m, err
	}
	m = manifest(host, time.Now())
	if d := hostDiffers(was.Manifest, m); d != "" {
		return p, host, m, refuse(fmt.Errorf("this host or this version of tare is not that of the result: %s", d), "tare run measures anew; tare compare DIR DIR compares")
	}
	if p, err = plan.Build(e, catalog.Plan(r.cluster()), host, was.Plan.Command); err != nil {
		return p, host, m, err
	}
	leaveOutUninstalled(p)
	leaveOutLonely(p)
	p.ShareAs(was.Plan)
	r.recall(p, programsFound{})
	if d := armsDiffer(was.Plan, p.Record); d != "" {
		return p, host, m, refuse(fmt.Errorf("the arms on this host are not those of the result: %s", d), "tare plan says why")
	}
	return p, host, m, nil
}

// sameExperiment returns the experiment of the result with the budget of this run. Flags may repeat
// settings of the experiment, but only the budget may differ.
func (r *runCommand) sameExperiment(was *record.Result) (*experiment.Experiment, error) {
	words := catalog.Words()
	old, err := experiment.Parse(was.Plan.Experiment+".yaml", []byte(was.Plan.Source), words)
	if err != nil {
		err = fmt.Errorf("cannot continue %s: its experiment is not one of this version of tare: %w", was.Dir, err)
		return nil, &usageError{err, ""}
	}
	e := old
	if r.Experiment != "" || r.Command != "" {
		if e, err = r.parse(words); err != nil {
			return nil, err
		}
	} else if e, err = experiment.Parse(was.Plan.Experiment+".yaml", []byte(was.Plan.Source), words); err != nil {
		return nil, err
	}
	if err := r.apply(e, words); err != nil {
		return nil, err
	}
	if err := sameLimits(was.Dir, old.Limits, e.Limits); err != nil {
		return nil, err
	}
	budget := e.Budget
	e.Budget, old.Seed = old.Budget, was.Plan.Seed
	e.Seed = cmp.Or(e.Seed, old.Seed)
	d := firstDifference(old, e)
	if e.Seed != old.Seed {
		d = fmt.Sprintf("its seed is %d, and --seed says %d", old.Seed, e.Seed)
	}
	if d != "" {
		err := fmt.Errorf("cannot continue %s: %s", was.Dir, d)
		return nil, &usageError{err, "tare run --continue " + was.Dir + " --budget 3m, and nothing else"}
	}
	e.Budget = budget
	return e, nil
}

// firstDifference describes the first line in which two experiments differ; empty if they are the same.
func firstDifference(was, is *experiment.Experiment) string {
	a, b := settingsOf(was), settingsOf(is)
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("it is of another experiment, with %s where this one has %s", cmp.Or(x, "nothing"), cmp.Or(y, "nothing"))
		}
	}
	return ""
}

// settingsOf are the lines of an experiment as YAML, without comments and empty lines.
func settingsOf(e *experiment.Experiment) (lines []string) {
	for line := range strings.Lines(string(e.YAML())) {
		setting, _, _ := strings.Cut(line, " #")
		if setting = strings.TrimSpace(setting); setting != "" && !strings.HasPrefix(setting, "#") {
			lines = append(lines, setting)
		}
	}
	return lines
}

// hostDiffers lists the differences of host, version of tare and user that forbid to continue a result;
// empty: there are none.
func hostDiffers(was, is record.Manifest) string {
	var all []string
	differ := func(what, was, is string) {
		if was != is {
			all = append(all, fmt.Sprintf("%s %q there, %q here", what, was, is))
		}
	}
	for _, d := range was.Host.Differences(is.Host) {
		differ(said.English(d.Name), d.Before, d.After)
	}
	differ("tare", was.Tare, is.Tare)
	differ("user", was.User, is.User)
	return strings.Join(all, ", ")
}

// armsDiffer lists the arms that only one of two plans has, as WORKLOAD/ARM; empty: none.
func armsDiffer(was, is record.Plan) string {
	arms := func(p record.Plan) (all []string) {
		for _, w := range p.Workloads {
			for _, a := range w.Arms {
				all = append(all, w.Name+"/"+a.Name)
			}
		}
		return all
	}
	a, b := arms(was), arms(is)
	var all []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			all = append(all, "no "+x+" here")
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			all = append(all, "no "+x+" there")
		}
	}
	for i := range min(len(was.Workloads), len(is.Workloads)) {
		for _, x := range was.Workloads[i].Arms {
			for _, y := range is.Workloads[i].Arms {
				if x.Name == y.Name && x.RunsAs != y.RunsAs {
					all = append(all, fmt.Sprintf("%s/%s runs as %q there and as %q here", is.Workloads[i].Name, x.Name, x.RunsAs, y.RunsAs))
				}
			}
		}
	}
	return strings.Join(all, ", ")
}
