package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/run"
	"github.com/tarelab/tare/record"
)

// goOn adds launches to a record. Whatever speaks against it is found before
// anything is changed.
func (r *runCommand) goOn(c *console) error {
	dir := strings.TrimRight(r.Continue, "/")
	earlier, err := run.Reopen(dir)
	if err != nil {
		instead := "tare report " + dir
		if errors.Is(err, record.ErrNoRecord) {
			instead = "tare run -o " + dir
		}
		return &usageError{fmt.Errorf("cannot continue: %w", err), instead}
	}
	lock, err := alone(dir, r.Beside)
	if err != nil {
		return errors.Join(err, earlier.Close())
	}
	defer lock.Release()
	c.warnOfUsers()
	p, host, m, err := r.further(earlier.Result)
	if err != nil {
		return errors.Join(err, earlier.Close())
	}
	if err := roomy(p, dir, host.Groups); err != nil {
		return errors.Join(err, earlier.Close())
	}
	if host.PodNode != "" { // what follows is measured there
		lock.Release()
	}
	c.noteLeftovers()
	show := c.progress(p, r.Quiet)
	show.start(p, dir)
	r.cluster().Told(show.say)
	out, err := measure(run.Config{Warnings: r.cluster().Warnings, Plan: p, Dir: dir, Lock: lock, Groups: host.Groups, Manifest: m, Earlier: earlier, Progress: show.event}, show)
	return r.finish(c, out, err)
}

// reach takes the flags from the command of a record that say where its pods are and how
// they are reached. A flag that is given now comes first.
func (r *runCommand) reach(command []string) {
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

// further is the plan of what is added to a result, or why it cannot be.
func (r *runCommand) further(was *record.Result) (p *plan.Plan, host environment.Host, m record.Manifest, err error) {
	refuse := func(err error, remedy string) error {
		return &usageError{fmt.Errorf("cannot continue %s: %w", was.Dir, err), remedy}
	}
	switch {
	case was.Manifest.Imported != nil:
		return p, host, m, refuse(errors.New("another tool measured it"), "tare run")
	case was.Manifest.Schema == "" || len(was.Lines) == 0:
		return p, host, m, refuse(errors.New("it ended before it began"), "tare run")
	case was.Manifest.Host.Helper != nil:
		return p, host, m, refuse(fmt.Errorf("it was measured on node %s through a node helper", was.Manifest.Host.Helper.Node),
			"tare run --nodes "+was.Manifest.Host.Helper.Node+" --node-helper measures anew; tare compare DIR DIR compares")
	case r.elsewhere() || r.Output != "":
		return p, host, m, &usageError{errors.New("--continue cannot be combined with -o, --node-helper or several nodes"), "tare run --help"}
	}
	r.reach(was.Plan.Command)
	e, err := r.again(was)
	if err != nil {
		return p, host, m, err
	}
	if host, err = inspectHost(e, r.cluster(), r.away()); err != nil {
		return p, host, m, err
	}
	m = manifest(host, time.Now())
	if d := hostDiffers(was.Manifest, m); d != "" {
		return p, host, m, refuse(fmt.Errorf("this is not the host, or not the tare, of its record: %s", d), "tare run measures anew; tare compare DIR DIR compares")
	}
	if p, err = plan.Build(e, catalog.Plan(r.cluster()), host, was.Plan.Command); err != nil {
		return p, host, m, err
	}
	if d := armsDiffer(was.Plan, p.Record); d != "" {
		return p, host, m, refuse(fmt.Errorf("this host can no longer have what it measured, or has more: %s", d), "tare plan says why")
	}
	return p, host, m, nil
}

// again is the experiment of a record with the time of this run. Flags may repeat
// it, and change nothing of it but the time.
func (r *runCommand) again(was *record.Result) (*experiment.Experiment, error) {
	words := catalog.Words()
	old, err := experiment.Parse(was.Plan.Experiment+".yaml", []byte(was.Plan.Source), words)
	if err != nil {
		return nil, fmt.Errorf("the experiment in %s: %w", was.Dir, err)
	}
	e := old
	if r.Experiment != "" || r.Command != "" {
		if e, err = r.base(words); err != nil {
			return nil, err
		}
	} else if e, err = experiment.Parse(was.Plan.Experiment+".yaml", []byte(was.Plan.Source), words); err != nil {
		return nil, err
	}
	if err := r.apply(e, words); err != nil {
		return nil, err
	}
	budget := e.Budget
	e.Budget, old.Seed = old.Budget, was.Plan.Seed
	e.Seed = cmp.Or(e.Seed, old.Seed)
	if d := firstDifference(string(old.YAML()), string(e.YAML())); d != "" {
		err := fmt.Errorf("cannot continue %s: it is of another experiment: %s", was.Dir, d)
		return nil, &usageError{err, "tare run --continue " + was.Dir + " --budget TIME, and nothing else"}
	}
	e.Budget = budget
	return e, nil
}

// firstDifference is the first line in which two experiments differ; empty: none.
func firstDifference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = strings.TrimSpace(a[i])
		}
		if i < len(b) {
			y = strings.TrimSpace(b[i])
		}
		if x != y {
			return fmt.Sprintf("%q there, %q here", x, y)
		}
	}
	return ""
}

// hostDiffers says in what two hosts, or the programs that measured, differ; empty:
// in nothing that a result rests on.
func hostDiffers(was, is record.Manifest) string {
	a, b := was.Host, is.Host
	var all []string
	for _, f := range []struct{ what, was, is string }{
		{"name", a.Name, b.Name}, {"kernel", a.Kernel, b.Kernel}, {"architecture", a.Arch, b.Arch},
		{"CPU", a.CPUModel, b.CPUModel}, {"CPUs", fmt.Sprint(a.CPUs), fmt.Sprint(b.CPUs)},
		{"memory in bytes", fmt.Sprint(a.Memory), fmt.Sprint(b.Memory)}, {"virtualisation", a.Virtual, b.Virtual},
		{"control groups", a.Cgroup, b.Cgroup}, {"governor", a.Governor, b.Governor},
		{"distribution", a.Distro, b.Distro}, {"tare", was.Tare, is.Tare}, {"user", was.User, is.User},
	} {
		if f.was != f.is {
			all = append(all, fmt.Sprintf("%s %q there, %q here", f.what, f.was, f.is))
		}
	}
	if !maps.Equal(a.Mitigations, b.Mitigations) {
		all = append(all, "mitigations of the CPU")
	}
	return strings.Join(all, ", ")
}

// armsDiffer says in which workloads the arms of two plans differ.
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
	return strings.Join(all, ", ")
}
