package fio

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/testing/formattest"
)

type logResult struct {
	*summary
	First  []entry
	Mean   map[string]float64 // by direction
	Error  string             `json:",omitempty"`
	Counts map[string]int
}

func readLog(b []byte, opt logOptions) logResult {
	r := logResult{Mean: map[string]float64{}, Counts: map[string]int{}}
	s, err := parseLog(bytes.NewReader(b), opt, func(e entry) {
		if len(r.First) < 3 {
			r.First = append(r.First, e)
		}
		r.Mean[string(e.Direction)] += e.Value
		r.Counts[string(e.Direction)]++
	})
	for d, n := range r.Counts {
		r.Mean[d] /= float64(n)
	}
	r.summary = s
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func TestLogGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b := formattest.Read(t, name)
			opt := logOptions{Kind: kindOf(name), Version: 3}
			if strings.Contains(name, "fio-2.2") { // 2.99 is 3 in all but name
				opt.Version = 2
			}
			known := readLog(b, opt)
			formattest.Golden(t, name, known)
			if opt.Kind != latencyLog {
				return
			}
			opt.Version = 0
			if found := readLog(b, opt); found.Version != known.Version || fmt.Sprint(found.Mean) != fmt.Sprint(known.Mean) {
				t.Errorf("found version %d, mean %v, error %q; is %d, %v", found.Version, found.Mean, found.Error, known.Version, known.Mean)
			}
		})
	}
}

// Latencies of all versions have the same order of magnitude, and rates are as asked for.
func TestLogUnits(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log") {
		version := 3
		if strings.Contains(name, "fio-2.2") {
			version = 2
		}
		r := readLog(formattest.Read(t, name), logOptions{kindOf(name), version})
		mean, low, high := r.Mean["r"], 20e-6, 5e-3
		switch {
		case strings.Contains(name, "a_iops"):
			low, high = 250, 350
		case strings.Contains(name, "a_bw"):
			low, high = 250*4096, 350*4096
		case kindOf(name) != latencyLog:
			continue // of single I/Os: one over the latency
		}
		if math.IsNaN(mean) || mean < low || mean > high {
			t.Errorf("%s: mean of reads %v", name, mean)
		}
	}
}

func TestLogProblems(t *testing.T) {
	latency := logOptions{Kind: latencyLog}
	for _, c := range []struct {
		name, in, want string
		opt            logOptions
		entries        int
	}{
		{"kind", "1, 2, 0, 4096\n", "does not say what it holds", logOptions{}, 0},
		{"empty", "", "the input is empty", latency, 0},
		{"unit unknown", "1000, 5000, 0, 4096\n", "nanoseconds (fio 3) or microseconds (fio 2)", latency, 0},
		{"low", "1000, 50, 0, 4096\n", "", latency, 1},
		{"torn", "1, 2, 0, 4096\n2, 5, 0, 40", "", logOptions{latencyLog, 3}, 1},
		{"rubbish", "hello\n1, 2, 0, 4096\nx\n", "", logOptions{latencyLog, 3}, 1},
		{"nothing", "hello\n", "no output of fio's logs", latency, 0},
		{"direction", "1, 2, 7, 4096\n", "no output", logOptions{latencyLog, 3}, 0},
		{"maximum beside average", "100, 2000, 9000, 1, 0, 0, 0\n", "", logOptions{latencyLog, 3}, 1},
		{"priority", "100, 2000, 1, 4096, 0x4001\n", "", latency, 1},
		{"issue time", "100, 2000, 1, 4096, 0, 0, 123456789\n", "", latency, 1},
		{"huge", "100, 99999999999999999999, 1, 4096\n", "no output", logOptions{latencyLog, 3}, 0},
		{"json", "{\n \"fio version\" : \"fio-3.33\"\n}\n", "no output", latency, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readLog([]byte(c.in), c.opt)
			if r.Entries != c.entries || !strings.Contains(r.Error, c.want) || c.want == "" && r.Error != "" {
				t.Errorf("%d entries, %q; want %d, %q", r.Entries, r.Error, c.entries, c.want)
			}
		})
	}
	if r := readLog([]byte("100, 2000, 9000, 1, 0, 0, 0\n"), logOptions{latencyLog, 3}); r.First[0].Value != 2e-6 || r.First[0].Direction != 'w' {
		t.Errorf("%+v", r.First)
	}
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]logKind{"a/run_lat.1.log": latencyLog, "x_slat.12.log.gz": latencyLog, "x_clat.log": latencyLog,
		"x_bw.1.log": bandwidthLog, "x_iops.log": iopsLog, "x.log": "", "iops": "", "lat.txt": ""} {
		if got := kindOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	for _, name := range formattest.Files(f, "*.log") {
		f.Add(formattest.Read(f, name), uint8(len(name)))
	}
	f.Fuzz(func(t *testing.T, in []byte, o uint8) {
		opt := logOptions{[]logKind{latencyLog, bandwidthLog, iopsLog}[o%3], []int{0, 2, 3}[o/3%3]}
		formattest.Same(t, func() any { return readLog(in, opt) })
		if opt.Version > 0 { // otherwise less may be too little to tell the unit
			formattest.CutLines(t, in, func(b []byte) int { return readLog(b, opt).Entries })
		}
	})
}

func BenchmarkLog(b *testing.B) {
	for name, line := range map[string]string{"3.x": "123456, 9121380, 0, 4096, 0\n", "2.x": "123456, 262, 0, 4096\n", "issue": "123456, 9121380, 0, 4096, 503808, 0, 1795251560405000000\n"} {
		b.Run(name, func(b *testing.B) {
			in := []byte(strings.Repeat(line, 300_000))
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if _, err := parseLog(bytes.NewReader(in), logOptions{latencyLog, 3}, func(entry) { n++ }); err != nil || n != 300_000 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	for _, name := range []string{"fio-3.33.json", "fio-3.33-plus.json", "fio-3.33.txt", "fio-3.33-terse3.txt"} {
		b.Run(name, func(b *testing.B) {
			in := bytes.Repeat(formattest.Read(b, "testdata/"+name), 100)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(bytes.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
