package sysbench

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/clickhouse"
	"github.com/tarelab/tare/internal/logs/fio"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/pgbench"
	"github.com/tarelab/tare/internal/testing/formattest"
)

// result is the content of a golden file.
type result struct {
	*Log
	Intervals []Interval
	Error     string `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	log, err := Parse(known(b), func(v Interval) error {
		r.Intervals = append(r.Intervals, v)
		return nil
	})
	r.Log = log
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (r result) size() int { return len(r.Intervals) + len(r.Runs) }

// Every file was printed by the version in its name unless testdata/SOURCES.md
// says otherwise.
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
			formattest.Truncated(t, formattest.Read(t, name), 7, func(b []byte) int { return read(b).size() })
		})
	}
}

// Carriage returns change nothing but the offsets.
func TestCRLF(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		b := formattest.Read(t, name)
		want := fmt.Sprintf("%+v", read(b).Intervals)
		if got := fmt.Sprintf("%+v", read(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))).Intervals); got != want {
			t.Errorf("%s: with CR LF\n%s\nwithout\n%s", name, got, want)
		}
	}
}

const line1 = "[ 607s ] thds: 56 tps: 22154.20 qps: 354451.12 (r/w/o: 310143.73/0.00/44307.39) lat (ms,95%): 2.61 err/s: 0.00 reconn/s: 0.00"

func TestPasted(t *testing.T) {
	for _, c := range []struct {
		name, in string
		n        int
		warn     string
	}{
		{"bare", line1 + "\n", 1, ""},
		{"without end", line1, 1, ""},
		{"cut in the number", line1[:len(line1)-1], 0, "cut off inside a number"},
		{"cut before it", line1[:len(line1)-30], 0, "this looks like a report line"},
		{"prompt", "root@db1:~# " + line1 + "\n", 1, ""},
		{"prompt on one line", line1 + "\n" + line1 + "\nroot@db1:~# " + line1 + "\n", 2, "report lines behind a prefix that the other lines do not have"},
		{"prompt before the first", "root@db1:~# " + line1 + "\n" + line1 + "\n" + line1 + "\n", 3, ""},
		{"quoted", "> " + line1 + " |\n", 1, ""},
		{"numbered", "  17  " + line1 + "\r\n", 1, ""},
		{"indented", "\t" + line1 + "\n", 1, ""},
		{"decimal commas", strings.ReplaceAll(line1, ".", ",") + "\n", 1, "decimal comma"},
		{"more digits", line1 + "7\n", 1, ""},
		{"unknown key", strings.Replace(line1, "qps", "kps", 1) + "\n", 0, "looks like a report line"},
		{"back in time", line1 + "\n" + strings.Replace(line1, "607", "1", 1) + "\n", 2, "goes back from 607 s to 1 s"},
		{"no thread", strings.Replace(line1, "thds: 56", "thds: 0", 1) + "\n", 0, "without a running thread"},
		{"negative", strings.Replace(line1, "22154", "-22154", 1) + "\n", 0, "looks like a report line"},
		{"nan", strings.Replace(line1, "22154.20", "nan", 1) + "\n", 0, "looks like a report line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read([]byte(c.in))
			if len(r.Intervals) != c.n {
				t.Errorf("%d report lines, want %d: %+v", len(r.Intervals), c.n, r)
			}
			if got := fmt.Sprint(r.Warnings); c.warn != "" && !strings.Contains(got, c.warn) || c.warn == "" && got != "[]" {
				t.Errorf("warnings %v, want %q", got, c.warn)
			}
		})
	}
}

func TestBaseUnits(t *testing.T) {
	v := read([]byte(line1)).Intervals[0]
	if v.Time != 607 || !v.Threads.Is(56) || !v.Events.Is(22154.20) || !v.Queries.Is(354451.12) || !v.Writes.Is(0) ||
		v.Latency.Q != 0.95 || !v.Latency.Seconds.Is(2.61/milli) {
		t.Errorf("%+v", v)
	}
}

// An interval without events has no latency.
func TestNoLatency(t *testing.T) {
	in := strings.Replace(strings.Replace(line1, "22154.20", "0.00", 1), "2.61", "0.00", 1)
	v := read([]byte(in)).Intervals[0]
	if v.Latency.Seconds.Known() || !v.Events.Is(0) {
		t.Errorf("%+v", v)
	}
}

func TestPublished(t *testing.T) {
	for name, want := range map[string]struct {
		n           int
		first, mean float64
	}{
		"published-bare-metal.log":      {3, 607, 22128.67},
		"published-pod-guaranteed.log":  {10, 883, 19389.78},
		"published-pod-best-effort.log": {12, 605, 12266.00},
	} {
		r := read(formattest.Read(t, filepath.Join("testdata", name)))
		sum := 0.0
		for _, v := range r.Intervals {
			x, _ := v.Events.Get()
			sum += x
		}
		if len(r.Intervals) != want.n || r.Runs[0].First != want.first || fmt.Sprintf("%.2f", sum/float64(want.n)) != fmt.Sprintf("%.2f", want.mean) {
			t.Errorf("%s: %d lines from %v, mean %v; want %+v", name, len(r.Intervals), r.Runs[0].First, sum/float64(want.n), want)
		}
	}
}

func TestNothing(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "the input is empty",
		"hello\nworld\n":               "no output of sysbench in 2 lines",
		"a\nLoaded 3 queries.\n":       "looks like output of clickhouse-benchmark (line 2)",
		"fio-3.33\nStarting 1 job\n":   "looks like output of fio (line 1)",
		"sysbench 1.0.20 (using x)\n":  "no output of sysbench in 1 lines",
		"[ 1s ] thds: 1 tps: 1.0 qp\n": "no output of sysbench in 1 lines",
	} {
		_, err := Parse(known([]byte(in)), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

// Output of another tool in the same file is a warning with its line; sysbench's output is read.
func TestMixed(t *testing.T) {
	b := formattest.Read(t, "testdata/sysbench-1.0.20-sweep.log")
	n := bytes.Count(b, []byte("\n"))
	in := append(append(bytes.Clone(b), "pgbench (15.14)\nprogress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 1.000, 0 failed\n"...), b...)
	r := read(in)
	if len(r.Runs) != 6 || len(r.Intervals) != 2*len(read(b).Intervals) {
		t.Errorf("%d runs, %d report lines", len(r.Runs), len(r.Intervals))
	}
	if want := fmt.Sprintf("line %d: output of pgbench begins here", n+1); !strings.Contains(fmt.Sprint(r.Warnings), want) {
		t.Errorf("%v, want %q", r.Warnings, want)
	}
}

// kubectl logs --timestamps puts a time before every line.
func TestStamped(t *testing.T) {
	b := formattest.Read(t, "testdata/sysbench-1.0.20-histogram.log")
	lines := strings.SplitAfter(strings.TrimSuffix(string(b), "\n"), "\n")
	in := "2026-11-21T07:00:00.123456789Z " + strings.Join(lines, "2026-11-21T07:00:01.5Z ") + "\n"
	if got, want := fmt.Sprintf("%+v", read([]byte(in)).Runs[0].Histogram), fmt.Sprintf("%+v", read(b).Runs[0].Histogram); got != want || read([]byte(in)).size() != read(b).size() {
		t.Errorf("%s, want %s", got, want)
	}
}

// An unknown version is read, with a warning.
func TestUnknownVersion(t *testing.T) {
	b := formattest.Read(t, "testdata/sysbench-1.1.0-sweep.log")
	r := read(bytes.ReplaceAll(b, []byte("sysbench 1.1.0"), []byte("sysbench 2.3.1")))
	if len(r.Runs) != 3 || !strings.Contains(fmt.Sprint(r.Warnings), "sysbench 2.3.1 is not a version that is known") {
		t.Errorf("%d runs, %v", len(r.Runs), r.Warnings)
	}
}

func TestCallbackStops(t *testing.T) {
	stop := errors.New("enough")
	_, err := Parse(strings.NewReader(strings.Repeat(line1+"\n", 5)), func(Interval) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

// A truncated compressed file gives the text before the damage, and an error.
func TestReadError(t *testing.T) {
	log, err := Parse(errorAfter{strings.NewReader(line1 + "\n")}, nil)
	if err == nil || len(log.Runs) != 1 || log.Runs[0].Intervals != 1 {
		t.Errorf("%v, %+v", err, log)
	}
}

type errorAfter struct{ r *strings.Reader }

func (e errorAfter) Read(p []byte) (int, error) {
	if e.r.Len() == 0 {
		return 0, &format.Error{Text: "cut off"}
	}
	return e.r.Read(p)
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, "*.log") {
		f.Add(formattest.Read(f, name))
	}
	f.Add([]byte("[1s] threads: 1, tps: 1,5, reads/s: 2, writes/s: 3, response time: 1ms (99%)\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).size() })
	})
}

func BenchmarkIntervals(b *testing.B) {
	for name, line := range map[string]string{
		"1.0":  line1,
		"0.5":  "[   1s] threads: 2, tps: 1491.85, reads: 20901.94, writes: 5969.41, response time: 2.71ms (95%), errors: 0.00, reconnects:  0.00",
		"junk": "2026-11-21 07:00:00 db1: " + line1,
	} {
		b.Run(name, func(b *testing.B) {
			in := bytes.Repeat([]byte(line+"\n"), 100_000)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if _, err := Parse(known(in), func(Interval) error { n++; return nil }); err != nil || n != 100_000 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// known makes a Text with the known tools.
func known(b []byte) *format.Text {
	return &format.Text{Reader: bytes.NewReader(b), Known: format.Tools{declared, clickhouse.Reader.Tool, fio.Reader.Tool, pgbench.Reader.Tool}}
}
