package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/arms/layers"
	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// A continued record numbers its launches on, and its new windows follow the old ones. A torn last
// line is removed, and no other process may write meanwhile.
func TestContinue(t *testing.T) {
	testneed.Root(t)
	host := inspect.Host("/")
	e := spinExperiment(4 * time.Second)
	e.Generations = 2
	p, err := plan.Build(e, catalog(plan.Rung{Environment: layers.Host}), host, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/result"
	busy, id := 0, idOf(t)
	again := func(earlier *run.Earlier) {
		t.Helper()
		id += "x" // of each run its own
		_, err := run.Execute(context.Background(), run.Config{
			ID: id, Plan: p, Dir: dir, StateDir: t.TempDir(), Groups: host.Groups, Probes: probe.All(), Earlier: earlier,
			Decide: func(record.Workload, []record.Line) run.Decision { return run.Decision{} },
			Progress: func(run.Event) {
				if _, err := run.Reopen(dir); errors.Is(err, run.ErrRunning) {
					busy++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	again(nil)
	file := filepath.Join(dir, record.RecordFile)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(whole, `{"time":"2026-`...), 0o644); err != nil {
		t.Fatal(err)
	}
	earlier, err := run.Reopen(dir)
	if err != nil || !earlier.Torn || earlier.Whole != int64(len(whole)) {
		t.Fatalf("%+v, %v", earlier, err)
	}
	if _, err := run.Reopen(dir); !errors.Is(err, run.ErrRunning) || busy == 0 {
		t.Errorf("it is written by two: %v, %d times refused while it was measured", err, busy)
	}
	again(earlier)

	r, err := record.Read(dir)
	if err != nil || r.Torn {
		t.Fatalf("torn: %v, %v", r != nil && r.Torn, err)
	}
	runs, pilots, last, said := 0, 0, 0.0, false
	launches, first := 0, 0 // beside other work there are fewer; the first one of the second run
	for _, l := range r.Lines {
		switch {
		case l.Run != nil:
			runs++
			first = launches
		case l.Pilot != nil:
			pilots++
		case l.Warning != nil:
			said = true
		case l.Generation != nil:
			if l.Generation.Number != launches {
				t.Errorf("launch %d has number %d", launches, l.Generation.Number)
			}
			launches++
		case l.Block != nil:
			for _, w := range l.Block.Windows {
				if w.Start < last {
					t.Errorf("a window starts at %v s, before the end of the last one at %v s", w.Start, last)
				}
				last = w.Start + w.Seconds
			}
		}
	}
	if runs != 2 || pilots != 1 || !said || first == 0 || first == launches {
		t.Errorf("%d runs, %d pilots, said %v, %d launches, from %d on of the second run", runs, pilots, said, launches, first)
	}
	if r.Plan.Budget != 2*p.Record.Budget || last == 0 || len(r.Manifest.Settings) != 2 {
		t.Errorf("a budget of %v s, windows up to %v s, settings of %d arms", r.Plan.Budget, last, len(r.Manifest.Settings))
	}
}

// Root does not write into a directory in which another user can put links.
func TestResultDirectoryOfAnother(t *testing.T) {
	testneed.Root(t)
	dir := filepath.Join(t.TempDir(), "result")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	_, err := run.Execute(t.Context(), run.Config{ID: "another", Plan: &plan.Plan{}, Dir: dir, StateDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "is of user 12345") || !strings.Contains(hint.Of(err), "-o") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("written: %v %v", entries, err)
	}
	if _, err := run.Reopen(dir); err == nil || !strings.Contains(err.Error(), "is of user 12345") {
		t.Errorf("continued: %v", err)
	}
}
