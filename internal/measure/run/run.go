// Package run is the life of a run: it launches the arms of each workload,
// rotates windows over them in random order, and writes what was observed. It
// is the only place that sequences. It parses no output of any tool and
// computes no statistics: lengths come from plan, the decision to stop from a
// function that is handed in.
//
// Execute runs on one thread of the operating system that is protected from
// the load. Nothing is written or drawn while a window is open.
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
	Dir      string // the result directory, made by Execute
	StateDir string // where the journal is kept
	Manifest record.Manifest
	// Earlier is the record that this run continues; nil: it begins one.
	Earlier *Earlier
	Groups  *cgroup.Tree // one tree for all arms; nil where none can be made
	Probes  []probe.Probe
	// Decide says whether a workload is measured well enough, from its blocks
	// so far. Called between generations.
	Decide func(record.Workload, []record.Line) Decision
	// Keep is what Decide needs of a line; nil: all of it.
	Keep func(record.Workload, record.Line) record.Line
	// Warnings are what else is to be said of the run at its end; nil: nothing.
	Warnings func() []record.Warning
	// Progress is called between windows; nil for none. It must return soon.
	Progress func(Event)
}

// Decision is what to do after a generation.
type Decision struct {
	Stop bool // the wanted width is reached
	// Lengthen asks for a longer window: the transparency check failed.
	Lengthen bool
	Why      string
	Arms     []Running
}

// Running is an effect so far.
type Running struct {
	Arm   string
	Ratio float64 // arm over baseline
	Half  float64 // half-width of its interval, as a ratio; +Inf when unknown
}

// Event tells what happens, for progress.
type Event struct {
	Workload     string
	Number, Of   int    // which workload
	Pass, Passes int    // of this workload: the first asks for one arm alone
	Phase        string // "prepare", "launch", "pilot", "measure"
	Arm          string
	Generation   int
	Block        int
	Blocks       int // in this generation
	Dropped      int
	// Ready of so many loads that are starting; both 0 elsewhere.
	Ready, Starting int
	Arms            []Running
	Elapsed         time.Duration
	Remaining       time.Duration // of the budget
	Note            string
}

// Outcome is how a run ended.
type Outcome struct {
	Reason string // of record.End
	Dir    string
	// Unwritten is what of the record's end could not be written, NotRestored what of
	// the host could not be taken back. Both are in the error of Execute too.
	Unwritten, NotRestored error
}

// ErrInterrupted means that the run was cancelled; its record is kept.
var ErrInterrupted = errors.New("interrupted")

// runner is the state of one run.
type runner struct {
	Config
	scratch string
	journal *journal.Journal
	record  *record.Writer
	lock    *os.File // of the record
	origin  int64    // CLOCK_MONOTONIC ns at the start of the record
	self    selfUse
	ports   ports
	guard   *launch.Guard
	froze   int               // how often it has frozen the arms, as far as that was noticed
	unsaid  error             // the last warning that could not be written
	undo    journal.UndoStack // of the scratch directory
	watch   reserve.Watch
}

// mostHeap is what the Go runtime may hold before it collects within a window:
// with the program itself it stays below 64 MiB.
const mostHeap = 28 << 20

// Execute runs the plan. The record is on the disk and the host restored when
// it returns, whatever happened; an error of the way back is joined to the
// error but never hides a result.
func Execute(ctx context.Context, c Config) (out Outcome, err error) {
	r := &runner{Config: c}
	out.Dir = c.Dir
	if err := r.open(); err != nil {
		return out, err
	}
	how, undo, perr := sched.Protect()
	defer undo()
	if perr != nil {
		r.warn(record.Warning{
			Text:   fmt.Sprintf("the controlling thread has no protected turn (%s): switches are late when the arms saturate every CPU", perr),
			Remedy: "run as root or grant CAP_SYS_NICE",
		})
	}
	r.Manifest.Versions["scheduling of the controller"] = how
	if why := r.guard.Inside; why != nil && os.Geteuid() == 0 {
		r.warn(record.Warning{
			Text:   fmt.Sprintf("a kill of the whole control group that tare runs in would leave changes on this host: %v", why),
			Remedy: "tare cleanup takes them back",
		})
	}
	// Garbage is collected between blocks, see breathe; within one only where
	// tare would grow beyond what it may.
	forgetPeak()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostHeap))

	r.guard.Attend()
	r.watchHost()
	reason, err := r.turns(ctx)
	r.guard.Attend() // taking back has no planned end
	r.wasSilent("")
	out.Reason = reason
	if r.Config.Warnings != nil {
		for _, w := range r.Config.Warnings() {
			r.warn(w)
		}
	}
	r.warnOfKept()
	end := &record.End{Reason: reason, Self: r.self.summary(), Room: r.watch.Lowest()}
	if err != nil && (reason == "error" || reason == record.EndedFull) {
		end.Detail = err.Error()
	}
	out.Unwritten = errors.Join(r.unsaid, r.append(record.Line{End: end}), r.writeManifest())
	out.NotRestored = r.close()
	return out, errors.Join(err, out.Unwritten, out.NotRestored)
}

// open makes everything that must exist before the first change of the host.
func (r *runner) open() (err error) {
	if err := r.openRecord(); err != nil {
		return err
	}
	if r.Manifest.Versions == nil {
		r.Manifest.Versions = map[string]string{}
	}
	r.Manifest.Settings = map[string][]record.Setting{}
	r.Manifest.Left = r.Plan.Left
	for _, p := range r.Probes {
		for _, m := range p.Metrics() {
			r.Manifest.Probes = append(r.Manifest.Probes, record.ProbeMetric{
				Name: m.Name, Unit: m.Unit, Level: m.Kind == probe.Level, PerOp: m.PerOp, Of: m.Of, Help: m.Help,
			})
		}
	}
	if err := record.WriteJSON(r.Dir, record.PlanFile, r.Earlier.plan(r.Plan.Record)); err != nil {
		return err
	}
	if err := r.writeManifest(); err != nil {
		return err
	}
	if err := r.append(record.Line{Run: &record.Run{Schema: record.RecordSchema, ID: r.ID, Seed: r.Plan.Record.Seed}}); err != nil {
		return err
	}
	defer func() {
		if err != nil { // the record says what ended the run before it began
			err = errors.Join(err, r.endEarly(err), r.record.Close())
		}
	}()
	if r.Earlier != nil && r.Earlier.Torn {
		r.warn(record.Warning{Text: "the end of the record was cut off, as a kill or a power cut leaves it, " +
			"and was removed before the record was continued"})
	}
	if r.journal, err = journal.Open(r.StateDir, r.ID); err != nil {
		return err
	}
	if r.guard, err = launch.NewGuard(r.StateDir, r.ID, r.Groups); err != nil {
		return errors.Join(fmt.Errorf("guard the run: %w", err), r.journal.Close())
	}
	parent := r.scratchParent()
	// What is in it is closed to others, but for the directory of a neighbour, who is nobody.
	if r.scratch, err = ground.Make(r.keep, filepath.Join(parent, "tare-"+r.ID), 0o711); err != nil {
		err = fmt.Errorf("make the scratch directory: %w", err)
		err = hint.New(err, cmp.Or(hint.Of(err), "name a directory that can be written with --scratch"))
		return errors.Join(err, r.undo.Undo(), r.abandon())
	}
	return nil
}

// scratchParent is the directory in which the run makes its own. ground.Make may reach what it
// makes there by a mount elsewhere.
func (r *runner) scratchParent() string { return cmp.Or(r.Plan.Scratch, "/var/tmp") }

// endEarly ends the record of a run that measures nothing.
func (r *runner) endEarly(why error) error {
	return errors.Join(r.append(record.Line{End: &record.End{Reason: "error", Detail: why.Error()}}), r.writeManifest())
}

// keep writes a step to the journal before its change is made.
func (r *runner) keep(s journal.Step, back func() error) error {
	return r.undo.Record(r.journal, s, back)
}

// close takes back what open changed.
func (r *runner) close() error {
	err := r.undo.Undo()
	if n := r.journal.Left(); n > 0 { // an interrupted run says no more of it
		left := fmt.Errorf("%d of the changes of this host could not be taken back; tare cleanup tries it again", n)
		err = errors.Join(err, hint.New(left, "tare cleanup says what hinders"))
	}
	return errors.Join(err, r.abandon(), r.record.Close(), r.lock.Close())
}

// abandon ends the way back: what is still in the journal is left to tare cleanup.
func (r *runner) abandon() error {
	r.guard.Dismiss()
	return r.journal.Close()
}

// append writes lines with the time of now.
func (r *runner) append(lines ...record.Line) error {
	now := time.Now().UTC().Round(time.Millisecond)
	for i := range lines {
		lines[i].Time = now
	}
	return r.record.Append(lines...)
}

// warn keeps a warning. That it could not be written is told at the end.
func (r *runner) warn(w record.Warning) {
	if err := r.append(record.Line{Warning: &w}); err != nil {
		r.unsaid = err
	}
}

// warnOfKept says that controllers stay enabled on the host, which no step of the journal takes back.
func (r *runner) warnOfKept() {
	if r.Groups == nil {
		return
	}
	if kept := r.Groups.StillEnabled(); kept != nil {
		r.warn(record.Warning{Text: kept.Error(), Remedy: kept.Remedy()})
	}
}

func (r *runner) skip(l record.Left) { r.Manifest.Left = append(r.Manifest.Left, l) }

func (r *runner) writeManifest() error {
	return record.WriteJSON(r.Dir, record.ManifestFile, r.Manifest)
}

func (r *runner) event(e Event) {
	if r.Progress != nil {
		r.Progress(e)
	}
}
