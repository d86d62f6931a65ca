package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/experiment"
)

type presetsCommand struct {
	List presetsList `cmd:"" default:"1" hidden:"" help:"List the experiments that come with tare."`
	Show presetsShow `cmd:"" help:"Print a preset as YAML, every default filled in, as a start for your own."`
}

func (presetsCommand) Help() string {
	return "Examples:\n\n  tare presets\n  tare run mysql-colocation\n  tare presets show quick > mine.yaml"
}

type presetsList struct{}

func (presetsList) Run(c *console) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 3, ' ', 0)
	for _, name := range experiment.Presets() {
		e, err := parsePreset(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%s\n", name, e.Title)
	}
	return w.Flush()
}

type presetsShow struct {
	Name string `arg:"" help:"Name of the preset."`
}

func (presetsShow) Help() string {
	return "Examples:\n\n  tare presets show quick > mine.yaml\n  tare run mine.yaml"
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
