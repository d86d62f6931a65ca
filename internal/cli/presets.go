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
		if lacks, some := packagesFor(e); len(lacks) > 0 {
			here = "no"
			if some {
				here = "in part"
			}
			line := "apt-get install " + strings.Join(lacks, " ")
			missing[line] = append(missing[line], name)
		} else if onlyPods(e) {
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
	present, src, ok := experiment.Preset(name)
	if !ok {
		err := fmt.Errorf("no preset %q%s", name, likePreset(name))
		return nil, &usageError{err, "tare presets"}
	}
	return experiment.Parse(present+".yaml", src, catalog.Words())
}
