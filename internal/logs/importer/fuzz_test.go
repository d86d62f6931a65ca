package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/analysis"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// names are the names of FuzzRead's files: some readers use the name.
var names = []string{"a.log", "a_lat.1.log", "a_iops.log", "a_bw.log", "a.json", "a.csv", "a.gz", "pgbench_log.1"}

// FuzzRead imports any file and computes effects. The file is refused by name or judged, no missing figure
// becomes 0, and two arms with the same file never differ.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../*/testdata/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 || strings.HasSuffix(name, ".golden") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(len(name)), b)
	}
	dir, other := f.TempDir(), f.TempDir()
	f.Fuzz(func(t *testing.T, name uint8, in []byte) {
		path, again := filepath.Join(dir, names[int(name)%len(names)]), filepath.Join(other, names[int(name)%len(names)])
		for _, p := range []string{path, again} {
			if err := os.WriteFile(p, in, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "a", Files: []string{path}}, {Name: "b", Files: []string{again}}}})
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+": ") && !strings.HasPrefix(err.Error(), "nothing to compare: ") { // about all files
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		result := &record.Result{Plan: record.Plan{Workloads: r.Workloads, Margin: 0.01}, Manifest: record.Manifest{Imported: &r.Imported}}
		for i := range r.Runs {
			result.Lines = append(result.Lines, record.Line{Observed: &r.Runs[i]})
			for _, x := range r.Runs[i].Figures {
				if v, ok := x.Total.Get(); ok && !(v > 0) {
					t.Fatalf("%s of the whole run is %v", x.Metric, v)
				}
			}
		}
		e, err := analysis.Analyse(result)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range e.Effects {
			if x.Baseline != "a" || x.Arm != "b" {
				continue // a table that names arms
			}
			if x.Verdict.Differs() || x.Observed > 0 && (x.Observed < 0.999999 || x.Observed > 1.000001) {
				t.Fatalf("a file differs from itself: %+v", x)
			}
		}
		if _, err := json.Marshal(e); err != nil {
			t.Fatal(err)
		}
	})
}
