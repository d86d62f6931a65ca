package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/pods"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/catalog"
	"github.com/tarelab/tare/internal/databases/serve"
	"github.com/tarelab/tare/internal/host/doctor"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

type doctorCommand struct {
	Scratch string     `default:"${scratch}" placeholder:"DIR" help:"The directory under test. Default: ${scratch}."`
	Format  planFormat `group:"output" default:"text" placeholder:"text|json" help:"Output format."`
	Verbose bool       `short:"v" group:"output" help:"Every check of the host, every arm, and the noise in detail."`
}

func (doctorCommand) Help() string {
	return `Says what this host is ready for: containers, neighbours, pods; which loads and databases it has; and its noise, measured for two seconds. Each no comes with its reason and remedy; ? is unknown. Nothing is changed.

Examples:

  tare doctor
  tare doctor -v
  tare doctor --scratch /mnt/disk
  tare doctor --format json | jq '.checks[] | select(.answer == "no")'`
}

func (doctorCommand) exits() []codeMeaning {
	return exitCodes("looked, whatever it found", exitError, exitUsage, exitInterrupted, exitTerminated)
}

func (d *doctorCommand) checkFlags() error { return checkVerbose(d.Verbose, format(d.Format)) }

// noiseTime is how long tare doctor watches the noise.
const noiseTime = 2 * time.Second

func (d *doctorCommand) Run(c *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), child.Ending()...)
	defer stop()
	var err error
	if d.Scratch, err = scratchAt(d.Scratch); err != nil {
		return err
	}
	host := inspect.HostAt("/", d.Scratch)
	a := answers(doctor.Facts("/"), doctor.Checks(doctor.Patient{Root: "/", Scratch: d.Scratch, Host: host}))
	p := newSheet(c)
	var werr error
	show := func(print func()) { // prints a part as soon as it is known
		if d.Format == "json" || werr != nil {
			return
		}
		print()
		werr = p.flush()
	}
	if d.Verbose {
		show(func() {
			p.host(a.Host)
			p.checks(a.Checks)
		})
	}
	a.arms(host)
	a.loads()
	show(func() { p.ready(a, d.Verbose) })
	a.Noise, err = doctor.Look(ctx, noiseTime)
	if ctx.Err() != nil {
		return &signalError{syscall.SIGINT, errors.New("interrupted")}
	}
	if err != nil {
		err = fmt.Errorf("look at the noise of this host: %w", err)
	}
	forecast := a.foretell(c, d.Scratch, host)
	a.leftovers()
	if d.Format == "json" {
		return errors.Join(err, export.Object(c.stdout, a))
	}
	show(func() {
		if err == nil {
			p.noise(a.Noise, forecast, d.Verbose)
		}
		p.leftovers(a, d.Verbose)
		if !d.Verbose {
			p.heading(c.text("doctor.all"))
		}
	})
	return errors.Join(err, werr)
}

// doctorSchema is the schema of tare doctor's output.
const doctorSchema = "tare/doctor/v1"

// doctorAnswer is the output of tare doctor.
type doctorAnswer struct {
	Schema    string         `json:"schema"`
	Host      record.Host    `json:"host"`
	Checks    []checkAnswer  `json:"checks"`
	Arms      []checkAnswer  `json:"arms"`
	Loads     []checkAnswer  `json:"loads"`
	Noise     doctor.Noise   `json:"noise"`
	Expected  *expected      `json:"expected,omitempty"`
	Leftovers []leftoverRuns `json:"leftovers"`
	// Unread is the error of reading the leftovers.
	Unread string `json:"leftovers_unknown,omitempty"`
}

// expected is the bracket of the half-widths that a run of an experiment reaches, as ratios.
type expected struct {
	Experiment string  `json:"experiment"`
	Seconds    float64 `json:"seconds"`
	plan.Bracket
}

// foretell sets Expected and returns, in words, the precision to expect of tare run without arguments on
// this host, as tare plan says it.
func (a *doctorAnswer) foretell(c *console, scratch string, host facts.Host) string {
	f := experimentFlags{Scratch: scratch}
	e, _, err := f.load()
	if err != nil {
		return c.text("doctor.none.why", "why", err)
	}
	host.Volumes = volume.Supports(host, e.Volumes()...)
	p, err := f.plan(e, host)
	if err == nil {
		err = worthwhile(p)
	}
	if err != nil {
		return c.text("doctor.none.why", "why", err)
	}
	o := outlookOf(p, a.Noise, c.in)
	if o.expected != nil && !math.IsInf(o.expected.High, 1) {
		a.Expected = &expected{p.Record.Experiment, p.Record.Budget, *o.expected}
	}
	return c.text("plan.run", "name", p.Record.Experiment, "title", o.reach)
}

// checkAnswer is a question with its answer: yes, no or unknown.
type checkAnswer struct {
	Name   string      `json:"name"`
	Title  string      `json:"title"`
	Answer string      `json:"answer"`
	Reason record.Said `json:"reason,omitzero"`
	Remedy record.Said `json:"remedy,omitzero"`
}

type leftoverRuns struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	Live    bool      `json:"live"`
	Pid     int       `json:"pid"`
	Steps   []string  `json:"steps"`
	Damage  string    `json:"damage,omitempty"` // why the journal is kept
}

func answers(host record.Host, checks []doctor.Check) *doctorAnswer {
	a := &doctorAnswer{Schema: doctorSchema, Host: host, Leftovers: []leftoverRuns{}}
	for _, check := range checks {
		a.Checks = append(a.Checks, answerOf(check.Name, check.Title, check.Support))
	}
	return a
}

// arms checks for each environment whether this host can have it. A cluster that does not answer
// takes some seconds.
func (a *doctorAnswer) arms(host facts.Host) {
	on := &pods.Target{} // the cluster of kubectl's own configuration
	rungs := catalog.Rungs(on)
	var asked []pods.Pod
	for _, rung := range rungs {
		if p, ok := rung.Environment.(pods.Pod); ok {
			asked = append(asked, p)
		}
	}
	on.Ask(host, asked...)
	for _, rung := range rungs {
		a.Arms = append(a.Arms, answerOf(rung.Name(), said.English(rung.Title()), rung.Support(host)))
	}
}

// loads checks for each load whether this host has its programs.
func (a *doctorAnswer) loads() {
	for _, kind := range catalog.Workloads() {
		var lacks []serve.Need
		var has []record.Program
		if values, err := workload.Complete(kind, nil); err == nil {
			if stages, err := kind.Stages(values); err == nil {
				lacks = slices.DeleteFunc(slices.Clone(stages.Needs), func(n serve.Need) bool { return n.Missing(context.Background()) == nil })
				for _, n := range stages.Needs {
					if program, ok := n.Program(context.Background()); ok {
						has = append(has, program)
					}
				}
			}
		}
		s := facts.Supported()
		s.Reason = record.InProse(withPaths(has))
		if len(lacks) > 0 {
			err := lacking([]string{kind.Name()}, lacks)
			s = facts.Refused(err)
		}
		a.Loads = append(a.Loads, answerOf(kind.Name(), said.English(kind.Title()), s))
	}
}

func (a *doctorAnswer) leftovers() {
	left, err := journal.Leftovers(journal.StateDir(), catalog.Steps())
	if err != nil {
		a.Unread = err.Error()
	}
	for _, l := range left {
		if !l.Live && len(l.Steps) == 0 && l.Err == nil {
			continue // only the journal is left
		}
		x := leftoverRuns{Run: l.Header.Run, Started: l.Header.Time, Live: l.Live, Pid: l.Header.Pid}
		for _, s := range l.Steps {
			x.Steps = append(x.Steps, s.String())
		}
		if l.Err != nil {
			x.Damage = l.Err.Error()
		}
		a.Leftovers = append(a.Leftovers, x)
	}
}

func answerOf(name, title string, s facts.Support) checkAnswer {
	words := map[facts.Answer]string{facts.Yes: "yes", facts.No: "no", facts.Unknown: "unknown"}
	return checkAnswer{name, title, words[s.Answer], s.Reason, s.Remedy}
}
