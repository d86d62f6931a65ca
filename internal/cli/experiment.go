package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/experiment"
	"github.com/tarelab/tare/internal/hint"
)

// experimentFlags say what to measure. Each flag is a setting of the
// experiment, checked as one.
type experimentFlags struct {
	Experiment string `arg:"" name:"preset|file" optional:"" default:"quick" help:"A preset (see tare presets), a YAML file, or - for standard input. Without it: quick."`

	Budget      string   `group:"experiment" placeholder:"3m" help:"Time of the whole run."`
	Precision   string   `group:"experiment" placeholder:"1%" help:"Wanted half-width of the intervals; a run stops when it has it."`
	Margin      string   `group:"experiment" placeholder:"1%" help:"Smallest effect that matters to you."`
	Seed        string   `group:"experiment" placeholder:"N" help:"Seed of the order of the arms; a run prints the one it used."`
	Workload    []string `group:"experiment" placeholder:"NAME" help:"Only these workloads of the experiment."`
	Arms        []string `group:"experiment" placeholder:"NAME" help:"Only these arms; the baseline and its twin are always there."`
	Volume      string   `group:"experiment" placeholder:"layer|bind" help:"What is under the data: the arm's own root file system, or a directory of the host."`
	Scratch     string   `group:"experiment" placeholder:"DIR" help:"Directory for the data, on the file system under test."`
	Generations string   `group:"experiment" placeholder:"N" help:"Launches of all arms; auto: as the budget allows."`
	Set         []string `group:"experiment" sep:"none" placeholder:"PATH=VALUE" help:"Any setting, for example rpc.concurrency=8 or window=200ms. May be repeated."`
}

// load reads the experiment and applies the flags.
func (f *experimentFlags) load() (*experiment.Experiment, experiment.Words, error) {
	words := catalog.Words()
	name, src, err := find(f.Experiment)
	if err != nil {
		return nil, words, err
	}
	e, err := experiment.Parse(name, src, words)
	if err != nil {
		return nil, words, err
	}
	return e, words, f.apply(e, words)
}

// find reads a preset or a file and says what to call it.
func find(name string) (file string, src []byte, err error) {
	if name == "-" {
		src, err = io.ReadAll(io.LimitReader(os.Stdin, 2<<20))
		return "stdin", src, err
	}
	if src, ok := experiment.Preset(name); ok {
		return name + ".yaml", src, nil
	}
	src, err = os.ReadFile(name)
	switch {
	case err == nil:
		return name, src, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil, &usageError{fmt.Errorf("read the experiment: %w", err), ""}
	case strings.Contains(name, "/"), strings.HasSuffix(name, ".yaml"), strings.HasSuffix(name, ".yml"):
		return "", nil, &usageError{fmt.Errorf("no experiment file %s", name), "tare presets lists the experiments that need no file"}
	}
	err = fmt.Errorf("no preset and no file %q%s", name, hint.DidYouMean(name, experiment.Presets()))
	return "", nil, &usageError{err, "tare presets"}
}

// apply sets what the flags say, --set last, then keeps the chosen workloads.
func (f *experimentFlags) apply(e *experiment.Experiment, words experiment.Words) error {
	var all experiment.Problems
	keep := func(err error, prefix string) {
		var ps experiment.Problems
		errors.As(err, &ps)
		for _, p := range ps {
			p.Text = strings.TrimPrefix(p.Text, prefix)
			all = append(all, p)
		}
	}
	for _, s := range f.settings() {
		keep(e.Apply("--"+s.flag, s.flag, s.value, words), s.flag+": ")
	}
	for _, s := range f.Set {
		keep(e.Set(s, words), "")
	}
	if len(f.Workload) > 0 {
		keep(e.Select("--workload", f.Workload), "")
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// setting is a flag that was given.
type setting struct{ flag, value string }

func (f *experimentFlags) settings() []setting {
	var out []setting
	for _, s := range []setting{
		{"budget", f.Budget}, {"precision", f.Precision}, {"margin", f.Margin}, {"seed", f.Seed},
		{"arms", strings.Join(f.Arms, ",")}, {"volume", f.Volume}, {"scratch", f.Scratch}, {"generations", f.Generations},
	} {
		if s.value != "" {
			out = append(out, s)
		}
	}
	return out
}

// command is the arguments that repeat a run with this seed.
func (f *experimentFlags) command(seed uint64) []string {
	out := []string{"tare", "run", f.Experiment}
	for _, s := range f.settings() {
		if s.flag != "seed" {
			out = append(out, "--"+s.flag+"="+s.value)
		}
	}
	for _, s := range f.Set {
		out = append(out, "--set="+s)
	}
	if len(f.Workload) > 0 {
		out = append(out, "--workload="+strings.Join(f.Workload, ","))
	}
	return append(out, fmt.Sprintf("--seed=%d", seed))
}
