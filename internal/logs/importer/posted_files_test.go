package importer_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/importer"
)

// Impossible figures are left out, with a warning.
func TestImpossible(t *testing.T) {
	wrapped := "[   1s] threads: 4, tps: 18446842801212211200.00, reads: 1.00, writes: 1.00, response time: 60.10ms (95%), errors: 0.00, reconnects:  0.00\n" +
		"[   2s] threads: 4, tps: 1385.00, reads: 19488.38, writes: 5540.11, response time: 15.76ms (95%), errors: 0.00, reconnects:  0.00\n"
	for name, c := range map[string]struct {
		text, metric string
		want         float64
		said         string
	}{
		"longer than the run": {strings.ReplaceAll(fioText("3.33", "read", all4k, 1), "lat (usec)", "lat (sec)"), "latency_mean", math.NaN(), "60 seconds is longer than the run of 10 s"},
		"wrapped":             {wrapped, "throughput", 1385, "1 of 2 reports, as 1.844684280121221e+19 is more than can be"},
		"1e308":               {"tps,latency (ms)\n1e308,5\n", "latency_mean", 0.005, "1e+308 is more than can be"},
		"negative":            {"tps,latency (ms)\n110,7\n100,-5\n", "latency_mean", 0.007, "-0.005 is negative"},
		"nan":                 {"tps,latency (ms)\n110,7\n100,nan\n", "latency_mean", 0.007, `"nan" in the column "latency (ms)" is no number`},
		"inf":                 {"tps,latency (ms)\n110,7\ninf,7\n", "throughput", 110, `"inf" in the column "tps" is no number`},
		"not its count":       {strings.Replace(pgbenchLog("15", 2, 500), "tps = 500", "tps = 14000000", 1), "throughput", math.NaN(), "1.4e+07 per second do not go with 15000 operations in 30 s"},
		"nan in a summary":    {strings.Replace(pgbenchLog("15", 2, 500), "average = 2.000", "average = nan", 1), "latency_mean", math.NaN(), "pgbench wrote nan or inf for a figure, which is missing"},
		"nan on the way":      {"progress: 10.0 s, -5 tps, lat nan ms stddev nan\nprogress: 20.0 s, 100.0 tps, lat 9.0 ms stddev 1\n", "throughput", 100, "a progress line has an impossible figure"},
	} {
		r, err := alone(t, put(t, "x.csv", c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := figure(r.Runs[0], c.metric); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %s %g, want %g", name, c.metric, got, c.want)
		}
		if said := printed(r.Warnings); !strings.Contains(said, c.said) {
			t.Errorf("%s: %s, want %q", name, said, c.said)
		}
	}
	if _, err := alone(t, put(t, "x.csv", "tps,n\n-5,1\n-6,2\n")); err == nil || !strings.Contains(err.Error(), "x.csv: there is no figure in it: line 1: throughput cannot be true") {
		t.Errorf("nothing but what cannot be true: %v", err)
	}
}

// Too many runs or loads are refused early.
func TestTooMany(t *testing.T) {
	var jobs, runs strings.Builder
	for i := range mostLoads + 1 {
		fmt.Fprintf(&jobs, "job%d: (groupid=0, jobs=1): err= 0: pid=%d: Mon Nov 23 00:00:00 2026\n  read: IOPS=10, BW=10KiB/s (10kB/s)(10KiB/1000msec)\n", i, i+1)
	}
	for range mostRuns + 1 {
		runs.WriteString("scaling factor: 1\ntps = 5.0 (without initial connection time)\n")
	}
	for text, want := range map[string]string{jobs.String(): "the files hold 1001 loads", runs.String(): "more than 20000 runs"} {
		if _, err := alone(t, put(t, "x.txt", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

const mostLoads, mostRuns = 1000, 20000

// A few transactions are too few for any figure, which is an error.
func TestTooFewTransactions(t *testing.T) {
	_, err := alone(t, put(t, "pgbench_log.1", "0 0 1000 0 1777879493 100\n0 1 1000 0 1777879493 200\n"))
	if err == nil || !strings.Contains(err.Error(), "pgbench_log.1: there is no figure in it") {
		t.Errorf("%v", err)
	}
}

// A test that only reads has no figures of writes, and syncs do not count as throughput.
func TestPureRead(t *testing.T) {
	path := put(t, "a.log", fileio("random read", "16KiB", 1000, 0))
	r, err := alone(t, path)
	if err != nil {
		t.Fatal(err)
	}
	x := r.Runs[0]
	if !math.IsNaN(figure(x, "write_bandwidth")) || figure(x, "throughput") != 1000 || figure(x, "read_iops") != 1000 || figure(x, "sync_iops") != 50 {
		t.Errorf("%+v", x.Figures)
	}
	if e := imports(t, nil, "host="+path); strings.Contains(printed(e.Warnings), "nothing finished") {
		t.Errorf("%+v", e.Warnings)
	}
}

// An arm whose runs are all equal is judged with the scatter of the other arm.
func TestNoScatter(t *testing.T) {
	var words []string
	for i := range 5 {
		words = append(words, "host="+put(t, fmt.Sprintf("h.%d", i), pgbenchLog("15.4", 2, 10)), "pod="+put(t, fmt.Sprintf("p.%d", i), pgbenchLog("15.4", 2, 1450+float64(i))))
	}
	if x := effect(t, imports(t, nil, words...), "", "pod", "throughput"); !x.Verdict.Better() || x.Typical == nil {
		t.Errorf("%s %q %+v", x.Verdict, x.Reason, x.Typical)
	}
}

func TestTables(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]float64 // "arm load: metric"
	}{
		"an arm column":      {"config,second,tps\nhost,1,1200\nhost,2,1210\npod,1,1100\npod,2,1110\n", map[string]float64{"host table: throughput": 1205, "pod table: throughput": 1105}},
		"settings":           {"connections,tps,latency_ms\n5,800,6\n10,1300,7\n", map[string]float64{"x table connections 5: throughput": 800, "x table connections 10: latency_mean": 0.007}},
		"loads":              {"profile,tps_avg,tps_median,latency_ms_avg,latency_ms_median\nread,500,501,2,1\nwrite,90,91,20,10\n", map[string]float64{"x table read: throughput": 500, "x table write: p50": 0.01}},
		"thousands":          {"t;TPS;p95 (ms)\n1;1.234,5;15,3\n2;1.240,5;15,5\n", map[string]float64{"x table: throughput": 1237.5, "x table: p95": 0.0154}},
		"a point in between": {"t;TPS;p95 (ms)\n1;1.240;15,3\n2;1.234,5;15,3\n", map[string]float64{"x table: throughput": 1237.25}},
		"other names":        {"Transactions/s,p99 latency (us)\n100,812\n", map[string]float64{"x table: throughput": 100, "x table: p99": 0.000812}},
	} {
		r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "x", Files: []string{put(t, "x.csv", c.text)}}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for key, want := range c.want {
			got, found := math.NaN(), ""
			for _, x := range r.Runs {
				where, metric, _ := strings.Cut(key, ": ")
				if found += x.Arm + " " + x.Workload + "; "; x.Arm+" "+x.Workload == where {
					got = figure(x, metric)
				}
			}
			if math.Abs(got-want) > 1e-9*want || math.IsNaN(got) {
				t.Errorf("%s: %s is %g, want %g (%s)", name, key, got, want, found)
			}
		}
	}
	e := imports(t, nil, "t="+put(t, "x.csv", "arm,tps\nhost,1200\nhost,1210\npod,1100\npod,1110\n"))
	if x := effect(t, e, "", "pod", "throughput"); x.Baseline != "host" || x.Observed > 0.92 || x.Observed < 0.91 {
		t.Errorf("%+v", x)
	}
}

// A table may have rows in which nothing finished.
func TestNothingFinished(t *testing.T) {
	e := imports(t, nil, "x="+put(t, "x.csv", "profile,tps,latency_ms\nread,500,2\nwrite,0,0\n"))
	if said := printed(e.Warnings); !strings.Contains(said, "x.csv: its throughput is 0: nothing finished") {
		t.Error(said)
	}
}

// A late report line spans a longer time and weighs more.
func TestLateReports(t *testing.T) {
	const begin = "pgbench (16.3)\nstarting vacuum...end.\n"
	for lines, want := range map[string]float64{
		"progress: 1.0 s, 900.0 tps, lat 8.000 ms stddev 1.000\nprogress: 2.0 s, 1100.0 tps, lat 8.000 ms stddev 1.000\n": 1000,
		"progress: 1.0 s, 1000.0 tps, lat 8.000 ms stddev 1.000\nprogress: 10.0 s, 0.0 tps, lat 0.000 ms stddev 0.000\n":  100,
	} {
		r, err := alone(t, put(t, "x.log", begin+lines))
		if err != nil {
			t.Fatal(err)
		}
		if got := figure(r.Runs[0], "throughput"); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%g, want %g, of\n%s", got, want, lines)
		}
	}
}

// Further figures of the tools' summaries are read too.
func TestMoreFigures(t *testing.T) {
	for path, want := range map[string]string{
		"sysbench/testdata/sysbench-1.0.20-rate.log":   "queries min_latency max_latency",
		"sysbench/testdata/sysbench-1.1.0-fileio.log":  "read_iops write_iops sync_iops",
		"sysbench/testdata/sysbench-0.5-fileio.log":    "read_iops write_iops sync_iops",
		"pgbench/testdata/pgbench-15-rate.log":         "skipped_share above_limit_share",
		"pgbench/testdata/pgbench-15-scripts.log":      "pgbench <builtin: select only>",
		"clickhouse/testdata/24-two-servers.log":       "clickhouse-benchmark server 2 p99",
		"hyperfine/testdata/hyperfine-1.15.json":       "time",
		"redis/testdata/redis-7.0-default.log":         "redis-benchmark SET GET throughput latency_mean p50 p95 p99 max_latency",
		"redis/testdata/redis-5.0-csv.csv":             "redis-benchmark MSET throughput",
		"fio/testdata/fio-3.33-unified.json":           "throughput latency_mean",
		"sysbench/testdata/sysbench-1.0.20-memory.log": "bandwidth",
	} {
		r, err := alone(t, "../"+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var said strings.Builder
		for _, x := range r.Runs {
			said.WriteString(x.Workload + " ")
			for _, f := range x.Figures {
				said.WriteString(f.Metric + " ")
			}
		}
		for _, word := range strings.Fields(want) {
			if !strings.Contains(said.String(), word) {
				t.Errorf("%s: no %s in %s", path, word, said.String())
			}
		}
	}
	r, err := alone(t, put(t, "x.log", "[ 10s ] thds: 8 tps: 5.00 qps: 9.00 (r/w/o: 4.00/4.00/1.00) lat (ms,95%): 48.34 err/s: 1.20 reconn/s: 0.00\n"+
		"[ 20s ] thds: 8 tps: 5.00 qps: 9.00 (r/w/o: 4.00/4.00/1.00) lat (ms,95%): 48.34 err/s: 0.80 reconn/s: 0.00\n"))
	if err != nil || r.Runs[0].Errors != 20 {
		t.Errorf("%v: errors of report lines: %+v", err, r)
	}
}

// Each test of redis-benchmark is a load. The server's persistence is a setting, the number of requests is not.
func TestRedisTests(t *testing.T) {
	b, err := os.ReadFile("../redis/testdata/redis-7.0-default.log")
	if err != nil {
		t.Fatal(err)
	}
	slower := strings.NewReplacer(`"appendonly": no`, `"appendonly": yes`).Replace(string(b))
	e := imports(t, nil, "host="+put(t, "a.log", string(b)), "pod="+put(t, "b.log", slower))
	for _, w := range []string{"redis-benchmark SET", "redis-benchmark GET"} {
		if x := effect(t, e, w, "pod", "throughput"); x.Observed < 0.999999 || x.Observed > 1.000001 {
			t.Errorf("%+v", x)
		}
	}
	if c := check(e, "settings", "pod"); c.OK || !strings.Contains(said.English(c.Text), "appendonly: yes, in host no") || strings.Contains(said.English(c.Text), "requests") {
		t.Errorf("%+v", c)
	}
}

// In an import of one arm, the commands of hyperfine are compared with each other.
func TestCommands(t *testing.T) {
	e := imports(t, nil, "x=../hyperfine/testdata/hyperfine-1.15.json")
	if len(e.Effects) == 0 || len(e.Arms) < 2 || e.Effects[0].Observed == 0 {
		t.Errorf("%+v", e.Arms)
	}
}

// One log alone is summarised.
func TestOneArm(t *testing.T) {
	e := imports(t, nil, "host="+put(t, "a.log", sysbenchLog(4, 60, steady(1, 1000))))
	if len(e.Effects) != 0 || len(e.Arms) != 1 || len(e.Caveats) != 0 {
		t.Errorf("%+v %+v", e.Effects, e.Caveats)
	}
	if v, ok := e.Arms[0].Values["throughput"].Get(); !ok || v < 900 || v > 1100 {
		t.Errorf("%+v", e.Arms[0])
	}
}

// Errors about files have a remedy, and no file is read twice.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	good := put(t, "good.log", sysbenchLog(4, 60, steady(1, 1000)))
	link, loop, fifo := filepath.Join(dir, "link"), filepath.Join(dir, "loop"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.Symlink(good, link), os.Symlink(loop, loop), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files        []string
		want, remedy string
	}{
		"twice":   {[]string{good, link}, "are the same file", "name every file once"},
		"missing": {[]string{filepath.Join(dir, "none")}, "no such file", "check the name"},
		"loop":    {[]string{loop}, "too many levels of symbolic links", "name the file itself"},
		"fifo":    {[]string{fifo}, "a FIFO into which nobody writes", ""},
	} {
		_, err := alone(t, c.files...)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.remedy) {
			t.Errorf("%s: %v (%s), want %q (%s)", name, err, hint.Of(err), c.want, c.remedy)
		}
	}
	go func() {
		if f, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteString(sysbenchLog(4, 60, steady(1, 1000)))
			f.Close()
		}
	}()
	if r, err := alone(t, fifo); err != nil || r.Runs[0].Figures[0].Reports != 60 {
		t.Errorf("a FIFO with a writer: %v", err)
	}
}

// --kind sets the unit of fio's latencies if the log does not show it.
func TestVersionOfLog(t *testing.T) {
	log := put(t, "x_clat.log", "256, 96274, 0, 0\n507, 164855, 0, 0\n766, 144811, 0, 0\n")
	if _, err := alone(t, log); err == nil || !strings.Contains(err.Error(), "--kind=fio2-log") {
		t.Errorf("%v", err)
	}
	for kind, want := range map[format.Kind]float64{"fio2-log": 0.135313333, "fio3-log": 0.000135313333} {
		r, err := importer.Read(importer.Options{Kind: kind, Arms: []importer.ArmFiles{{Name: "host", Files: []string{log}}}})
		if err != nil || math.Abs(figure(r.Runs[0], "latency_mean")/want-1) > 1e-6 {
			t.Errorf("%s: %v %+v", kind, err, r)
		}
	}
}

// Without the total latency (--disable_lat, shortened reports) the completion latency is used, as another
// metric: it can be a fraction of the total.
func TestCompletionLatency(t *testing.T) {
	text := fioText("3.33", "read", all4k, 1)
	_, rest, _ := strings.Cut(text, "     lat (usec)")
	_, rest, _ = strings.Cut(rest, "\n")
	before, _, _ := strings.Cut(text, "     lat (usec)")
	for text, want := range map[string][2]float64{text: {60e-6, math.NaN()}, before + rest: {math.NaN(), 59e-6}} {
		r, err := alone(t, put(t, "x.txt", text))
		if err != nil {
			t.Fatal(err)
		}
		got := [2]float64{figure(r.Runs[0], "latency_mean"), figure(r.Runs[0], "completion_latency_mean")}
		if fmt.Sprintf("%.3g", got) != fmt.Sprintf("%.3g", want) {
			t.Errorf("%v, want %v:\n%s", got, want, text)
		}
	}
}
