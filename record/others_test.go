package record

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// A result directory can be somebody else's: what is no file is not waited for, and what
// has no end is not read to it.
func TestResultsOfOthers(t *testing.T) {
	dir, path := write(t, runLine(), blockLine(0))
	holes := func(t *testing.T, path string, size int64) {
		if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		file string
		make func(t *testing.T, path string)
		says string
	}{
		"a pipe for a record": {RecordFile, func(t *testing.T, path string) { mkfifo(t, path) }, "is not a file"},
		"a pipe for a plan":   {PlanFile, func(t *testing.T, path string) { mkfifo(t, path) }, "is not a file"},
		"a line without end":  {RecordFile, func(t *testing.T, path string) { holes(t, path, 2*longestLine) }, "a line of more than"},
		"a plan without end":  {PlanFile, func(t *testing.T, path string) { holes(t, path, 2*largestFile) }, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := t.TempDir()
			for _, f := range []string{PlanFile, ManifestFile, RecordFile} {
				b, err := os.ReadFile(filepath.Join(dir, f))
				if err == nil {
					err = os.WriteFile(filepath.Join(theirs, f), b, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			c.make(t, filepath.Join(theirs, c.file))
			if _, err := Read(theirs); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if r, err := Read(filepath.Dir(path)); err != nil || len(r.Lines) != 2 {
		t.Errorf("%v", err)
	}
}

func mkfifo(t *testing.T, path string) {
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Whatever is in a record: no crash, and read in one piece it says what it says read in
// two.
func FuzzRead(f *testing.F) {
	dir, path := write(f, runLine(), blockLine(0), blockLine(1), Line{Time: began, End: &End{Reason: "budget"}})
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add(seed[:len(seed)-9])
	f.Add([]byte("{}\n\n{\"block\":{}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		whole, err := Read(dir)
		scanned, scanErr := Scan(dir)
		if err != nil {
			return // what is wrong in a block Each says
		}
		if scanErr != nil || whole.Whole != scanned.Whole || whole.Torn != scanned.Torn {
			t.Fatalf("%v; %+v and %+v", scanErr, whole, scanned)
		}
		var lines []Line
		if err := scanned.Each(func(l *Line) {
			if *l != (Line{}) {
				lines = append(lines, *l)
			}
		}); err != nil || len(lines) != len(whole.Lines) {
			t.Fatalf("%d and %d lines, %v", len(lines), len(whole.Lines), err)
		}
		for i := range lines {
			if !reflect.DeepEqual(lines[i], whole.Lines[i]) {
				t.Errorf("line %d: %+v and %+v", i, lines[i], whole.Lines[i])
			}
		}
	})
}
