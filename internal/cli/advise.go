package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/measure/advise"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/undo/hostlock"
	"github.com/tarelab/tare/record"
)

type adviseCommand struct {
	experimentFlags
	Output  newDir        `short:"o" group:"output" placeholder:"DIR" help:"Directory of the advice and of the results behind it, which tare creates. Default: tare-advice-DATE-TIME here."`
	Format  compareFormat `group:"output" default:"text" placeholder:"text|markdown|json" help:"Output format."`
	Verbose bool          `short:"v" group:"output" help:"Every candidate with its intervals and settings, why others were skipped, and each stage."`

	Beside bool `name:"force" group:"output" hidden:"" help:"Measure although another run is active (noisier)."`
	progressFlags
}

func (adviseCommand) Help() string {
	return `Says why a load lost, tries what may win it back on this host, and proves the best remedy with fresh launches. Instead of a preset or file it takes a result directory, whose loss it starts from, or an advice directory, which it prints again. Every arm is undone. It sets nothing of yours: -v prints the lines that do, for what runs your load, and the way back.

Examples:

  tare advise colocation               three minutes: loss, candidates, proof
  tare advise mine.yaml --budget 10m -o a
  tare advise r                        from the result in r
  tare advise a -v                     print the advice in a again, with the lines that apply it`
}

func (adviseCommand) exits() []codeMeaning {
	return exitCodes("advised, also that nothing is lost or nothing helps", exitError, exitUsage, exitUnsupported, exitBusy, exitInterrupted, exitTerminated)
}

func (a *adviseCommand) checkFlags() error {
	return cmp.Or(a.checkProgress(), checkVerbose(a.Verbose, format(a.Format)))
}

func (a *adviseCommand) Run(c *console) error {
	if dir := a.directory(); dir != "" {
		return a.ofDirectory(c, dir)
	}
	e, _, err := a.load()
	if err != nil {
		return err
	}
	s := &advise.Search{Bench: bench{a, c}, Catalog: catalog.Plan(a.cluster()), Experiment: e}
	lock, err := a.open(c, s, len(e.Workloads))
	if err != nil {
		return err
	}
	defer lock.Release()
	err = s.First()
	var short *advise.TooShort
	if errors.As(err, &short) {
		return &usageError{hint.New(err, longer), ""}
	}
	if err != nil {
		return err
	}
	return a.prove(c, s)
}

// directory is the directory that the user named in place of a preset or file; empty: none. A preset
// comes before a directory of the same name.
func (a *adviseCommand) directory() string {
	if _, preset := experiment.Preset(a.Experiment); preset || a.Experiment == "" {
		return ""
	}
	dir := resultOf(a.Experiment)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// ofDirectory prints the advice in a directory, or makes one from the result in it.
func (a *adviseCommand) ofDirectory(c *console, dir string) error {
	advice, err := record.ReadAdvice(dir)
	switch {
	case err == nil:
		return a.printAdvice(c, &advice)
	case !errors.Is(err, record.ErrNoRecord):
		return readable(err)
	}
	if err := a.onlyBudget(dir); err != nil {
		return err
	}
	result, effects, err := analyse(dir)
	if err != nil {
		return err
	}
	if result.Manifest.Imported != nil {
		return &usageError{fmt.Errorf("%s: another tool measured it, and nothing of it can be tried here", dir), "tare advise PRESET measures here"}
	}
	s := &advise.Search{Bench: bench{a, c}, Catalog: catalog.Plan(a.cluster())}
	if err := s.From(result, effects, dir); err != nil {
		return err
	}
	if why := a.elsewhere(s, result); !why.IsZero() || len(s.Advice.Losses) == 0 {
		for i := range s.Advice.Losses {
			s.Advice.Losses[i].Standing, s.Advice.Losses[i].Reason = record.StandingSkipped, why
		}
		return a.printAdvice(c, &s.Advice)
	}
	lock, err := a.open(c, s, len(s.Advice.Losses))
	if err != nil {
		return err
	}
	defer lock.Release()
	return a.prove(c, s)
}

// open makes this run the only one on the host and starts its time.
func (a *adviseCommand) open(c *console, s *advise.Search, loads int) (lock *hostlock.Lock, err error) {
	if s.Total, err = a.budgetFor(loads); err != nil {
		return nil, err
	}
	if s.Dir, lock, err = aloneInto(a.adviceDir(), a.Beside); err != nil {
		return nil, err
	}
	c.warnOfUsers()
	c.noteLeftovers()
	s.Open()
	return lock, nil
}

// prove proves a remedy of each loss, and writes and prints the advice.
func (a *adviseCommand) prove(c *console, s *advise.Search) error {
	err := s.Prove()
	var forced *forcedError
	if errors.As(err, &forced) {
		return &forced.signalError
	}
	err = cmp.Or(err, s.Write())
	if perr := a.printAdvice(c, &s.Advice); perr != nil {
		return cmp.Or(err, perr)
	}
	if s.Made {
		c.note("advise.dir", "dir", s.Dir)
	}
	return err
}

// onlyBudget returns an error if flags would change the experiment of a result.
func (a *adviseCommand) onlyBudget(dir string) error {
	for _, s := range a.settings() {
		if s.flag != "budget" {
			return useless("--"+s.flag, "with a result directory: its experiment stays as it is", "leave it out, or name a preset or file instead of "+dir)
		}
	}
	if len(a.Set)+len(a.Workload)+len(a.Volume) > 0 || a.Command != "" {
		return useless("a setting of the experiment", "with a result directory: its experiment stays as it is", "leave it out, or name a preset or file instead of "+dir)
	}
	return nil
}

// elsewhere reads the experiment of a result. It returns the reason why nothing can be tried on this host;
// zero: it can.
func (a *adviseCommand) elsewhere(s *advise.Search, r *record.Result) record.Said {
	var err error
	if s.Experiment, err = experiment.Parse(r.Plan.Experiment+".yaml", []byte(r.Plan.Source), catalog.Words()); err != nil {
		return record.Say("experiment_of_other_version")
	}
	host, err := inspectHost(s.Experiment, nil, a.cluster(), "")
	if err != nil {
		return record.InProse(err.Error())
	}
	if host.PodNode != "" || r.Manifest.Host.Helper != nil {
		return record.Say("arms_on_another_node")
	}
	here := manifest(host, time.Now())
	here.Tare, here.User = r.Manifest.Tare, r.Manifest.User // the stages are not joined with the result
	if d := hostDiffers(r.Manifest, here); d != "" {
		return record.Say("result_of_other_host", "differences", d)
	}
	return record.Said{}
}

// printAdvice prints an advice as text, Markdown or JSON.
func (a *adviseCommand) printAdvice(c *console, advice *record.Advice) error {
	d := c.reports().Advice(advice, a.Verbose)
	var err error
	switch a.Format {
	case "json":
		err = export.Object(c.stdout, advice)
	case "markdown":
		err = report.PrintMarkdown(c.stdout, d)
	default:
		err = report.Print(c.stdout, d, c.look(report.Options{}))
	}
	if err != nil {
		return fmt.Errorf("print the advice: %w", err)
	}
	return nil
}

// adviceDir is the directory of a new advice.
func (a *adviseCommand) adviceDir() newDir {
	return cmp.Or(a.Output, newDir(time.Now().Format("tare-advice-2006-01-02-150405")))
}

// command is the command that repeats the advice.
func (a *adviseCommand) command() []string {
	out := a.unseededCommand()
	out[1] = "advise"
	if dir := a.directory(); dir != "" {
		out[2] = dir
	}
	return out
}

// budgetFor is the time of all stages: the flag, or some minutes for each load.
func (a *adviseCommand) budgetFor(loads int) (time.Duration, error) {
	if a.Budget == "" {
		return time.Duration(max(loads, 1)) * advise.PerLoad, nil
	}
	d, err := experiment.ParseDuration(a.Budget)
	if err != nil {
		return 0, &usageError{hint.New(fmt.Errorf("--budget: %w", err), "--budget 5m"), ""}
	}
	return d, nil
}
