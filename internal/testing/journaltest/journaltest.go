// Package journaltest writes journals as killed runs leave them, and tests which steps are
// refused.
package journaltest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/undo/journal"
)

// Header is the header of a run whose process is gone.
func Header(t testing.TB, run string) journal.Header {
	t.Helper()
	p, err := proc.FS("/").Process(os.Getpid())
	boot, bootErr := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err := errors.Join(err, bootErr); err != nil {
		t.Fatal(err)
	}
	return journal.Header{
		Schema: journal.Schema, Run: run, Pid: os.Getpid(), Start: p.Start + 1, // the same pid, but another process
		Boot: strings.TrimSpace(string(boot)), Command: os.Args, Time: time.Now().UTC(),
	}
}

// File is the path of a run's journal.
func File(stateDir, run string) string {
	return filepath.Join(stateDir, "journal", run+".jsonl")
}

// Write writes the journal of a killed run, without checks of its steps.
func Write(t testing.TB, stateDir string, h journal.Header, steps ...journal.Step) {
	t.Helper()
	lines := []map[string]any{{"header": h}}
	for i, s := range steps {
		text, err := journal.Text(s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, map[string]any{"step": json.RawMessage(text), "token": i + 1})
	}
	var all []byte
	for _, l := range lines {
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, b...), '\n')
	}
	file := File(stateDir, h.Run)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, all, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Undone undoes a run and fails the test if a step fails or the journal is left.
func Undone(t testing.TB, stateDir, run string, kinds journal.Kinds) journal.Report {
	t.Helper()
	r, err := journal.Undo(stateDir, run, kinds)
	if err != nil {
		t.Error(err)
	}
	for _, f := range r.Failed {
		t.Errorf("%s: %v", f.Step, f.Err)
	}
	if _, err := os.Lstat(File(stateDir, run)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal of %s is left: %v", run, err)
	}
	return r
}

// Checks fails the test unless the steps own are accepted for the run "r" and for no other, and
// others are refused.
func Checks(t *testing.T, own, others []journal.Step) {
	t.Helper()
	for _, s := range own {
		if err := s.Check("r"); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
		if s.Check("r2") == nil {
			t.Errorf("another run took %+v", s)
		}
	}
	for _, s := range others {
		if s.Check("r") == nil {
			t.Errorf("took %+v", s)
		}
	}
}
