package experiment

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestParse(t *testing.T) {
	got, err := Parse("dir/two.yaml", []byte(valid), testWords())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(validExperiment(), got); d != "" {
		t.Error(d)
	}
}

func TestParseForms(t *testing.T) {
	for name, src := range map[string]string{
		"aliases":    "x: 1\n",
		"arms comma": "arms: host, cgroup\n",
		"arms all":   "arms: all\n",
		"arms null":  "arms:\n",
		"auto":       "seed: auto\nwindow: auto\ndiscard: auto\ngenerations: auto\n",
		"ratio":      "precision: 0.02\nmargin: 2 %\n",
	} {
		src += "workloads: {a: {kind: commit, params: }}\n"
		e, err := Parse("f.yaml", []byte(src), testWords())
		if name == "aliases" {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "arms comma" && !cmp.Equal(e.Arms, []string{"host", "cgroup"}) {
			t.Errorf("%s: %q", name, e.Arms)
		}
		if name == "ratio" && (e.Precision != 0.02 || e.Margin != 0.02) {
			t.Errorf("%s: %v %v", name, e.Precision, e.Margin)
		}
	}
}

// An alias is read as the value of its anchor; a problem has the position of the alias.
func TestParseAnchor(t *testing.T) {
	src := "workloads:\n  a: &a {kind: oltp, params: {threads: 4}}\n  b: *a\n"
	e, err := Parse("f.yaml", []byte(src), testWords())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e.Workloads[0].Params, e.Workloads[1].Params); d != "" {
		t.Error(d)
	}
}

// Each testdata/*.yaml has its error messages beside it.
func TestErrors(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.yaml")
	if len(files) == 0 {
		t.Fatal("no testdata")
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(filepath.Base(f), src, testWords())
		if err == nil {
			t.Errorf("%s: no error", f)
			continue
		}
		golden(t, strings.TrimSuffix(f, ".yaml")+".golden", err.Error()+"\n")
		checkPositions(t, err, src)
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// checkPositions wants every problem to stand inside the file.
func checkPositions(t *testing.T, err error, src []byte) {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 {
		t.Fatalf("not Problems: %T %v", err, err)
	}
	lines := strings.Count(string(src), "\n") + strings.Count(string(src), "\r") +
		strings.Count(string(src), "\u0085") + strings.Count(string(src), "\u2028") + strings.Count(string(src), "\u2029") + 2
	for _, p := range ps {
		if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Text == "" {
			t.Errorf("problem without a position in the file (of %d lines): %#v", lines, p)
		}
	}
}
