package fio

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

// result is the content of a golden file.
type result struct {
	*Log
	Reports int
	Error   string `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	log, err := Parse(known(b))
	r.Log, r.Reports = log, len(log.Runs)+log.Interim
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

var outputs = []string{"*.json", "*.txt"}

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
			formattest.Truncated(t, formattest.Read(t, name), 101, func(b []byte) int { return read(b).Reports })
		})
	}
}

func TestCRLF(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		b := formattest.Read(t, name)
		want, got := read(b), read(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
		if fmt.Sprintf("%+v", got.Runs) == fmt.Sprintf("%+v", want.Runs) {
			continue
		}
		formattest.Same(t, func() any { return got })
		if len(got.Runs) != len(want.Runs) {
			t.Errorf("%s: %d runs with CR LF, %d without", name, len(got.Runs), len(want.Runs))
		}
	}
}

// A client prints the version of each server but not its own.
func TestVersionsOfServers(t *testing.T) {
	server := func(version string) string {
		return "hostname=a, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-" + version + ", flags=1\n"
	}
	_, one, _ := strings.Cut(string(formattest.Read(t, "testdata/fio-3.33.txt")), "fio-3.33\n")
	for want, text := range map[string]string{
		"3.33":          server("3.33") + server("3.33") + one,
		"3.33 and 3.38": server("3.33") + server("3.38") + one,
		"3.33; 3.38":    server("3.33") + one + server("3.38") + server("3.38") + one,
		"3.33; 3 and 4": server("3.33") + one + server("3") + server("4") + one,
	} {
		var got []string
		for _, r := range read([]byte(text)).Runs {
			got = append(got, r.Version)
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}

// All forms and versions give the same figures for the same rate: 300 reads and 100 writes of 4 KiB per second
// were asked for.
func TestErasAgree(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		r := read(formattest.Read(t, name))
		if strings.Contains(name, "error") || strings.Contains(name, "terse-text") || strings.HasSuffix(name, "fio-3.33.json") { // that one met a stall of the host
			continue
		}
		for _, run := range r.Runs {
			d, want := run.Jobs[0].Read, 300.0
			if d == nil {
				d, want = run.Jobs[0].Mixed, 400
			}
			checkRate(t, name, d, want)
		}
	}
}

func checkRate(t *testing.T, name string, d *Direction, want float64) {
	t.Helper()
	iops, _ := d.IOPS.Get()
	bw, _ := d.Bandwidth.Get()
	mean, ok := d.Lat.Mean.Get()
	switch {
	case math.Abs(iops/want-1) > 0.25:
		t.Errorf("%s: %v IOPS", name, iops)
	case math.Abs(bw/4096/iops-1) > 0.05:
		t.Errorf("%s: %v B/s and %v IOPS", name, bw, iops)
	case !ok || mean < 5e-6 || mean > 10e-3:
		t.Errorf("%s: mean latency %v s", name, mean)
	}
	checkQuantiles(t, name, d.Clat)
}

func checkQuantiles(t *testing.T, name string, l *Latency) {
	t.Helper()
	last := 0.0
	for _, q := range l.Quantiles {
		x, _ := q.Seconds.Get()
		if q.Q <= 0 || q.Q > 1 || x < last {
			t.Errorf("%s: quantile %v is %v s", name, q.Q, x)
		}
		last = x
	}
	if len(l.Quantiles) != 17 {
		t.Errorf("%s: %d quantiles", name, len(l.Quantiles))
	}
}

// The histogram of json+ counts every I/O and agrees with the latencies.
func TestBins(t *testing.T) {
	for _, name := range formattest.Files(t, "*-plus.json") {
		d := read(formattest.Read(t, name)).Runs[0].Jobs[0].Read
		n, sum := uint64(0), 0.0
		for _, b := range d.Clat.Bins {
			n += b.Count
			sum += float64(b.Count) * b.Seconds
		}
		mean, _ := d.Clat.Mean.Get()
		if !d.Total.Is(float64(n)) || math.Abs(sum/float64(n)/mean-1) > 0.05 {
			t.Errorf("%s: %d in bins of %v, mean %v of %v", name, n, d.Total, sum/float64(n), mean)
		}
	}
}

// Figures that were not measured are missing: psync has no submission latency, and a job without trims has no
// trims.
func TestMissing(t *testing.T) {
	for _, name := range formattest.Files(t, outputs...) {
		for _, run := range read(formattest.Read(t, name)).Runs {
			for _, j := range run.Jobs {
				if j.Trim != nil {
					t.Errorf("%s: trims: %+v", name, j.Trim)
				}
				for _, d := range []*Direction{j.Read, j.Write, j.Mixed} {
					if d != nil && d.Slat != nil {
						t.Errorf("%s: submission latency: %+v", name, d.Slat)
					}
				}
			}
		}
	}
}

func TestStatusInterval(t *testing.T) {
	for _, name := range formattest.Files(t, "*-status.json") {
		r := read(formattest.Read(t, name))
		if len(r.Runs) != 1 || r.Interim < 1 {
			t.Errorf("%s: %d runs, %d interim, %d reports", name, len(r.Runs), r.Interim, r.Reports)
		}
	}
}

// Two runs in one file are two runs.
func TestConcatenated(t *testing.T) {
	a := formattest.Read(t, "testdata/fio-3.42.json")
	later := bytes.ReplaceAll(a, []byte(`"timestamp_ms" : 17952517`), []byte(`"timestamp_ms" : 17952518`))
	if r := read(append(bytes.Clone(a), later...)); len(r.Runs) != 2 || r.Interim != 0 {
		t.Errorf("%d runs, %d interim", len(r.Runs), r.Interim)
	}
}

func TestFailed(t *testing.T) {
	for _, name := range formattest.Files(t, "*error*") {
		r := read(formattest.Read(t, name))
		if len(r.Runs) != 1 || !r.Runs[0].Failed() || r.Runs[0].Jobs[0].Error != 28 || r.Runs[0].Jobs[0].Write != nil {
			t.Errorf("%s: %+v", name, r.Log)
		}
	}
}

func TestProblems(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/fio-3.42.json"))
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "the input is empty"},
		{"no report", "fio: pid=0, err=2/file:filesetup.c:59, func=open, error=No such file or directory\n", "fio made no report; it said: fio: pid=0"},
		{"cut", whole[:len(whole)/2], "line 1: the JSON document that begins here has no end"},
		{"decimal comma", strings.Replace(whole, `"iops" : 299.7`, `"iops" : 299,7`, 1), "decimal comma"},
		{"a string", strings.Replace(whole, `"total_ios" : 300`, `"total_ios" : "many"`, 1), "line 35: jobs.read.total_ios is a string where a number is expected"},
		{"no comma", strings.Replace(whole, `"groupid" : 0,`, `"groupid" : 0`, 1), "invalid character '\"' after object key:value pair"},
		{"other JSON", `{"results": [{"command": "ls"}]}`, "JSON that is not fio's"},
		{"sysbench", "Running the test with following options:\n", "looks like output of sysbench (line 1)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read([]byte(c.in))
			if len(r.Runs) != 0 || !strings.Contains(r.Error, c.want) {
				t.Errorf("%d runs, %q, want %q", len(r.Runs), r.Error, c.want)
			}
		})
	}
}

// fio divides by zero and writes nan; the rest of the document counts.
func TestNaN(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/fio-2.21.json"))
	r := read([]byte(strings.Replace(whole, `"bw_mean" : 1205.000000`, `"bw_mean" : -nan`, 1)))
	if r.Error != "" || len(r.Runs) != 1 || r.Runs[0].Jobs[0].Read == nil || !strings.Contains(fmt.Sprint(r.Warnings), "nan or inf") {
		t.Errorf("%v %v", r.Error, r.Warnings)
	}
}

func TestUnknownVersion(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/fio-3.42.json"))
	r := read([]byte(strings.Replace(whole, "fio-3.42", "fio-4.1", 1)))
	if len(r.Runs) != 1 || !strings.Contains(fmt.Sprint(r.Warnings), "fio 4.1 is not a version that is known") {
		t.Errorf("%v", r.Warnings)
	}
}

// A document that was cut off by a kill does not swallow the next one.
func TestCutThenWhole(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/fio-3.42.json"))
	lines := strings.SplitAfter(whole, "\n")
	r := read([]byte(strings.Join(lines[:40], "") + whole))
	if len(r.Runs) != 1 || r.Runs[0].Line != 41 || !strings.Contains(fmt.Sprint(r.Warnings), "has no end") {
		t.Errorf("%d runs, %v, %v", len(r.Runs), r.Error, r.Warnings)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, outputs...) {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).Reports })
	})
}

// known makes a Text with the known tools.
func known(b []byte) *format.Text {
	return &format.Text{Reader: bytes.NewReader(b), Known: format.Tools{declared, sysbench.Reader.Tool}}
}
