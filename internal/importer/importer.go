// Package importer turns the output of other tools into a record: who measured
// with sysbench, fio, clickhouse-benchmark, pgbench or hyperfine, or collected
// figures in a table, can have them judged.
//
// It reads files as streams, memory does not grow with them. It must not compute
// effects or judge; it says what the files say, where, and what in them is not
// certain.
package importer

import (
	"fmt"
	"io"
	"time"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/record"
)

// Arm is the files of one arm: each one or more runs of it.
type Arm struct {
	Name  string
	Files []string // "-" is In of the options
}

// Options says what to read.
type Options struct {
	Arms     []Arm
	Baseline string      // the name of an arm; empty: the first one
	Kind     format.Kind // Unknown: every file tells
	Claims   []record.Claim
	In       io.Reader // what "-" is
}

// Result is what was read.
type Result struct {
	Workloads []record.Workload
	Imported  record.Imported
	Runs      []record.Observed
	Warnings  []record.Warning
	Left      []record.Left
}

// Read reads every file of every arm. A file that cannot be read, or in which
// there is nothing, is an error that names it; what is doubtful in it, a warning.
func Read(o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, &UsageError{err}
	}
	out := &Result{Imported: record.Imported{Claims: o.Claims}}
	var all []*run
	for _, a := range o.Arms {
		for _, path := range a.Files {
			runs, err := out.file(a.Name, path, o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			all = append(all, runs...)
		}
	}
	out.group(all, o)
	if len(out.Workloads) == 0 {
		err := fmt.Errorf("nothing to compare: the arms have no load in common")
		if len(out.Left) > 0 {
			l := out.Left[0]
			err = fmt.Errorf("%w (%s of %s: %s)", err, l.Workload, l.Arm, l.Reason)
		}
		if len(out.Warnings) > 0 {
			err = fmt.Errorf("%w; %s", err, out.Warnings[0].Text)
		}
		return nil, hint.New(err, "name files of the same tool and the same load for each arm")
	}
	return out, nil
}

// UsageError is a mistake in what was asked for, not in a file.
type UsageError struct{ error }

func (e *UsageError) Unwrap() error { return e.error }

func (o *Options) check() error {
	seen, stdin := map[string]bool{}, 0
	for _, a := range o.Arms {
		for _, path := range a.Files {
			if path == "-" {
				stdin++
			}
		}
		if len(a.Files) == 0 {
			return fmt.Errorf("the arm %s has no file", a.Name)
		}
		seen[a.Name] = true
	}
	if len(seen) < 2 {
		return hint.New(fmt.Errorf("%d arm: there is nothing to compare", len(seen)), "name two: tare import host=bare/*.log pod=pod/*.log")
	}
	if stdin > 1 {
		return hint.New(fmt.Errorf("standard input (-) is named %d times", stdin), "write one of them to a file first")
	}
	if o.Baseline == "" {
		o.Baseline = o.Arms[0].Name
	}
	if !seen[o.Baseline] {
		return hint.New(fmt.Errorf("the baseline %q is not an arm", o.Baseline), "name one of the arms that have files")
	}
	for i := range o.Claims {
		if err := o.claim(&o.Claims[i]); err != nil {
			return err
		}
	}
	return nil
}

// Write makes the result directory: plan, manifest and record. The workloads of
// the plan and what was imported are filled in.
func (r *Result) Write(dir string, plan record.Plan, m record.Manifest) error {
	plan.Workloads, m.Imported, m.Left = r.Workloads, &r.Imported, r.Left
	w, err := record.Create(dir)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := record.WriteJSON(dir, record.PlanFile, plan); err != nil {
		return err
	}
	if err := record.WriteJSON(dir, record.ManifestFile, m); err != nil {
		return err
	}
	return w.Append(r.lines(m.Started)...)
}

func (r *Result) lines(at time.Time) []record.Line {
	lines := []record.Line{{Time: at, Run: &record.Run{Schema: record.RecordSchema, ID: "imported"}}}
	for i := range r.Runs {
		lines = append(lines, record.Line{Time: at, Observed: &r.Runs[i]})
	}
	for i := range r.Warnings {
		lines = append(lines, record.Line{Time: at, Warning: &r.Warnings[i]})
	}
	return append(lines, record.Line{Time: at, End: &record.End{Reason: "imported"}})
}
