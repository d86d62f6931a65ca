// Package importer turns the output of other tools, benchmark logs and tables of figures, into a result
// directory. The analysis then treats it like the record of a run of tare.
//
// It reads files as streams; memory does not grow with their size. It must not compute effects or
// verdicts. It adds a warning for every figure that is doubtful.
package importer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/record"
)

// ArmFiles names the files of one arm. A file has one or more runs.
type ArmFiles struct {
	Name  string
	Files []string // "-" means Options.In
}

// Options says what to read.
type Options struct {
	Arms     []ArmFiles
	Baseline string      // the name of an arm; empty: the first one
	Kind     format.Kind // Unknown: recognise each file
	Claims   []record.Claim
	In       io.Reader    // standard input
	Columns  *csv.Columns // what the user says about columns of tables; nil: nothing
}

// Result has the imported loads and runs.
type Result struct {
	Workloads []record.Workload
	Imported  record.Imported
	Runs      []record.Observed
	Warnings  []record.Warning
	Left      []record.Left
	warned    map[format.Warning]*warned // warnings so far, without their lines
}

// Bounds of an import. More runs or loads mean that a file was misread.
const (
	maxRuns  = 20000
	maxLoads = 1000
)

// Read reads every file of every arm. A file that cannot be read or has no figures is an error that names
// it. Doubtful figures are warnings.
func Read(o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, &usageError{err}
	}
	out := &Result{Imported: record.Imported{Claims: o.Claims}}
	var all []*observed.Run
	var unknown csv.UnknownColumns
	byArm := make([][]*observed.Run, len(o.Arms))
	for i, a := range o.Arms {
		var runs []*observed.Run
		for _, path := range a.Files {
			more, err := out.file(a, path, o)
			if unknown.Join(path, err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			runs = append(runs, more...)
			shorten(slices.Concat(slices.Concat(byArm...), runs))
			if countRuns(byArm)+len(runs) > maxRuns {
				return nil, hint.New(fmt.Errorf("%s: more than %d runs", path, maxRuns), "name fewer files at a time, or split the file")
			}
		}
		if err := o.unnamed(a, runs); err != nil {
			return nil, &usageError{err}
		}
		byArm[i] = out.join(a.Name, runs)
	}
	if len(unknown.Tables) > 0 {
		return nil, &usageError{&unknown}
	}
	if o.Columns != nil {
		if err := o.Columns.Unused(); err != nil {
			return nil, &usageError{err}
		}
	}
	agreeOnThroughput(slices.Concat(byArm...))
	for i, a := range o.Arms {
		finished, err := out.finish(a.Name, byArm[i])
		if err != nil {
			return nil, err
		}
		all = append(all, finished...)
	}
	out.splitNumbered(all)
	if err := o.resolveArms(all); err != nil {
		return nil, &usageError{err}
	}
	out.group(all, o)
	if err := out.comparable(); err != nil {
		return nil, err
	}
	out.warnUncompared(all)
	return out, nil
}

// comparable returns why the loads cannot be compared, with a remedy; nil: they can.
func (r *Result) comparable() error {
	if len(r.Workloads) > maxLoads {
		return hint.New(fmt.Errorf("the files hold %d loads, more than %d", len(r.Workloads), maxLoads), "name fewer files at a time")
	}
	if err := (&record.Plan{Workloads: r.Workloads}).Check(); err != nil {
		if errors.Is(err, record.ErrBounds) {
			return hint.New(err, "name fewer files at a time")
		}
		return hint.New(err, "name each arm: tare import host=A pod=B")
	}
	if len(r.Workloads) > 0 {
		return nil
	}
	err := fmt.Errorf("nothing to compare: the arms have no load in common")
	if len(r.Left) > 0 {
		l := r.Left[0]
		err = fmt.Errorf("%w (%s of %s: %s)", err, l.Workload, l.Arm, said.English(l.Reason))
	}
	if len(r.Warnings) > 0 {
		err = fmt.Errorf("%w; %s", err, said.English(r.Warnings[0].Text))
	}
	return hint.New(err, said.English(sameLoad))
}

// Bounds of the series of an import: with thousands of runs each needs few values.
const (
	mostValues  = 400_000
	leastValues = 24 // enough for a trend
)

// shorten halves the series of all runs until they have no more than mostValues together.
func shorten(runs []*observed.Run) {
	for range 20 {
		total := 0
		for _, x := range runs {
			total += x.Bins()
		}
		if total <= mostValues {
			return
		}
		for _, x := range runs {
			x.Halve(leastValues)
		}
	}
}

func countRuns(lists [][]*observed.Run) (n int) {
	for _, l := range lists {
		n += len(l)
	}
	return n
}

// agreeOnThroughput makes all runs of a load use the same meaning of throughput, such as transactions
// with or without the time for connections.
func agreeOnThroughput(all []*observed.Run) {
	loads := map[string][]*observed.Run{}
	for _, x := range all {
		if len(x.Rates) > 0 {
			loads[x.Tool+"\n"+x.Sub] = append(loads[x.Tool+"\n"+x.Sub], x)
		}
	}
	for _, l := range loads {
		observed.Agree(l)
	}
}

// finish drops impossible figures, with warnings, and returns the runs that have any left. A file without
// such a run is an error.
func (r *Result) finish(arm string, joined []*observed.Run) (out []*observed.Run, err error) {
	for _, x := range joined {
		if x.Finish() {
			out = append(out, x)
		}
		for _, w := range x.Doubts {
			r.warn(arm, x.File, w)
		}
	}
	for _, x := range joined {
		if slices.ContainsFunc(out, func(y *observed.Run) bool { return y.File == x.File }) {
			continue
		}
		_, err := withFigures(nil, x.Doubts, nil)
		return nil, fmt.Errorf("%s: %w", x.File, err)
	}
	return out, nil
}

// usageError is a mistake on the command line, not in a file.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// check returns a mistake in the files that the command line names.
func (o *Options) check() error {
	seen, stdin := map[string]bool{}, 0
	var files []fs.FileInfo
	var paths []string
	for _, a := range o.Arms {
		for _, path := range a.Files {
			if path == "-" {
				stdin++
				continue
			}
			info, err := os.Stat(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, remedied(err))
			}
			if i := slices.IndexFunc(files, func(f fs.FileInfo) bool { return os.SameFile(f, info) }); i >= 0 {
				return hint.New(fmt.Errorf("%s and %s are the same file", paths[i], path), "name every file once: what is read twice is no second run")
			}
			files, paths = append(files, info), append(paths, path)
		}
		if len(a.Files) == 0 {
			return fmt.Errorf("the arm %s has no file", a.Name)
		}
		seen[a.Name] = true
	}
	if len(seen) == 0 {
		return hint.New(errors.New("no file is named"), "tare import host=bare/*.log pod=pod/*.log")
	}
	if stdin > 1 {
		return hint.New(fmt.Errorf("standard input (-) is named %d times", stdin), "write one of them to a file first")
	}
	return nil
}

// resolveArms sets the arms, the baseline and the arms of the claims. It needs the runs, because a table
// may name the arms, and because the commands in one hyperfine report become arms if the command line
// names only one arm.
func (o *Options) resolveArms(all []*observed.Run) error {
	commands := map[string]bool{}
	for _, x := range all {
		if x.SubIsArm && o.alone() {
			commands[x.Sub] = true
		}
	}
	var arms []ArmFiles
	add := func(name string) {
		if !slices.ContainsFunc(arms, func(a ArmFiles) bool { return a.Name == name }) {
			arms = append(arms, ArmFiles{Name: name})
		}
	}
	for _, a := range o.Arms {
		if slices.ContainsFunc(all, func(x *observed.Run) bool { return a.Name != "" && x.Arm == a.Name && len(commands) < 2 }) {
			add(a.Name)
		}
	}
	for _, x := range all {
		if x.SubIsArm && (len(commands) > 1 || x.Arm == "") {
			x.Arm, x.Sub, x.Other = x.Sub, "", nil
		}
		add(x.Arm)
	}
	if o.Arms = arms; o.Baseline == "" {
		o.Baseline = arms[0].Name
	}
	if !slices.ContainsFunc(arms, func(a ArmFiles) bool { return a.Name == o.Baseline }) {
		return hint.New(fmt.Errorf("the baseline %q is not an arm", o.Baseline), "name one of the arms that have files")
	}
	for i := range o.Claims {
		if err := o.claim(&o.Claims[i]); err != nil {
			return err
		}
	}
	return nil
}

// Write makes the result directory with plan, manifest and record. It fills in the workloads of the plan
// and the imported files of the manifest.
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
	lines := []record.Line{{Time: at, Run: &record.Run{Schema: record.RecordSchema, ID: "imported-" + at.UTC().Format("20060102-150405.000000000")}}}
	for i := range r.Runs {
		lines = append(lines, record.Line{Time: at, Observed: &r.Runs[i]})
	}
	for i := range r.Warnings {
		lines = append(lines, record.Line{Time: at, Warning: &r.Warnings[i]})
	}
	return append(lines, record.Line{Time: at, End: &record.End{Reason: "imported"}})
}
