package hyperfine

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/formattest"
)

type outcome struct {
	*content
	Error string `json:",omitempty"`
}

func read(b []byte, parse func([]byte) (*content, error)) outcome {
	log, err := parse(b)
	r := outcome{content: log}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func readJSON(b []byte) outcome {
	return read(b, func(b []byte) (*content, error) { return parse(bytes.NewReader(b)) })
}

func readCSV(b []byte) outcome {
	return read(b, func(b []byte) (*content, error) { return parseCSV(bytes.NewReader(b)) })
}

func TestGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*.json") {
		formattest.Golden(t, name, readJSON(formattest.Read(t, name)))
	}
	for _, name := range formattest.Files(t, "*.csv") {
		formattest.Golden(t, name, readCSV(formattest.Read(t, name)))
	}
}

func TestTruncated(t *testing.T) {
	for _, name := range formattest.Files(t, "*.json") {
		formattest.Truncated(t, formattest.Read(t, name), 1, func(b []byte) int { return len(readJSON(b).Results) })
	}
	for _, name := range formattest.Files(t, "*.csv") {
		formattest.Truncated(t, formattest.Read(t, name), 1, func(b []byte) int { return len(readCSV(b).Results) })
	}
}

// JSON and CSV of one call of hyperfine agree.
func TestExportsAgree(t *testing.T) {
	for _, name := range []string{"hyperfine-1.15", "hyperfine-1.15-parameter"} {
		j := readJSON(formattest.Read(t, filepath.Join("testdata", name+".json"))).Results
		c := readCSV(formattest.Read(t, filepath.Join("testdata", name+".csv"))).Results
		for i := range j {
			x, _ := j[i].Mean.Get()
			y, _ := c[i].Mean.Get()
			if math.Abs(x-y) > 1e-12 || j[i].Command != c[i].Command {
				t.Errorf("%s: %+v and %+v", name, j[i], c[i])
			}
		}
	}
}

func TestMissing(t *testing.T) {
	r := readJSON(formattest.Read(t, "testdata/hyperfine-1.15-failing.json"))
	f := r.Results[0]
	if !f.Mean.Known() || f.Times[1].Known() || f.Failed != 3 || f.Runs == 0 || len(r.Warnings) != 2 {
		t.Errorf("%+v %v", f, r.Warnings)
	}
	k := readJSON(formattest.Read(t, "testdata/hyperfine-1.20.json")).Results
	if k[1].Failed != 2 {
		t.Errorf("%+v", k)
	}
}

func TestProblems(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/hyperfine-1.15.json"))
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "the input is empty"},
		{"cut", whole[:200], "line 1: the JSON document that begins here has no end"},
		{"screen", string(formattest.Read(t, "testdata/hyperfine-1.15.txt")), "--export-json"},
		{"fio", "{\n \"fio version\" : \"fio-3.33\"\n}\n", "JSON that is not hyperfine's"},
		{"text for number", strings.Replace(whole, `"mean": 0`, `"mean": "x", "z": 0`, 1), "line 5: results.mean is a string where a number is expected"},
	} {
		if r := readJSON([]byte(c.in)); len(r.Results) != 0 || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: %d results, %q, want %q", c.name, len(r.Results), r.Error, c.want)
		}
	}
	if r := readCSV([]byte("a,b\n1,2\n")); !strings.Contains(r.Error, "command and mean") {
		t.Errorf("%+v", r)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, "*.json", "*.csv", "*.txt") {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return []outcome{readJSON(in), readCSV(in)} })
		formattest.CutLines(t, in, func(b []byte) int { return len(readJSON(b).Results) })
	})
}
