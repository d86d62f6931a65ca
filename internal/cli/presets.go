package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/experiment"
)

type presetsCommand struct {
	List presetsList `cmd:"" default:"1" hidden:"" help:"List the experiments that come with tare."`
	Show presetsShow `cmd:"" help:"Print a preset as YAML, every default filled in, as a start for your own."`
}

func (presetsCommand) Help() string {
	return "Examples:\n\n  tare presets\n  tare run mysql-colocation\n  tare presets show quick > mine.yaml\n\n" + exitCodes("printed", exitError, exitUsage)
}

type presetsList struct{}

func (presetsList) Run(c *console) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "PRESET\tTAKES\tHERE\tQUESTION\n")
	names := experiment.Presets()
	slices.SortStableFunc(names, func(a, b string) int { return first(a) - first(b) })
	missing := map[string][]string{} // presets, by the command that installs their packages
	for _, name := range names {
		e, err := parsePreset(name)
		if err != nil {
			return err
		}
		here := "yes"
		if lacks := packagesFor(e); len(lacks) > 0 {
			here = "no"
			line := "apt-get install " + strings.Join(lacks, " ")
			missing[line] = append(missing[line], name)
		} else if len(podsOf(e, nil)) > 0 {
			here = "with a Kubernetes node"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, quantity.Duration(e.Budget.Seconds()), here, e.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range slices.Sorted(maps.Keys(missing)) {
		c.say("\n%s: %s", strings.Join(missing[line], ", "), line)
	}
	return nil
}

// first sorts the preset for beginners before the others.
func first(preset string) int {
	if preset == "quick" {
		return 0
	}
	return 1
}

// packagesFor finds the packages that this host lacks for an experiment.
func packagesFor(e *experiment.Experiment) (packages []string) {
	for _, n := range needsOf(e) {
		if n.Missing(context.Background()) != nil && !slices.Contains(packages, n.Package) {
			packages = append(packages, n.Package)
		}
	}
	return packages
}

// needsOf finds the programs that the loads of an experiment need.
func needsOf(e *experiment.Experiment) (all []serve.Need) {
	kinds := catalog.Plan(nil)
	for _, w := range e.Workloads {
		kind, ok := kinds.Workload(w.Kind)
		if !ok {
			continue
		}
		values, err := workload.Complete(kind, w.Params)
		if err != nil {
			continue
		}
		if stages, err := kind.Stages(values); err == nil {
			all = append(all, stages.Needs...)
		}
	}
	return all
}

type presetsShow struct {
	Name string `arg:"" help:"Name of the preset."`
}

func (presetsShow) Help() string {
	return "Examples:\n\n  tare presets show quick > mine.yaml\n  tare run mine.yaml\n\n" + exitCodes("printed", exitError, exitUsage)
}

func (p presetsShow) Run(c *console) error {
	e, err := parsePreset(p.Name)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(e.Annotated(catalog.Words()))
	return err
}

func parsePreset(name string) (*experiment.Experiment, error) {
	src, ok := experiment.Preset(name)
	if !ok {
		err := fmt.Errorf("no preset %q%s", name, likePreset(name))
		return nil, &usageError{err, "tare presets"}
	}
	return experiment.Parse(name+".yaml", src, catalog.Words())
}
