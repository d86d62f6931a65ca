package clickhouse

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/testing/formattest"
)

type result struct {
	*content
	Interim []report
	Error   string `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	log, err := parse(known(b), func(v report) error {
		r.Interim = append(r.Interim, v)
		return nil
	})
	r.content = log
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (r result) size() int {
	n := len(r.Interim)
	for _, run := range r.Runs {
		if run.Total != nil {
			n++
		}
	}
	return n
}

var outputs = []string{"*.log", "*.json"}

func TestGolden(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Golden(t, name, read(formattest.Read(t, name)))
		})
	}
}

func TestTruncated(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Truncated(t, formattest.Read(t, name), 3, func(b []byte) int { return read(b).size() })
		})
	}
}

func TestCRLF(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		b := formattest.Read(t, name)
		want, got := read(b), read(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
		if fmt.Sprintf("%+v", got.Interim) != fmt.Sprintf("%+v", want.Interim) || got.size() != want.size() {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Text and JSON show the span of versions, and which report covers the whole run.
func TestEras(t *testing.T) {
	for name, want := range map[string]struct {
		era      string
		reports  int
		complete bool
	}{
		"1.1.log":              {"1.1 to 18.x", 2, true},
		"18.16.log":            {"1.1 to 18.x", 2, true},
		"18.16-killed.log":     {"1.1 to 18.x", 2, false},
		"19-two-servers.log":   {"19.x", 1, true},
		"20.log":               {"20 to 23.7", 3, true},
		"20-cumulative.log":    {"20 to 23.7", 2, true},
		"20-killed.log":        {"20 to 23.7", 2, false},
		"20-errors.log":        {"20 to 23.7", 2, true},
		"23.8.log":             {"23.8 or later", 2, true},
		"24-two-servers.log":   {"23.8 or later", 1, true},
		"24-errors.log":        {"23.8 or later", 2, true},
		"1.1-issue619.json":    {"1.1", 0, true},
		"18.16.json":           {"1.1 to 18.x", 0, true},
		"19.json":              {"19 to 22.4", 0, true},
		"21.json":              {"19 to 22.4", 0, true},
		"23.3.json":            {"22.5 to 23.7", 0, true},
		"published-alone.json": {"19 to 22.4", 0, true},
	} {
		r := read(formattest.Read(t, filepath.Join("testdata", name)))
		if len(r.Runs) != 1 {
			t.Errorf("%s: %d runs", name, len(r.Runs))
			continue
		}
		run := r.Runs[0]
		if run.Era != want.era || run.Reports != want.reports || run.Complete != want.complete || run.Cumulative != strings.Contains(name, "cumulative") {
			t.Errorf("%s: %+v, want %+v", name, run, want)
		}
		for _, s := range run.Total.Servers {
			if !s.QPS.Known() || !format.At(s.Quantiles, 0.5).Known() || !format.At(s.Quantiles, 0.99).Known() {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// The study's own numbers: against the baseline, QPS -50.0 % and -0.15 %, and
// P50 +73.3 %, P90 +96.4 %, P99 +78.0 % without isolation.
func TestPublished(t *testing.T) {
	arm := func(name string) serverTotal {
		return read(formattest.Read(t, "testdata/published-"+name+".json")).Runs[0].Total.Servers[0]
	}
	alone, hog, qos := arm("alone"), arm("hog-no-isolation"), arm("hog-qos-level")
	ratio := func(a, b format.Num) string {
		x, _ := a.Get()
		y, _ := b.Get()
		return fmt.Sprintf("%+.2f", (x/y-1)*100)
	}
	got := []string{ratio(hog.QPS, alone.QPS), ratio(qos.QPS, alone.QPS)}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		got = append(got, ratio(format.At(hog.Quantiles, q), format.At(alone.Quantiles, q)))
	}
	if want := "[-50.01 -0.15 +73.33 +96.39 +78.00]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if alone.Queries.Known() {
		t.Errorf("%+v", alone)
	}
}

// Figures that a revision computed wrongly are not read.
func TestTraps(t *testing.T) {
	server := func(name string) serverTotal {
		return read(formattest.Read(t, "testdata/"+name)).Runs[0].Total.Servers[0]
	}
	if s := server("1.1-issue619.json"); s.Queries.Known() || !s.QPS.Known() {
		t.Errorf("%+v", s)
	}
	if s := server("20.log"); !s.Queries.Known() || s.Errors.Known() {
		t.Errorf("%+v", s)
	}
}

const line = "localhost:9000, queries: 10, QPS: 6.772, RPS: 67904487.440, MiB/s: 518.070, result RPS: 67721584.984, result MiB/s: 516.675.\n"

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, in, err, warn string
		n                   int
	}{
		{"empty", "", "the input is empty", "", 0},
		{"bare line", line, "", "percentiles of the last report are not complete", 1},
		{"cut line", line[:len(line)-10], "cut off or of an unknown version", "cut off", 0},
		{"comma", strings.ReplaceAll(line, "6.772", "6,772"), "", "decimal comma", 1},
		{"round robin", "a:9000, b:9000, " + line[16:], "", "", 1},
		{"loaded only", "Loaded 1 queries.\n", "the run that begins here has no report", "", 0},
		{"refused", "Loaded 1 queries.\nCode: 210. DB::NetException: Connection refused (localhost:9000)\n", "no report; the tool said: Code: 210", "", 0},
		{"other JSON", `{"fio version": "fio-3.33"}`, "JSON that is not clickhouse-benchmark's", "was not read", 0},
		{"damaged JSON", "{\"statistics\": {\"QPS\": 1,5}}", "decimal comma", "", 0},
		{"cut JSON", "{\"statistics\": {\"QPS\": 1.5", "has no end", "", 0},
		{"fio", "Run status group 0 (all jobs):\n", "looks like output of fio", "", 0},
		{"two runs", "Loaded 1 queries.\n\nQueries executed: 10.\n" + line + "\nQueries executed: 4.\n" + line, "", "fewer queries than", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read([]byte(c.in))
			if r.size() != c.n || !strings.Contains(r.Error, c.err) || c.err == "" && r.Error != "" || !strings.Contains(fmt.Sprint(r.Warnings), c.warn) {
				t.Errorf("%d reports, %q, %v", r.size(), r.Error, r.Warnings)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, outputs...) {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).size() })
	})
}

func BenchmarkText(b *testing.B) {
	in := bytes.Repeat(formattest.Read(b, "testdata/20.log"), 200)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := parse(known(in), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// known makes a Text with the known tools.
func known(b []byte) *format.Text {
	return &format.Text{Reader: bytes.NewReader(b), Known: format.Tools{declared, fio.Reader.Tool}}
}
