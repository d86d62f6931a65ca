package importer_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// alone reads the files of one arm.
func alone(t *testing.T, files ...string) (*importer.Result, error) {
	t.Helper()
	return importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "host", Files: files}}})
}

// figure returns a figure of a run: of its summary, else the mean of its reports; NaN: none.
func figure(x record.Observed, metric string) float64 {
	for _, f := range x.Figures {
		if f.Metric == metric {
			if v, ok := f.Total.Get(); ok {
				return v
			}
			if v, ok := f.Mean.Get(); ok {
				return v
			}
		}
	}
	return math.NaN()
}

func setting(x record.Observed, name string) string {
	for _, s := range x.Load {
		if s.Name == name {
			return s.Got
		}
	}
	return ""
}

// A prefix before every line changes no figure of any tool's log.
func TestPrefixOfEveryTool(t *testing.T) {
	for _, path := range []string{"sysbench/testdata/sysbench-1.0.20-rate.log", "sysbench/testdata/sysbench-0.5-oltp.log", "fio/testdata/fio-3.42.txt",
		"fio/testdata/fio-3.33.json", "pgbench/testdata/pgbench-15-tpcb.log", "clickhouse/testdata/24-errors.log", "hyperfine/testdata/hyperfine-1.15.json",
		"redis/testdata/redis-7.0-threads.log", "redis/testdata/valkey-8.1-csv.log", "redis/testdata/redis-6.0.log"} {
		b, err := os.ReadFile("../" + path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone(t, put(t, "x", string(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range []string{"> ", "+ ", "12:00:07 DEBUG| [stdout] ", "[localhost] out: ", "bench-0  | "} {
			got, err := alone(t, put(t, "x", mark+strings.ReplaceAll(strings.TrimSuffix(string(b), "\n"), "\n", "\n"+mark)+"\n"))
			if err != nil {
				t.Errorf("%s behind %q: %v", path, mark, err)
				continue
			}
			if g, w := fmt.Sprint(figures(got)), fmt.Sprint(figures(want)); g != w {
				t.Errorf("%s behind %q: %s, want %s", path, mark, g, w)
			}
		}
	}
}

// Only one side of a diff is read, with a warning.
func TestBothSidesOfADiff(t *testing.T) {
	r, err := alone(t, put(t, "x.diff", "-query mode: simple\n-tps = 500.0 (without initial connection time)\n+query mode: simple\n+tps = 600.0 (without initial connection time)\n"))
	if err != nil || len(r.Runs) != 1 || figure(r.Runs[0], "throughput") != 500 || !strings.Contains(printed(r.Warnings), "lines behind another mark") {
		t.Errorf("%v %+v", err, r)
	}
}

func figures(r *importer.Result) (out [][]record.Figure) {
	for _, x := range r.Runs {
		out = append(out, x.Figures)
	}
	return out
}

// transactions makes the log of a thread of pgbench, with count transactions of 8 ms in every second.
func transactions(count int) string {
	var b strings.Builder
	for i := range 12 * count {
		fmt.Fprintf(&b, "0 %d 8000 0 %d %d\n", i, 1777879493+i/count, i%count*1e6/count)
	}
	return b.String()
}

// The files that the threads of one run of pgbench write are one run.
func TestThreadsOfOneRun(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, count := range []int{100, 90, 80, 120} {
		name := filepath.Join(dir, "pgbench_log.9026")
		if i > 0 {
			name += fmt.Sprintf(".%d", i)
		}
		if err := os.WriteFile(name, []byte(transactions(count)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	r, err := alone(t, files...)
	if err != nil || len(r.Runs) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	if x := r.Runs[0]; math.Abs(figure(x, "throughput")-390) > 4 || math.Abs(figure(x, "latency_mean")-0.008) > 1e-9 || x.File != files[0] {
		t.Errorf("%+v", x)
	}
	if said := printed(r.Warnings); !strings.Contains(said, "3 more files are of the threads") {
		t.Error(said)
	}
	if r, err = alone(t, files[1:3]...); err != nil || len(r.Runs) != 1 || math.Abs(figure(r.Runs[0], "throughput")-170) > 2 {
		t.Errorf("without the first: %v %+v", err, r)
	}
}

// The logs of threads are one run, with the quantiles of all transactions.
func TestTransactionsOfThreads(t *testing.T) {
	dir := t.TempDir()
	log := func(name string, client, each int) string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "%d %d %d 0 %d %d\n", client, i, each, 1777879493+i/100, i%100*10000)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r, err := alone(t, log("run.77", 0, 1000), log("run.77.1", 1, 9000))
	if err != nil || len(r.Runs) != 1 {
		t.Fatal(err, r)
	}
	x := r.Runs[0]
	if rate, p50, p95 := figure(x, "throughput"), figure(x, "p50"), figure(x, "p95"); rate != 200 || p50 > 0.00101 || p95 < 0.009 {
		t.Errorf("%g/s, p50 %g, p95 %g", rate, p50, p95)
	}
	if got := setting(x, "clients"); got != "2" {
		t.Errorf("%s clients", got)
	}
}

// The logs of fio's jobs are one run. Each of two jobs was asked for 300 reads and 100 writes per second.
func TestJobsOfOneRun(t *testing.T) {
	const name = "../fio/testdata/fio-3.33-j_bw."
	both, err := alone(t, name+"1.log", name+"2.log")
	if err != nil || len(both.Runs) != 1 {
		t.Fatal(err, both)
	}
	one, err := alone(t, name+"1.log")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := figure(both.Runs[0], "read_bandwidth"), figure(one.Runs[0], "read_bandwidth"); a < 1.8*b || a > 2.2*b {
		t.Errorf("two jobs read %g B/s, one of them %g", a, b)
	}
	const latency = "../fio/testdata/fio-3.33-j_clat."
	if both, err = alone(t, latency+"1.log", latency+"2.log"); err != nil || len(both.Runs) != 1 || figure(both.Runs[0], "read_latency_mean") > 0.01 {
		t.Errorf("%v %+v", err, both)
	}
	// Files of numbered runs are different runs.
	if two, err := alone(t, put(t, "read.1.log", sysbenchLog(4, 60, steady(1, 1000))), put(t, "read.2.log", sysbenchLog(4, 60, steady(2, 1000)))); err != nil || len(two.Runs) != 2 {
		t.Errorf("%v %+v", err, two)
	}
}

// fileio is a log of sysbench 1.0 fileio.
func fileio(mode, block string, reads, writes float64) string {
	return fmt.Sprintf("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 2\n\n\n"+
		"Extra file open flags: (none)\n4 files, 4MiB each\n16MiB total file size\nBlock size %s\nUsing synchronous I/O mode\nDoing %s test\nInitializing worker threads...\n\nThreads started!\n\n"+
		"[ 1s ] reads: %.2f MiB/s writes: 0.00 MiB/s fsyncs: 9.00/s latency (ms,95%%): 0.010\n[ 2s ] reads: %.2f MiB/s writes: 0.00 MiB/s fsyncs: 9.00/s latency (ms,95%%): 0.010\n\n"+
		"File operations:\n    reads/s:                      %.2f\n    writes/s:                     %.2f\n    fsyncs/s:                     50.00\n\n"+
		"Throughput:\n    read, MiB/s:                  5.00\n    written, MiB/s:               0.00\n\nGeneral statistics:\n    total time:                          2.0000s\n    total number of events:              %.0f\n\n"+
		"Latency (ms):\n         min:                                    0.01\n         avg:                                    0.05\n         max:                                    9.00\n         95th percentile:                        0.08\n         sum:                                 1000.00\n\n"+
		"Threads fairness:\n    events (avg/stddev):           1.0000/0.00\n    execution time (avg/stddev):   2.0000/0.00\n", block, mode, reads/64, reads/64, reads, writes, 2*(reads+writes+50))
}

// fioText is a text report of fio.
func fioText(version, rw, bs string, depth int) string {
	return fmt.Sprintf("disk: (g=0): rw=%s, bs=%s, ioengine=libaio, iodepth=%d\nfio-%s\nStarting 1 process\n\ndisk: (groupid=0, jobs=1): err= 0: pid=11: Mon Nov 23 00:00:00 2026\n"+
		"  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(39.1MiB/10001msec)\n    clat (usec): min=33, max=900, avg=59.00, stdev=6.00\n     lat (usec): min=33, max=901, avg=60.00, stdev=6.00\n"+
		"  cpu          : usr=1.00%%, sys=3.00%%, ctx=1, majf=0, minf=1\n     issued rwts: total=10001,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n   READ: bw=4000KiB/s\n", rw, bs, depth, version)
}

func pgbenchLog(version string, threads int, tps float64) string {
	return fmt.Sprintf("pgbench (%s)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: simple\nnumber of clients: 8\nnumber of threads: %d\nduration: 30 s\n"+
		"number of transactions actually processed: %.0f\nlatency average = 2.000 ms\ninitial connection time = 3.000 ms\ntps = %.6f (without initial connection time)\n", version, threads, 30*tps, tps)
}

const all4k = "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B"

// The printed test, mode, block size, queue depth and threads define the load.
func TestAnotherLoad(t *testing.T) {
	queries := func(perTransaction int) string {
		log := sysbenchLog(4, 60, steady(1, 1000))
		log = strings.ReplaceAll(log, "qps: ", "qps: 9") // no matter
		return strings.ReplaceAll(log, "total:                           ", fmt.Sprintf("total:                           %d", perTransaction))
	}
	for name, c := range map[string]struct{ a, b, want string }{
		"mode of fileio":  {fileio("random read", "16KiB", 1000, 0), fileio("random r/w", "16KiB", 900, 600), "test: random r/w, in host random read"},
		"block of fileio": {fileio("random read", "16KiB", 1000, 0), fileio("random read", "4KiB", 1000, 0), "block size: 4 KiB, in host 16 KiB"},
		"depth of fio":    {fioText("3.33", "randread", all4k, 16), fioText("3.33", "randread", all4k, 1), "iodepth: 1, in host 16"},
		"block of fio":    {fioText("3.33", "randread", all4k, 16), fioText("3.33", "randread", "(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB", 16), "bs: 64 KiB, in host 4 KiB"},
		"mode of fio":     {fioText("3.33", "randread", all4k, 16), fioText("3.33", "read", all4k, 16), "rw: read, in host randread"},
		"threads":         {pgbenchLog("15.4", 2, 500), pgbenchLog("15.4", 4, 500), "threads: 4, in host 2"},
		"transactions":    {sysbenchLog(4, 60, steady(1, 1000)), queries(1), "queries per transaction: "},
	} {
		e := imports(t, nil, "host="+put(t, "a.log", c.a), "pod="+put(t, "b.log", c.b))
		if x := e.Effects[0]; x.Verdict != record.Invalid || !strings.Contains(said.English(x.Reason), c.want) {
			t.Errorf("%s: %s %q, want %q", name, x.Verdict, x.Reason, c.want)
		}
	}
	// The version of the tool is no load; that it differs is said.
	version := imports(t, nil, "host="+put(t, "a.log", pgbenchLog("15.4", 2, 500)), "pod="+put(t, "b.log", pgbenchLog("16.1", 2, 500)))
	if x := version.Effects[0]; x.Verdict != record.Undecided || !strings.Contains(said.English(check(version, "settings", "pod").Text), "version: 16.1, in host 15.4") {
		t.Errorf("%s %q %+v", x.Verdict, x.Reason, check(version, "settings", "pod"))
	}
	// Different spellings of a value are equal.
	same := imports(t, nil, "host="+put(t, "a.log", fioText("3.33", "randread", all4k, 16)), "pod="+put(t, "b.log", fioText("3.33", "randread", "4K-4K/4K-4K/4K-4K", 16)))
	if x := same.Effects[0]; x.Verdict != record.Undecided {
		t.Errorf("%s %q", x.Verdict, x.Reason)
	}
	// Tests of different kinds have nothing in common.
	cpu := "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\nNumber of threads: 4\n\nDoing CPU performance benchmark\n\nThreads started!\nDone.\n\n" +
		"Test execution summary:\n    total time:                          10.0000s\n    total number of events:              10000\n"
	if _, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "host", Files: []string{put(t, "a", cpu)}}, {Name: "pod", Files: []string{put(t, "b", sysbenchLog(4, 60, steady(1, 1000)))}}}}); err == nil || !strings.Contains(err.Error(), "no load in common") {
		t.Errorf("cpu against OLTP: %v", err)
	}
}

// Queries per transaction are no setting: retries change them a little from run to run.
func TestRatioIsNoSetting(t *testing.T) {
	log := func(other float64) string {
		return fmt.Sprintf("sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\nNumber of threads: 1\n\nDoing OLTP test.\nRunning mixed OLTP test\nThreads started!\nDone.\n\n"+
			"OLTP test statistics:\n    queries performed:\n        read:                            1400\n        write:                           500\n        other:                           %.0f\n        total:                           %.0f\n"+
			"    transactions:                        100    (10.00 per sec.)\n\nTest execution summary:\n    total time:                          10.0000s\n    total number of events:              100\n", other, 1900+other)
	}
	r, err := alone(t, put(t, "a.log", log(820)), put(t, "b.log", log(826)), put(t, "c.log", log(831)))
	if err != nil || len(r.Workloads) != 1 || len(r.Runs) != 3 {
		t.Fatalf("%v, %d loads", err, len(r.Workloads))
	}
	if got := setting(r.Runs[0], "queries per transaction"); got != "27" {
		t.Errorf("%s queries per transaction", got)
	}
}

// A second report in a file is a second run, and figures of the two do not mix.
func TestSecondReport(t *testing.T) {
	report := func(qps, p99 string) string {
		return "localhost:9000, queries: 100, QPS: " + qps + ", RPS: 1.000, MiB/s: 1.000, result RPS: 1.000, result MiB/s: 1.000.\n\n" +
			"0%\t\t0.001 sec.\n50%\t\t0.002 sec.\n99%\t\t" + p99 + " sec.\n99.9%\t\t0.090 sec.\n99.99%\t\t0.095 sec.\n\n"
	}
	for name, c := range map[string]struct {
		text, metric string
		want         []float64
	}{
		"clickhouse": {report("281.348", "0.005") + "more\n" + report("242.909", "0.008"), "throughput", []float64{281.348, 242.909}},
		"clickhouse, two servers, own times": {"Queries executed: 400.\n\na:9000, queries 194, QPS: 8.375, RPS: 1.000, MiB/s: 1.000, result RPS: 1.000, result MiB/s: 1.000.\n" +
			"b:9000, queries 206, QPS: 11.869, RPS: 1.000, MiB/s: 1.000, result RPS: 1.000, result MiB/s: 1.000.\n\n0.000%\t\t0.001 sec.\t0.001 sec.\n50.000%\t\t0.002 sec.\t0.002 sec.\n\n",
			"throughput", []float64{400.0 / (194/8.375 + 206/11.869), 8.375, 11.869}},
		"clickhouse, percentiles":   {report("281.348", "0.005") + "more\n" + report("242.909", "0.008"), "p99", []float64{0.005, 0.008}},
		"clickhouse, of equal size": {"Queries executed: 100.\n\n" + report("281.348", "0.005") + "Queries executed: 100.\n\n" + report("242.909", "0.008"), "throughput", []float64{281.348, 242.909}},
		"pgbench without tops": {"scaling factor: 5\n" + strings.SplitN(pgbenchLog("15", 2, 500), "query", 2)[1][5:] + "\nscaling factor: 5\nquery mode: simple\nlatency average = 3.000 ms\ntps = 400.0 (without initial connection time)\n",
			"throughput", []float64{500, 400}},
		"all clients": {strings.Repeat("***\nAll clients: (groupid=0, jobs=3): err= 0: pid=0: Tue Jul 12 18:52:21 2022\n  read: IOPS=29.5k, BW=7375Mi (7733M)(432GiB/60001msec)\n    clat (usec): min=67, max=8068, avg=394.05, stdev=151.38\n", 2),
			"throughput", []float64{29500, 29500}},
		"side by side": {"| query mode: simple | query mode: simple |\n| number of clients: 20 | number of clients: 20 |\n| latency average = 15.0 ms | latency average = 16.0 ms |\n" +
			"| tps = 1266.5 (without initial connection time) | tps = 1275.5 (without initial connection time) |\n", "throughput", []float64{1266.5, 1275.5}},
	} {
		r, err := alone(t, put(t, "x.txt", c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []float64
		for _, x := range r.Runs {
			got = append(got, figure(x, c.metric))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A run that fio printed in two forms counts once; two such runs count twice.
func TestTwoForms(t *testing.T) {
	json := `{"fio version": "fio-3.33", "jobs": [{"jobname": "disk", "read": {"io_bytes": 40960000, "bw_bytes": 4096000, "iops": 2000, "runtime": 5000}}]}`
	text := fioText("3.33", "randread", all4k, 1)
	for what, c := range map[string]string{"another run": text, "another run that is cut": text[:strings.Index(text, "Run status")]} {
		if r, err := alone(t, put(t, "x.txt", json+"\n"+c)); err != nil || len(r.Runs) != 2 {
			t.Errorf("%s behind JSON: %v, %d runs", what, err, len(r.Runs))
		}
	}
	r, err := alone(t, "../fio/testdata/fio-3.33-terse-text.txt")
	if err != nil || len(r.Runs) != 2 || len(r.Workloads) != 2 {
		t.Fatalf("%v %+v", err, r)
	}
	for _, x := range r.Runs {
		if rate := figure(x, "throughput"); rate < 195 || rate > 201 {
			t.Errorf("%g I/Os a second where 200 were asked for: %+v", rate, x)
		}
	}
}
