package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares the forms of fixtures with what a person looked at and found readable. Widths, colour and data forms
// are those of one fixture each: TestFormsAgree compares the forms of all.
func TestGolden(t *testing.T) {
	forms := map[string]func(*bytes.Buffer, *record.Effects) error{
		"short.txt": func(b *bytes.Buffer, e *record.Effects) error { return english.Text(b, answered(e), Options{Dir: "r"}) },
		"60.txt": func(b *bytes.Buffer, e *record.Effects) error {
			return english.Text(b, answered(e), Options{Width: 60})
		},
		"100.txt": func(b *bytes.Buffer, e *record.Effects) error {
			return english.Text(b, answered(e), Options{Verbose: true})
		},
		"80.txt": func(b *bytes.Buffer, e *record.Effects) error {
			return english.Text(b, answered(e), Options{Width: 80, Verbose: true})
		},
		"color.txt": func(b *bytes.Buffer, e *record.Effects) error {
			return english.Text(b, answered(e), Options{Color: true, Verbose: true})
		},
		"md":   func(b *bytes.Buffer, e *record.Effects) error { return english.Markdown(b, answered(e), nil) },
		"json": func(b *bytes.Buffer, e *record.Effects) error { return export.JSON(b, answered(e)) },
		"csv":  func(b *bytes.Buffer, e *record.Effects) error { return export.CSV(b, answered(e)) },
	}
	for name, e := range fixtures() {
		for form, print := range forms {
			if of, one := map[string]string{"60.txt": "rich", "80.txt": "rich", "color.txt": "rich", "csv": "user"}[form]; one && of != name {
				continue
			}
			if form == "json" && (name == "rich" || name == "killed" || name == "hopeless") {
				continue // long and alike; TestJSON reads them back
			}
			t.Run(name+"."+form, func(t *testing.T) {
				var b bytes.Buffer
				if err := print(&b, e); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+form, b.Bytes())
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with go test -update, then look at it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
