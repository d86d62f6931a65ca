package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tarelab/tare/internal/analysis/calibrate"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

type calibrateCommand struct {
	Budget duration   `default:"10m" aliases:"duration,time" placeholder:"10m" help:"Time of the whole calibration."`
	Seed   uint64     `placeholder:"N" help:"Seed for the planted losses and the order of the arms."`
	Output newDir     `short:"o" group:"output" placeholder:"DIR" help:"Result directory, which tare creates. Default: tare-result-DATE-TIME here."`
	Format planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
	Beside bool       `name:"force" group:"output" hidden:"" help:"Calibrate although another run is active (noisier)."`
	progressFlags
}

func (calibrateCommand) Help() string {
	return `Plants losses of known size (none, 1, 2, 5 and 10 %) on arms in random order: by pauses of the load, by more work for each operation, and by a CPU quota of the kernel, which needs root. The analysis is told nothing. What was measured then stands beside what was planted: how often the interval holds it, how often a difference is claimed where there is none, and the smallest loss that this host shows in 1, 3 and 10 minutes. tare run mentions the last calibration of this host. Ctrl-C ends it early and prints what is there.

A CPU quota costs the load what was planted only where a whole CPU is free for it: on a host that is short of CPU time the losses by quota come out too small. Those of 1 and 2 % come out as about 0.4 and 1.6 %: slices of CPU time outlive the period of a quota.

Examples:

  tare calibrate
  tare calibrate --budget 30m -o r
  tare calibrate --format json | jq .smallest`
}

func (calibrateCommand) exits() []codeMeaning {
	return exitCodes("measured", exitError, exitUsage, exitUnsupported, exitBusy, exitInterrupted, exitTerminated)
}

func (k *calibrateCommand) checkFlags() error { return k.checkProgress() }

func (k *calibrateCommand) Run(c *console) error {
	if k.Seed == 0 {
		k.Seed = rand.Uint64N(1 << 53)
	}
	planted := calibrate.Plant(k.Seed)
	text := calibrate.Experiment(planted, k.Seed, time.Duration(k.Budget))
	e, err := experiment.Parse("calibration.yaml", text, catalog.Words())
	var problems experiment.Problems
	if errors.As(err, &problems) { // the budget is the only part that the user chose
		return &usageError{fmt.Errorf("--budget: %s", problems[0].Text), "tare calibrate --help"}
	}
	if err != nil {
		return err
	}
	dir, lock, err := aloneInto(k.Output, k.Beside)
	if err != nil {
		return err
	}
	defer lock.Release()
	c.warnOfUsers()
	host, err := inspectHost(e, nil, nil, "")
	if err != nil {
		return err
	}
	p, err := plan.Build(e, catalog.Plan(nil), host, nil)
	if err != nil {
		return err
	}
	if err := new(experimentFlags).ready(p, dir, host.Groups, "a longer --budget"); err != nil {
		return err
	}
	p.Record.Command = []string{"tare", "calibrate", "--budget=" + time.Duration(k.Budget).String(), fmt.Sprintf("--seed=%d", k.Seed)}
	c.noteLeftovers()
	show := blind{c.progress(p, k.progressFlags)}
	show.start(p, dir)
	m := manifest(host, time.Now())
	out, err := measure(run.Config{Plan: p, Dir: dir, Groups: host.Groups, Manifest: m, Progress: show.event}, show, c.in)
	return k.finish(c, planted, out, err)
}

// duration is a flag with a time and its unit, as in experiments.
type duration time.Duration

func (d *duration) UnmarshalText(b []byte) error {
	x, err := experiment.ParseDuration(string(b))
	*d = duration(x)
	return err
}

// blind is a display without effects, which would show which arm loses what before the end.
type blind struct{ progress }

func (b blind) event(e run.Event) {
	e.Arms = nil
	b.progress.event(e)
}

func (blind) measured(*record.Manifest, record.Workload, []record.Line) {}

// finish prints and stores what was measured, also after an interrupted calibration.
func (k *calibrateCommand) finish(c *console, planted []calibrate.Planted, out run.Outcome, err error) error {
	var forced *forcedError
	switch {
	case out.Reason == "": // ended before it began
		return err
	case errors.As(err, &forced):
		return &forced.signalError
	}
	err = notRestored(c, out, err)
	result, effects, rerr := analyse(out.Dir)
	if rerr != nil {
		return errors.Join(err, rerr)
	}
	answer := calibrate.Judge(effects, planted)
	answer.Tare, answer.Started = result.Manifest.Tare, result.Manifest.Started
	if !anyBlock(effects) || answer.Covered.Of == 0 {
		nothing := hint.New(errors.New("nothing was measured: no block is complete"), "a longer --budget; tare doctor says how busy this host is")
		return errors.Join(err, nothing)
	}
	err = errors.Join(err, c.writeEffects(result, effects), calibrate.Keep(journal.StateDir(), answer), k.print(c, answer))
	c.noteResults(out.Dir, true)
	return err
}

func (k *calibrateCommand) print(c *console, a *record.Calibration) error {
	if k.Format == "json" {
		return export.Object(c.stdout, a)
	}
	return report.Print(c.stdout, c.reports().Calibration(a), c.look(report.Options{}))
}
