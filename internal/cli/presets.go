package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
)

type presetsCommand struct {
	List presetsList `cmd:"" default:"1" help:"List the experiments that come with tare."`
	Show presetsShow `cmd:"" help:"Print a preset: its arms and loads in words, then all of it as YAML for a file of your own."`

	Schema presetsSchema `cmd:"" help:"Print the JSON schema of experiment files, for an editor without network."`
}

func (presetsCommand) Help() string {
	return "Examples:\n\n  tare presets\n  tare run mysql-colocation\n  tare presets show quick > mine.yaml"
}

func (presetsCommand) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

type presetsList struct{}

// first sorts the preset for beginners before the others.
func first(preset string) int {
	if preset == experiment.Quick {
		return 0
	}
	return 1
}

func (presetsList) Run(c *console) error {
	p := newSheet(c)
	names := experiment.Presets()
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(questionOf(a)-questionOf(b), first(a)-first(b)) })
	longest, host := 0, inspect.Host("/")
	for _, name := range names {
		longest = max(longest, len(name))
	}
	asked := -1
	for _, name := range names {
		e, err := parsePreset(name)
		if err != nil {
			return err
		}
		if q := questionOf(name); q != asked {
			p.heading(c.in.Static(questions[q].title))
			asked = q
		}
		lead := fmt.Sprintf("  %-*s  %6s  ", longest, name, quantity.Duration(e.Budget.Seconds()))
		p.entry(lead, len(lead), c.in.Static(e.Title))
		p.entry(strings.Repeat(" ", len(lead)), len(lead), hereOrNot(c.in, e, host))
	}
	p.heading(c.text("presets.run"))
	return p.flush()
}

// hereOrNot says whether an experiment runs on this host, and with which programs; or how it would.
func hereOrNot(in messages.Catalog, e *experiment.Experiment, host facts.Host) string {
	lacks, some := packagesFor(e)
	install := "apt-get install " + strings.Join(lacks, " ")
	programs := each(programsOf(e), in.Static)
	switch {
	case len(lacks) > 0 && some:
		return in.Text("presets.part", "command", install)
	case len(lacks) > 0:
		return in.Text("presets.needs", "names", programs, "command", install)
	case onlyPods(e):
		return in.Text("presets.node")
	}
	if !host.Container.IsZero() {
		return in.Text("presets.not", "name", e.Name)
	}
	switch err := impossible(e, host); {
	case err != nil && !host.Root:
		return in.Text("presets.root", "name", e.Name)
	case err != nil:
		return in.Text("presets.not", "name", e.Name)
	}
	if len(programs) > 0 {
		return in.Text("presets.here.with", "names", programs)
	}
	return in.Text("presets.here")
}

// impossible is the error about a host on which no arm of an experiment can run.
func impossible(e *experiment.Experiment, host facts.Host) error {
	host.Volumes = volume.Supports(host, e.Volumes()...)
	p, err := plan.Build(e, catalog.Plan(&pods.Target{}), host, nil)
	if err != nil {
		return err
	}
	return worthwhile(p)
}

// programsOf are the programs that the workloads of an experiment need.
func programsOf(e *experiment.Experiment) (names []string) {
	for _, w := range e.Workloads {
		for _, n := range needsOf(w) {
			if !slices.Contains(names, n.Name()) {
				names = append(names, n.Name())
			}
		}
	}
	return names
}

// packagesFor are the packages that this host lacks for an experiment; some says that it lacks
// none for some of the workloads.
func packagesFor(e *experiment.Experiment) (packages []string, some bool) {
	for _, w := range e.Workloads {
		complete := true
		for _, n := range needsOf(w) {
			if n.Missing(context.Background()) == nil {
				continue
			}
			complete = false
			if !slices.Contains(packages, n.Package) {
				packages = append(packages, n.Package)
			}
		}
		some = some || complete
	}
	return packages, some
}

// needsOf are the programs that a workload needs.
func needsOf(w experiment.Workload) []serve.Need {
	kind, ok := catalog.Plan(nil).Workload(w.Kind)
	if !ok {
		return nil
	}
	values, err := workload.Complete(kind, w.Params)
	if err != nil {
		return nil
	}
	stages, err := kind.Stages(values)
	if err != nil {
		return nil
	}
	return stages.Needs
}

// onlyPods says that an experiment compares environments, of which all but the host are pods.
func onlyPods(e *experiment.Experiment) bool {
	others := slices.DeleteFunc(slices.Clone(e.Named), func(a experiment.ArmSpec) bool { return a.Environment == experiment.Baseline })
	return len(others) > 0 && !slices.ContainsFunc(others, func(a experiment.ArmSpec) bool {
		_, pod := podOf(a.Environment, nil)
		return !pod
	})
}

type presetsShow struct {
	Name string `arg:"" help:"Name of the preset."`
}

func (presetsShow) Help() string {
	return "Examples:\n\n  tare presets show quick > mine.yaml\n  tare run mine.yaml"
}

func (presetsShow) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

func (p presetsShow) Run(c *console) error {
	e, err := parsePreset(p.Name)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(append([]byte(forEditors()+inWords(c.in, e)), e.Annotated(catalog.Words())...))
	return err
}

// experimentSchema is the name of the schema of experiment files.
const experimentSchema = "experiment"

// forEditors is a line with which the YAML language server (redhat-developer/yaml-language-server) finds the schema.
func forEditors() string {
	return "# yaml-language-server: $schema=" + hint.Schema(experimentSchema) + "\n"
}

type presetsSchema struct{}

func (presetsSchema) Help() string {
	return "Examples:\n\n  tare presets schema > experiment.json"
}

func (presetsSchema) exits() []codeMeaning {
	return exitCodes("printed", exitError, exitUsage)
}

func (presetsSchema) Run(c *console) error {
	return export.Object(c.stdout, experiment.Schema(hint.Schema(experimentSchema), catalog.Words()))
}

func parsePreset(name string) (*experiment.Experiment, error) {
	src, ok := experiment.Preset(name)
	if !ok {
		err := fmt.Errorf("no preset %q%s", name, likePreset(name))
		return nil, &usageError{err, "tare presets"}
	}
	return experiment.Parse(name+".yaml", src, catalog.Words())
}

// inWords describes an experiment as comments of YAML: loads, neighbours, arms, and whether it runs here.
func inWords(in messages.Catalog, e *experiment.Experiment) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(strings.TrimRight("# "+text, " ") + "\n") }
	table := func(head string, rows [][2]string) {
		line("")
		line(head)
		longest := leastName
		for _, r := range rows {
			longest = max(longest, len(r[0]))
		}
		for _, r := range rows {
			line(fmt.Sprintf("  %-*s %s", longest, r[0], r[1]))
		}
	}
	line(in.Text("join.colon", "subject", e.Name, "what", in.Static(e.Title)))
	line(in.JoinAll("join.semicolon", quantity.Duration(e.Budget.Seconds()), hereOrNot(in, e, inspect.Host("/"))))
	table(in.Text("presets.loads"), loadsInWords(in, e))
	table(in.Text("presets.arms", "baseline", e.Workloads[0].Baseline), armsInWords(in, e))
	b.WriteString("\n")
	return b.String()
}

// leastName is the least width of the names in a table of inWords.
const leastName = 18

// loadsInWords has name and description of each load and neighbour.
func loadsInWords(in messages.Catalog, e *experiment.Experiment) (all [][2]string) {
	for _, w := range e.Workloads {
		title := w.Kind
		if kind, ok := catalog.Workload(w.Kind); ok {
			title = said.Text(in, kind.Title())
		}
		if w.Optional {
			title = in.Text("join.remark", "subject", title, "what", in.Text("presets.named", "name", w.Name))
		}
		all = append(all, [2]string{w.Name, title})
	}
	for _, n := range e.Neighbours {
		all = append(all, [2]string{n.Name, in.Text("presets.neighbour", "kind", n.Kind)})
	}
	return all
}

// armsInWords has name and description of each arm.
func armsInWords(in messages.Catalog, e *experiment.Experiment) (all [][2]string) {
	if len(e.Named) == 0 {
		for _, r := range catalog.Rungs(nil) {
			if w := e.Arms; len(w) == 0 && !r.OnlyByName || slices.Contains(w, r.Name()) {
				all = append(all, [2]string{r.Name(), said.Text(in, r.Title())})
			}
		}
		return all
	}
	described := map[string]bool{}
	for _, a := range e.Named {
		text := a.Environment
		if env, err := catalog.Plan(nil).Rung(a.Environment); err == nil && !described[env.Name()] {
			text, described[env.Name()] = said.Text(in, env.Title()), true
		}
		parts := []string{text}
		for _, setting := range a.Settings() {
			parts = append(parts, said.Text(in, experiment.SettingTitle(setting)))
		}
		for _, k := range slices.Sorted(maps.Keys(a.Set)) {
			parts = append(parts, k+"="+a.Set[k])
		}
		if a.Neighbour != "" {
			parts = append(parts, in.Text("presets.beside", "neighbour", a.Neighbour))
		}
		if len(a.Isolation) > 0 {
			parts = append(parts, in.Text("presets.with", "isolation", in.JoinAll("presets.and", a.Isolation...)))
		}
		all = append(all, [2]string{a.Name, in.JoinAll("join.comma", parts...)})
	}
	return all
}
