package pgbench

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/testing/formattest"
)

type result struct {
	*content
	Progress []progress
	Error    string `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	log, err := parse(known(b), func(v progress) error {
		r.Progress = append(r.Progress, v)
		return nil
	})
	r.content = log
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (r result) size() int { return len(r.Progress) + len(r.Runs) }

func TestGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Golden(t, name, read(formattest.Read(t, name)))
		})
	}
}

func TestTruncated(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Truncated(t, formattest.Read(t, name), 1, func(b []byte) int { return read(b).size() })
		})
	}
}

func TestCRLF(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		b := formattest.Read(t, name)
		want, got := read(b), read(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
		if fmt.Sprintf("%+v", got) == fmt.Sprintf("%+v", want) {
			continue
		}
		if len(got.Runs) != len(want.Runs) || fmt.Sprintf("%+v", got.Progress) != fmt.Sprintf("%+v", want.Progress) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Versions use different words for the same figures.
func TestVersions(t *testing.T) {
	for name, check := range map[string]func(*run) bool{
		"9.3": func(r *run) bool {
			return r.TPS.Is(85.296346) && r.TPSConnecting.Is(85.184871) && !r.Latency.Known()
		},
		"9.5-rate":   func(r *run) bool { return near(r.Latency, 3.207e-3) },
		"12-scripts": func(r *run) bool { return r.TPS.Known() && r.Latency.Known() },
		"14-connect": func(r *run) bool {
			return r.Version == "14.9" && r.Server == "13.12" && !r.TPS.Known() && r.TPSConnecting.Is(406.803371)
		},
		"15-select": func(r *run) bool {
			return r.Version == "15.18" && r.Latency.Known() && r.Failed.Is(0)
		},
		"17-scripts":   func(r *run) bool { return r.Failed.Known() && r.TPS.Known() },
		"17-aborted":   func(r *run) bool { return r.Failures.Count > 0 && r.Complete() },
		"15-timestamp": func(r *run) bool { return r.Intervals == 2 },
	} {
		r := read(formattest.Read(t, "testdata/pgbench-"+name+".log"))
		if r.Error != "" || len(r.Runs) != 1 || !r.Runs[0].Complete() || !check(&r.Runs[0]) {
			t.Errorf("%s: %s %+v", name, r.Error, r.content)
		}
	}
}

// If no transaction finished there is no latency, however the version prints it.
func TestIdle(t *testing.T) {
	for _, name := range []string{"15-idle", "9.5-rate"} {
		for _, v := range read(formattest.Read(t, "testdata/pgbench-"+name+".log")).Progress {
			if v.TPS.Is(0) == v.Latency.Known() {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

func near(n format.Num, x float64) bool {
	y, ok := n.Get()
	return ok && math.Abs(y-x) < 1e-12
}

const line = "progress: 2.0 s, 17.4 tps, lat 114.443 ms stddev 263.347, 5 failed, 8 retried, 15 retries"

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in, warn, err string
		n                   int
	}{
		{"bare", line + "\n", "", "", 1},
		{"no end", line, "", "", 1},
		{"cut", line[:strings.Index(line, ", 8")], "", "", 1}, // ", 5 failed" is a whole line of 15
		{"cut in a number", line[:52], "cut off inside a number", "no output", 0},
		{"comma", strings.ReplaceAll(line, ".", ",") + "\n", "decimal comma", "", 1},
		{"prompt", "$ " + line + "\n", "", "", 1},
		{"back", line + "\n" + strings.Replace(line, "2.0 s", "1.0 s", 1) + "\n", "goes back", "", 2},
		{"unknown", strings.Replace(line, "retries", "miracles", 1) + "\n", "", "no output of pgbench", 0},
		{"empty", "", "", "the input is empty", 0},
		{"sysbench", "SQL statistics:\n", "", "looks like output of sysbench", 0},
		{"refused", "pgbench: error: connection to server failed: No such file or directory\n", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read([]byte(c.in))
			if len(r.Progress) != c.n || !strings.Contains(r.Error, c.err) || c.err == "" && r.Error != "" || !strings.Contains(fmt.Sprint(r.Warnings), c.warn) {
				t.Errorf("%d lines, %q, %v", len(r.Progress), r.Error, r.Warnings)
			}
		})
	}
}

type logResult struct {
	*summary
	Transactions []Transaction `json:",omitempty"`
	Error        string        `json:",omitempty"`
}

func readLog(b []byte) logResult {
	r := logResult{}
	s, err := parseLog(bytes.NewReader(b), func(v Transaction) { r.Transactions = append(r.Transactions, v) })
	if r.summary = s; err != nil {
		r.Error = err.Error()
	}
	return r
}

func TestLogGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*transactions*.txt") {
		r := readLog(formattest.Read(t, name))
		if len(r.Transactions) > 20 {
			r.Transactions = r.Transactions[:20]
		}
		formattest.Golden(t, name, r)
	}
}

func TestLogLines(t *testing.T) {
	for in, want := range map[string]string{
		"0 1 2699 0 1795253729 886881\n":              "latency 2699000 failed false skipped false",
		"0 2 skipped 0 1795253730 333020 0\n":         "latency 0 failed false skipped true",
		"0 2 failed 0 1795253730 333020\n":            "latency 0 failed true skipped false",
		"0 2 serialization 0 1795253730 333020 0 2\n": "latency 0 failed true skipped false",
		"0 2 deadlock 0 1795253730 333020 2\n":        "latency 0 failed true skipped false",
		"0 2 nonsense 0 1795253730 333020\n":          "none",
		"0 2 12 0 1795253730 1333020\n":               "none",
		"0 2 -12 0 1795253730 333020\n":               "none",
		"0 2 12 0 1795253730\n":                       "none",
		"1795253730 2 12 24 5 7\n":                    "none", // --aggregate-interval
		"0 1 2699 0 1795253729 8868":                  "none", // no end
	} {
		got := "none"
		if r := readLog([]byte(in)); len(r.Transactions) == 1 {
			x := r.Transactions[0]
			got = fmt.Sprintf("latency %d failed %v skipped %v", x.Latency, x.Failed, x.Skipped)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, "*.log") {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).size() })
	})
}

func FuzzParseLog(f *testing.F) {
	for _, name := range formattest.Files(f, "*.txt") {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return readLog(in) })
		formattest.CutLines(t, in, func(b []byte) int { return readLog(b).Lines })
	})
}

func BenchmarkLog(b *testing.B) {
	in := []byte(strings.Repeat("0 123456 2699 0 1795253729 886881\n", 200_000))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseLog(bytes.NewReader(in), func(Transaction) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProgress(b *testing.B) {
	in := []byte(strings.Repeat("progress: 2.0 s, 2030.1 tps, lat 0.985 ms stddev 1.457, 0 failed\n", 100_000))
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(known(in), func(progress) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// known makes a Text with the known tools.
func known(b []byte) *format.Text {
	return &format.Text{Reader: bytes.NewReader(b), Known: format.Tools{declared, sysbench.Reader.Tool}}
}
