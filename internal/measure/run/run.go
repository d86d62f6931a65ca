// Package run executes a plan: it launches the arms of each workload, rotates windows over them in
// random order, and records what it observed. Only this package decides in which order
// things happen. It parses no tool's output and computes no statistics: package plan chooses the
// lengths of windows, and the caller passes the function that decides when to stop (Config.Decide).
//
// Execute runs on one operating system thread that has real-time priority over the loads. tare writes
// no file and shows no progress while a window is open.
//
// runner is the state of a run, recorder writes its record. A loadRun measures one workload, in one
// turn per pass. It has three main parts: schedule (arms, lengths and the time that is left),
// launchedInstances (the processes of one launch) and results (the lines for the record).
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tarelab/tare/internal/arms/launch"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
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
	// Programs are those of the plan; nil: Execute identifies them.
	Programs *Programs
	// Earlier is the record that this run continues; nil: it begins one.
	Earlier *Earlier
	Groups  *cgroup.Tree // for all arms; nil: tare cannot make cgroups on this host
	Probes  []probe.Probe
	// Decide judges the lines of a workload so far: is the precision reached, must windows be
	// longer? It is called while no window is open.
	Decide func(record.Workload, []record.Line) Decision
	// Decided says whether every limit of a workload is decided after so many launches. It is called between
	// launches, when the record is synced, and replaces the precision as the reason to stop; nil: there is none.
	Decided func(load record.Workload, launches int) bool
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
	Why      record.Said // for Lengthen
	Arms     []Running
	// LaunchSD is the standard deviation of an arm's launch effect, in logs; 0: not known yet.
	LaunchSD float64
	// Shown has what the question is found to change so far, by metric.
	Shown []Found
}

// Found is a metric in which the question differs: the size of its effect, and the standard deviations of the log ratio of
// two windows of a block and of an arm's launch effect, all in logs.
type Found struct{ Effect, Pair, LaunchSD float64 }

// Running is the effect of an arm as it is known so far.
type Running struct {
	Arm   string
	Ratio float64 // arm over baseline
	Half  float64 // half-width of its interval, in logs; +Inf: unknown
	Noise float64 // standard error by the windows alone, without launch effects, in logs; 0: unknown
	Pair  float64 // standard deviation of the log ratio of two windows of a block; 0: unknown
}

// Event is the progress of a run.
type Event struct {
	Workload     string
	Number, Of   int    // number of the workload, from 1, and number of workloads
	Pass, Passes int    // of this workload; if there are two, the first measures only the arms of the question
	Phase        string // "prepare", "launch", "pilot", "measure"
	Arm          string
	Generation   int // number of the launch, from 0
	Block        int
	Blocks       int // in this launch
	Dropped      int // number of dropped windows
	// Ready of Starting loads are ready; both are 0 outside of the phase launch.
	Ready, Starting int
	Arms            []Running
	Elapsed         time.Duration
	Remaining       time.Duration    // of the budget
	Note            messages.Message // what whoever watches should know, once; without a key: nothing
	Loading         string           // in the phase prepare: FILE:LINE of a dump, and for how long it has been loaded
}

// reached is the reason of record.End of a run that ends before its budget is used up.
func (c *Config) reached() string {
	if c.Decided != nil {
		return record.EndedDecided
	}
	return "precision"
}

// Outcome is how a run ended.
type Outcome struct {
	Reason string // a reason of record.End
	Dir    string
	// Unwritten is the error of writing the end of the record, NotRestored that of restoring the
	// host. The error of Execute includes both.
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
	froze   int               // number of freezes by the guard that wasSilent has seen
	undo    journal.UndoStack // removes the scratch directory
	watch   reserve.Watch

	programs *Programs
	ports    ports
	self     selfUse
}

// maxHeap is the size in bytes up to which the Go runtime collects no garbage within a window. With
// this heap the whole process needs less than 64 MiB.
const maxHeap = 28 << 20

// spareProcs is how many of tare's other threads may wait for a CPU while the rotating thread goes on. A Go thread that
// returns from a system call needs one of GOMAXPROCS processors; where threads that the arms starve hold all of them, the
// rotating thread waits too, whatever its priority: on two CPUs with Linux 6.18 for up to 25 s.
const spareProcs = 8

// Execute runs the plan. When it returns, also with an error, the record is on the disk and the host is
// restored; Outcome and the error say where that failed.
func Execute(ctx context.Context, c Config) (out Outcome, err error) {
	r := &runner{config: c, rec: recorder{dir: c.Dir, manifest: c.Manifest}}
	out.Dir = c.Dir
	if r.programs = c.Programs; r.programs == nil {
		if r.programs, err = Identify(c.Plan); err != nil {
			return out, err
		}
	}
	defer func() { err = errors.Join(err, r.programs.Close()) }()
	if err := r.open(); err != nil {
		return out, err
	}
	defer r.protect()()
	procs := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(procs + spareProcs)
	defer runtime.GOMAXPROCS(procs)
	// Garbage is collected between blocks (betweenBlocks); within a block only where tare would
	// grow beyond maxHeap.
	forgetPeak()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(maxHeap))

	r.guard.Attend()
	r.watchHost()
	reason, err := r.turns(ctx)
	r.guard.Attend() // nobody knows how long restoring takes, so the deadline is renewed until then
	r.wasSilent("")
	out.Reason = reason
	if c.Warnings != nil {
		for _, w := range c.Warnings() {
			r.rec.warn(w)
		}
	}
	r.warnOfControllers()
	r.warnOfEscaped()
	if reason == record.EndedError && hint.Of(err) == "" {
		err = hint.New(err, "see "+record.RawDir+"/ of the result: what the programs printed")
	}
	end := record.End{Reason: reason, Self: r.self.summary(), Room: r.watch.Lowest()}
	if err != nil && (reason == record.EndedError || reason == record.EndedFull) {
		end.Detail, end.Remedy = err.Error(), hint.Of(err)
	}
	out.Unwritten = r.rec.end(end)
	out.NotRestored = r.close()
	return out, errors.Join(err, out.Unwritten, out.NotRestored)
}

// protect gives this thread real-time priority until undo is called. It warns if it has no right to do
// so, and if a kill of tare's whole cgroup would also kill the guard.
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

// open makes the result directory, the record, the journal, the guard and the scratch directory.
func (r *runner) open() (err error) {
	if err := r.openRecord(); err != nil {
		return err
	}
	if err := r.beginRecord(); err != nil {
		return err
	}
	defer func() {
		if err != nil { // the record says why the run ended before it measured
			err = errors.Join(err, r.rec.end(record.End{Reason: record.EndedError, Detail: err.Error(), Remedy: hint.Of(err)}), r.rec.writer.Close())
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
	// Mode 0711: a neighbour runs as nobody and has its directory below.
	if r.scratch, err = ground.Make(recordStep, filepath.Join(r.scratchParent(), "tare-"+r.config.ID), 0o711); err != nil {
		err = fmt.Errorf("make the scratch directory: %w", err)
		err = hint.New(err, cmp.Or(hint.Of(err), "name a directory that can be written with --scratch"))
		return errors.Join(err, r.undo.Undo(), r.closeJournal())
	}
	return nil
}

// beginRecord writes the plan, the manifest and the first line of the record.
func (r *runner) beginRecord() error {
	m := &r.rec.manifest
	if m.Versions == nil {
		m.Versions = map[string]string{}
	}
	m.Settings = map[string][]record.Setting{}
	m.Left = r.config.Plan.Left
	if e := r.config.Earlier; e != nil {
		m.Files = maps.Clone(e.Manifest.Files)
	}
	r.recordPrograms()
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

// scratchParent is the directory in which the run makes its scratch directory. r.scratch need not be
// below it: ground.Make may return a path below another mount.
func (r *runner) scratchParent() string { return cmp.Or(r.config.Plan.Scratch, "/var/tmp") }

// ErrLeft means that a run could not take back all of its changes.
var ErrLeft = errors.New("the changes of this host could not be taken back")

// close removes the scratch directory, ends the guard, and closes journal and record.
func (r *runner) close() error {
	err := r.undo.Undo()
	if n := r.journal.Left(); n > 0 { // an interrupted run prints nothing else about it
		left := fmt.Errorf("%d of %w; tare cleanup tries it again", n, ErrLeft)
		err = errors.Join(err, hint.New(left, "tare cleanup says what hinders"))
	}
	return errors.Join(err, r.closeJournal(), r.rec.close())
}

// closeJournal ends the guard and closes the journal. A journal that still has steps stays on the disk
// for tare cleanup.
func (r *runner) closeJournal() error {
	r.guard.Dismiss()
	return r.journal.Close()
}

// warnOfControllers warns of cgroup controllers that stay enabled on the host: no step of the journal
// disables them.
func (r *runner) warnOfControllers() {
	if r.config.Groups == nil {
		return
	}
	if kept := r.config.Groups.StillEnabled(); kept != nil {
		r.rec.warn(record.Warning{Text: kept.Said(), Remedy: kept.Remedy()})
	}
}

func (r *runner) showProgress(e Event) {
	if r.config.Progress != nil {
		r.config.Progress(e)
	}
}
