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
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/journal"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/internal/plan"
	"github.com/tarelab/tare/internal/probe"
	"github.com/tarelab/tare/record"
)

// Config is what a run needs.
type Config struct {
	ID       string // of the run, [a-z0-9]+
	Plan     *plan.Plan
	Dir      string // the result directory, made by Execute
	StateDir string // where the journal is kept
	Manifest record.Manifest
	Groups   *cgroup.Tree // one tree for all arms; nil where none can be made
	Probes   []probe.Probe
	// Decide says whether a workload is measured well enough, from its blocks
	// so far. Called between generations.
	Decide func(record.Workload, []record.Line) Decision
	// Keep is what Decide needs of a line; nil: all of it.
	Keep func(record.Workload, record.Line) record.Line
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
	Workload   string
	Number, Of int    // which workload
	Phase      string // "prepare", "launch", "pilot", "check", "measure", "done"
	Arm        string
	Generation int
	Block      int
	Blocks     int // in this generation
	Dropped    int
	// Ready of so many loads that are starting; both 0 elsewhere.
	Ready, Starting int
	Arms            []Running
	Elapsed         time.Duration
	Left            time.Duration // of the budget
	Note            string
}

// Outcome is how a run ended.
type Outcome struct {
	Reason string // of record.End
	Dir    string
}

// ErrInterrupted means that the run was cancelled; its record is kept.
var ErrInterrupted = errors.New("interrupted")

// runner is the state of one run.
type runner struct {
	Config
	scratch string
	journal *journal.Journal
	record  *record.Writer
	origin  int64 // CLOCK_MONOTONIC ns at the start of the record
	self    selfUse
	ports   ports
	token   journal.Token // of the scratch directory
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
	// Garbage is collected between blocks, see breathe; within one only where
	// tare would grow beyond what it may.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostHeap))

	reason, err := r.workloads(ctx)
	out.Reason = reason
	end := &record.End{Reason: reason, Self: r.self.summary()}
	if err != nil && reason == "error" {
		end.Detail = err.Error()
	}
	err = errors.Join(err, r.append(record.Line{End: end}), r.writeManifest())
	return out, errors.Join(err, r.close())
}

// open makes everything that must exist before the first change of the host.
func (r *runner) open() (err error) {
	if r.record, err = record.Create(r.Dir); err != nil {
		return hint.New(err, "name another directory with -o")
	}
	r.origin = sched.Monotonic()
	if r.Manifest.Versions == nil {
		r.Manifest.Versions = map[string]string{}
	}
	r.Manifest.Settings = map[string][]record.Setting{}
	r.Manifest.Left = r.Plan.Left
	for _, p := range r.Probes {
		for _, m := range p.Metrics() {
			r.Manifest.Probes = append(r.Manifest.Probes, record.ProbeMetric{
				Name: m.Name, Unit: m.Unit, Level: m.Kind == probe.Level, PerOp: m.PerOp, Help: m.Help,
			})
		}
	}
	if err := record.WriteJSON(r.Dir, record.PlanFile, r.Plan.Record); err != nil {
		return err
	}
	if err := r.writeManifest(); err != nil {
		return err
	}
	if err := r.append(record.Line{Run: &record.Run{Schema: record.RecordSchema, ID: r.ID, Seed: r.Plan.Record.Seed}}); err != nil {
		return err
	}
	if r.journal, err = journal.Open(r.StateDir, r.ID); err != nil {
		return err
	}
	parent := r.Plan.Scratch
	if parent == "" {
		parent = "/var/tmp"
	}
	r.scratch = filepath.Join(parent, "tare-"+r.ID)
	if r.token, err = r.journal.Add(journal.Directory(r.scratch)); err != nil {
		return errors.Join(err, r.journal.Close())
	}
	if err := os.MkdirAll(r.scratch, 0o755); err != nil {
		err = hint.New(fmt.Errorf("make the scratch directory: %w", err), "name a directory that can be written with --scratch")
		return errors.Join(err, r.journal.Done(r.token), r.journal.Close(), r.record.Close())
	}
	return nil
}

// close takes back what open changed.
func (r *runner) close() error {
	err := os.RemoveAll(r.scratch)
	if err == nil {
		err = r.journal.Done(r.token)
	}
	if n := r.journal.Left(); n > 0 { // an interrupted run says no more of it
		err = errors.Join(err, hint.New(fmt.Errorf("%d of the changes of this host could not be taken back; tare cleanup tries it again", n), "tare cleanup says what hinders"))
	}
	return errors.Join(err, r.journal.Close(), r.record.Close())
}

// workloads runs one workload after the other. Each inherits the time that
// the ones before it did not use.
func (r *runner) workloads(ctx context.Context) (reason string, err error) {
	started := time.Now()
	total := time.Duration(r.Plan.Record.Budget * float64(time.Second))
	shares := r.Plan.Record.Budget
	reason = "precision"
	for i := range r.Plan.Loads {
		load := &r.Plan.Loads[i]
		left := total - time.Since(started)
		if left <= 0 && i > 0 {
			r.leave(noTimeFor(load.Workload))
			reason = "budget"
			continue
		}
		budget := time.Duration(float64(left) * load.Budget / shares)
		shares -= load.Budget
		l := &loadRun{runner: r, load: load, number: i, began: time.Now(), budget: budget}
		how, err := l.execute(ctx)
		switch {
		case ctx.Err() != nil:
			return "interrupted", ErrInterrupted
		case errors.Is(err, environment.ErrUnsupported) && len(r.Plan.Loads) > 1:
			r.leave(record.Left{Workload: load.Name, Arm: load.Baseline, Reason: err.Error(), Remedy: hint.Of(err)})
		case err != nil:
			return "error", fmt.Errorf("workload %s: %w", load.Name, err)
		}
		if how == "budget" {
			reason = "budget"
		}
	}
	return reason, nil
}

// noTimeFor leaves a workload out whose turn came after the end.
func noTimeFor(w record.Workload) record.Left {
	return record.Left{
		Workload: w.Name, Arm: w.Baseline, Reason: "the time budget was used up before its turn",
		Remedy: "give the run a longer --budget, or name fewer workloads with --workload",
	}
}

// append writes lines with the time of now.
func (r *runner) append(lines ...record.Line) error {
	now := time.Now().UTC().Round(time.Millisecond)
	for i := range lines {
		lines[i].Time = now
	}
	return r.record.Append(lines...)
}

// warn keeps a warning. That it cannot be written shows at the next block.
func (r *runner) warn(w record.Warning) { _ = r.append(record.Line{Warning: &w}) }

func (r *runner) leave(l record.Left) { r.Manifest.Left = append(r.Manifest.Left, l) }

func (r *runner) writeManifest() error {
	return record.WriteJSON(r.Dir, record.ManifestFile, r.Manifest)
}

func (r *runner) event(e Event) {
	if r.Progress != nil {
		r.Progress(e)
	}
}
