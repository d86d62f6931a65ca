// Package run executes a plan: it launches the arms of each workload, rotates windows over them in
// random order, and records what it observed. It is the only package that sequences. It parses no
// tool's output and computes no statistics: plan chooses the lengths, and the caller hands in the
// function that decides when to stop.
//
// Execute runs on one thread of the operating system that has priority over the loads. Nothing is
// written or drawn while a window is open.
//
// runner is the state of a run, recorder what is recorded of it. loadRun measures one workload of
// it with three parts: schedule (what is measured when, and for how long), launchedSites (the
// processes of one launch) and results (what was measured).
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/undo/ground"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/record"
)

// Config is what a run needs.
type Config struct {
	ID       string // of the run, [a-z0-9]+
	Plan     *plan.Plan
	Dir      string // the result directory, which Execute makes
	StateDir string // the directory of the journal
	Manifest record.Manifest
	// Earlier is the record that this run continues; nil: it begins one.
	Earlier *Earlier
	Groups  *cgroup.Tree // one tree for all arms; nil: this host gives tare no control groups
	Probes  []probe.Probe
	// Decide says from a workload's lines so far whether it is measured well enough. It is
	// called while no window is open.
	Decide func(record.Workload, []record.Line) Decision
	// Condense reduces a line to what Decide needs of it; nil: Decide gets whole lines.
	Condense func(record.Workload, record.Line) record.Line
	// Warnings returns warnings for the end of the record; nil: none.
	Warnings func() []record.Warning
	// Progress is called between windows and must return soon; nil: nobody watches.
	Progress func(Event)
}

// Decision says what to do after a launch.
type Decision struct {
	Stop bool // the wanted precision is reached
	// Lengthen asks for a longer window: the transparency check failed. Why says how it failed.
	Lengthen bool
	Why      string
	Arms     []Running
}

// Running is the effect of an arm so far.
type Running struct {
	Arm   string
	Ratio float64 // arm over baseline
	Half  float64 // half-width of its interval, as a ratio; +Inf: unknown
}

// Event says how far a run is.
type Event struct {
	Workload     string
	Number, Of   int    // of the workload, from 1, and of workloads
	Pass, Passes int    // of this workload; the first of two asks for one arm alone
	Phase        string // "prepare", "launch", "pilot", "measure"
	Arm          string
	Generation   int // number of the launch, from 0
	Block        int
	Blocks       int // in this launch
	Dropped      int // windows
	// Ready counts the loads that have started of Starting; both are 0 in other phases.
	Ready, Starting int
	Arms            []Running
	Elapsed         time.Duration
	Remaining       time.Duration // of the budget
	Note            string
}

// Outcome is how a run ended.
type Outcome struct {
	Reason string // as in record.End
	Dir    string
	// Unwritten is why the end of the record could not be written, NotRestored why the host could
	// not be restored. Both are in the error of Execute too.
	Unwritten, NotRestored error
}

// ErrInterrupted means that the run was cancelled. Its record is complete up to then.
var ErrInterrupted = errors.New("interrupted")

// runner is the state of one run.
type runner struct {
	config  Config
	rec     recorder
	scratch string // the run's own directory on the file system under test
	journal *journal.Journal
	guard   *launch.Guard
	froze   int               // how often the guard had frozen the arms when wasSilent last asked
	undo    journal.UndoStack // of the scratch directory
	watch   reserve.Watch
	ports   ports
	self    selfUse
}

// mostHeap is the size in bytes up to which the Go runtime collects no garbage within a window.
// With the program itself tare stays below 64 MiB.
const mostHeap = 28 << 20

// Execute runs the plan. Whatever happens, the record is on the disk and the host restored when it
// returns. An error of restoring is joined to the other error; it never hides a result.
func Execute(ctx context.Context, c Config) (out Outcome, err error) {
	r := &runner{config: c, rec: recorder{dir: c.Dir, manifest: c.Manifest}}
	out.Dir = c.Dir
	if err := r.open(); err != nil {
		return out, err
	}
	defer r.protect()()
	// Garbage is collected between blocks (betweenBlocks); within a block only where tare would
	// grow beyond mostHeap.
	forgetPeak()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostHeap))

	r.guard.Attend()
	r.watchHost()
	reason, err := r.turns(ctx)
	r.guard.Attend() // restoring has no planned end
	r.wasSilent("")
	out.Reason = reason
	if c.Warnings != nil {
		for _, w := range c.Warnings() {
			r.rec.warn(w)
		}
	}
	r.warnOfControllers()
	end := record.End{Reason: reason, Self: r.self.summary(), Room: r.watch.Lowest()}
	if err != nil && (reason == "error" || reason == record.EndedFull) {
		end.Detail = err.Error()
	}
	out.Unwritten = r.rec.end(end)
	out.NotRestored = r.close()
	return out, errors.Join(err, out.Unwritten, out.NotRestored)
}

// protect gives this thread priority over the loads until undo, and warns of what is missing.
func (r *runner) protect() (undo func()) {
	how, undo, err := sched.Protect()
	if err != nil {
		r.rec.warn(notProtected(err).of("", ""))
	}
	r.rec.manifest.Versions[controllerScheduling] = how
	if why := r.guard.Inside; why != nil && os.Geteuid() == 0 {
		r.rec.warn(notGuarded(why).of("", ""))
	}
	return undo
}

// open makes everything that must exist before the first change of the host.
func (r *runner) open() (err error) {
	if err := r.openRecord(); err != nil {
		return err
	}
	if err := r.beginRecord(); err != nil {
		return err
	}
	defer func() {
		if err != nil { // the record says why the run ended before it measured
			err = errors.Join(err, r.rec.end(record.End{Reason: "error", Detail: err.Error()}), r.rec.writer.Close())
		}
	}()
	if e := r.config.Earlier; e != nil && e.Torn {
		r.rec.warn(tornRecord().of("", ""))
	}
	if r.journal, err = journal.Open(r.config.StateDir, r.config.ID); err != nil {
		return err
	}
	if r.guard, err = launch.NewGuard(r.config.StateDir, r.config.ID, r.config.Groups); err != nil {
		return errors.Join(fmt.Errorf("guard the run: %w", err), r.journal.Close())
	}
	recordStep := func(s journal.Step, back func() error) error { return r.undo.Record(r.journal, s, back) }
	// Others may pass through it: the directory in it of a neighbour, which runs as nobody.
	if r.scratch, err = ground.Make(recordStep, filepath.Join(r.scratchParent(), "tare-"+r.config.ID), 0o711); err != nil {
		err = fmt.Errorf("make the scratch directory: %w", err)
		err = hint.New(err, cmp.Or(hint.Of(err), "name a directory that can be written with --scratch"))
		return errors.Join(err, r.undo.Undo(), r.closeJournal())
	}
	return nil
}

// beginRecord writes what is known before the run: plan, manifest and the run's line.
func (r *runner) beginRecord() error {
	m := &r.rec.manifest
	if m.Versions == nil {
		m.Versions = map[string]string{}
	}
	m.Settings = map[string][]record.Setting{}
	m.Left = r.config.Plan.Left
	for _, p := range r.config.Probes {
		for _, x := range p.Metrics() {
			m.Probes = append(m.Probes, record.ProbeMetric{
				Name: x.Name, Unit: x.Unit, Level: x.Kind == probe.Level, PerOp: x.PerOp, Of: x.Of, Help: x.Help,
			})
		}
	}
	if err := record.WriteJSON(r.rec.dir, record.PlanFile, r.config.Earlier.plan(r.config.Plan.Record)); err != nil {
		return err
	}
	if err := r.rec.writeManifest(); err != nil {
		return err
	}
	return r.rec.append(record.Line{Run: &record.Run{Schema: record.RecordSchema, ID: r.config.ID, Seed: r.config.Plan.Record.Seed}})
}

// scratchParent is the directory in which the run makes its own. ground.Make may return a path
// below a mount elsewhere.
func (r *runner) scratchParent() string { return cmp.Or(r.config.Plan.Scratch, "/var/tmp") }

// close takes back what open changed, and closes the record.
func (r *runner) close() error {
	err := r.undo.Undo()
	if n := r.journal.Left(); n > 0 { // an interrupted run prints nothing else about it
		left := fmt.Errorf("%d of the changes of this host could not be taken back; tare cleanup tries it again", n)
		err = errors.Join(err, hint.New(left, "tare cleanup says what hinders"))
	}
	return errors.Join(err, r.closeJournal(), r.rec.close())
}

// closeJournal ends the guard. The journal stays on the disk if a step is left in it, for tare
// cleanup.
func (r *runner) closeJournal() error {
	r.guard.Dismiss()
	return r.journal.Close()
}

// warnOfControllers warns of cgroup controllers that stay enabled on the host: no step of the
// journal takes them back.
func (r *runner) warnOfControllers() {
	if r.config.Groups == nil {
		return
	}
	if kept := r.config.Groups.StillEnabled(); kept != nil {
		r.rec.warn(record.Warning{Text: kept.Error(), Remedy: kept.Remedy()})
	}
}

func (r *runner) showProgress(e Event) {
	if r.config.Progress != nil {
		r.config.Progress(e)
	}
}
