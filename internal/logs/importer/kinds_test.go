package importer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/importer"
)

// summary is the end of a report of pgbench, with its rates and other lines.
func summary(lines ...string) string {
	return "transaction type: <builtin: select only>\nscaling factor: 10\nquery mode: simple\nnumber of clients: 16\nnumber of threads: 4\nduration: 30 s\n" +
		"number of transactions actually processed: 15000\nlatency average = 32.000 ms\n" + strings.Join(lines, "\n") + "\n"
}

// All runs of a comparison use one meaning of tps. Of two rates in a report, the one that fits the number of
// transactions counts.
func TestOneMeaningOfTPS(t *testing.T) {
	const (
		including = "tps = 500.000000 (including connections establishing)"
		excluding = "tps = 510.000000 (excluding connections establishing)"
		absurd    = "tps = 190000.000000 (excluding connections establishing)"
		initial   = "tps = 505.000000 (without initial connection time)"
		reconnect = "tps = 480.000000 (including reconnection times)"
	)
	for name, c := range map[string]struct {
		host, pod  string
		want       [2]float64
		invalid    bool // the throughputs cannot be compared
		onlyOneArm bool
	}{
		"both have both":               {summary(including, excluding), summary(including, excluding), [2]float64{510, 510}, false, false},
		"one has only including":       {summary(including, excluding), summary(including), [2]float64{500, 500}, false, false},
		"one has only excluding":       {summary(excluding), summary(including, excluding), [2]float64{510, 510}, false, false},
		"before 14 and since":          {summary(including, excluding), summary(initial), [2]float64{510, 505}, false, false},
		"none in common":               {summary(including), summary(excluding), [2]float64{500, 510}, true, false},
		"none in common, since 14":     {summary(initial), summary(reconnect), [2]float64{505, 480}, true, false},
		"-C before 14":                 {summary(including, absurd), summary(including, absurd), [2]float64{500, 500}, false, false},
		"-C before 14 in one arm":      {summary(including, absurd), summary(including, excluding), [2]float64{500, 500}, false, false},
		"-C, the lines turned round":   {summary(absurd, including), summary(including, absurd), [2]float64{500, 500}, false, false},
		"-C with transactions counted": {strings.Replace(summary(including, absurd), "duration: 30 s", "number of transactions per client: 937", 1), summary(including, absurd), [2]float64{500, 500}, false, false},
	} {
		r, err := compared(put(t, "a.log", c.host), put(t, "b.log", c.pod))
		if err != nil || len(r.Runs) != 2 {
			t.Errorf("%s: %v %+v", name, err, r)
			continue
		}
		for i, x := range r.Runs {
			if got := figure(x, "throughput"); got != c.want[i] {
				t.Errorf("%s: %v of %s, want %v", name, got, x.Arm, c.want[i])
			}
		}
		if differs := setting(r.Runs[0], "throughput") != setting(r.Runs[1], "throughput"); differs != c.invalid {
			t.Errorf("%s: %+v", name, r.Runs)
		}
	}
}

// Lines that show an option become settings.
func TestOptionsThatLinesBetray(t *testing.T) {
	plain := summary("initial connection time = 5.000 ms", "tps = 505.000000 (without initial connection time)")
	for name, c := range map[string]struct{ text, setting, want string }{
		"no limit":                {plain, "rate limit", "no"},
		"a rate limit":            {summary("rate limit schedule lag: avg 1.500 (max 12.000) ms", "tps = 500.000000 (without initial connection time)"), "rate limit", "yes"},
		"one connection":          {plain, "connection for each transaction", "no"},
		"reconnection":            {summary("average connection time = 1.258 ms", "tps = 500.000000 (including reconnection times)"), "connection for each transaction", "yes"},
		"reconnection, one line":  {summary("tps = 500.000000 (including reconnection times)"), "connection for each transaction", "yes"},
		"-C before 14":            {summary("tps = 500.000000 (including connections establishing)", "tps = 9000.000000 (excluding connections establishing)"), "connection for each transaction", "yes"},
		"not known before 14":     {summary("tps = 500.000000 (including connections establishing)", "tps = 501.000000 (excluding connections establishing)"), "connection for each transaction", ""},
		"of a piece nobody knows": {"tps = 500.000000 (without initial connection time)\n", "rate limit", ""},
	} {
		r, err := alone(t, put(t, "a.log", c.text))
		if err != nil || setting(r.Runs[0], c.setting) != c.want {
			t.Errorf("%s: %v %+v, want %q", name, err, r, c.want)
		}
	}
}

// Error lines are counted although other threads wrote on the same line.
func TestInterleavedFailures(t *testing.T) {
	const aborted = ` script 0 aborted in command 0 query 0: ERROR:  portal "" does not exist`
	lines := []string{"pgbench: pgbench: error: client 1" + aborted, "error: client 2" + aborted, "client 4" + aborted, "pgbench: error: client 5" + aborted,
		"pgbench: client 6" + aborted, "pgbench: fatal: could not connect", "error: client 7" + aborted}
	text := "pgbench (16.4)\nprogress: 1.0 s, 1000.0 tps, lat 8.000 ms stddev 1.000, 0 failed\n" + strings.Join(lines, "\n") + "\n"
	r, err := alone(t, put(t, "a.log", text))
	if said := printed(r.Warnings); err != nil || !strings.Contains(said, "reported 7 failures, the first: pgbench: pgbench: error: client 1") {
		t.Errorf("%v %s", err, said)
	}
}

// A group status of fio without jobs has the bandwidth.
func TestGroupStatusAlone(t *testing.T) {
	const mebi = 1 << 20
	for in, want := range map[string]map[string]float64{
		"Run status group 0 (all jobs):\n   READ: bw=87.0MiB/s (91.2MB/s), 10.0MiB/s-12.0MiB/s (10.5MB/s-12.6MB/s), io=870MiB (912MB), run=10000-10000msec\n": {"bandwidth": 87 * mebi},
		"Run status group 0 (all jobs):\n  READ: bw=10MiB/s (10MB/s), 10MiB/s-10MiB/s (10MB/s-10MB/s), io=100MiB (105MB), run=10000-10000msec\n" +
			"  WRITE: bw=5MiB/s (5MB/s), 5MiB/s-5MiB/s (5MB/s-5MB/s), io=50MiB (52MB), run=10000-10000msec\n": {"read_bandwidth": 10 * mebi, "write_bandwidth": 5 * mebi},
		"  WRITE: bw=5120KiB/s (5243kB/s), 5120KiB/s-5120KiB/s (5243kB/s-5243kB/s), io=50.0MiB (52.4MB), run=10001-10003msec\n":                {"bandwidth": 5 * mebi},
		"Run status group 0 (all jobs):\n   READ: io=320MB, aggrb=32768KB/s, minb=32768KB/s, maxb=32768KB/s, mint=10000msec, maxt=10003msec\n": {"bandwidth": 32 * mebi},
		"> Run status group 0 (all jobs):\n>    READ: bw=87.0MiB/s (91.2MB/s), io=870MiB (912MB), run=10000-10000msec\n":                       {"bandwidth": 87 * mebi},
	} {
		r, err := alone(t, put(t, "a.txt", in))
		if err != nil || len(r.Runs) != 1 || !strings.Contains(printed(r.Warnings), "the lines of the jobs are not there") {
			t.Errorf("%q: %v %+v", in, err, r)
			continue
		}
		for metric, x := range want {
			if got := figure(r.Runs[0], metric); got != x {
				t.Errorf("%q: %s is %v, want %v", in, metric, got, x)
			}
		}
	}
	whole := fioReport(1000, "4MiB/s")
	if r, err := alone(t, put(t, "a.txt", whole)); err != nil || len(r.Runs) != 1 || figure(r.Runs[0], "throughput") != 1000 {
		t.Errorf("a whole report: %v %+v", err, r)
	}
}

// Lines of a job without the first one are read.
func TestLinesOfAJobAlone(t *testing.T) {
	for in, want := range map[string][]float64{
		"  write: IOPS=6015, BW=752MiB/s (788MB/s)(100MiB/133msec); 0 zone resets\n":                                                                  {6015},
		"  read : io=32MB, bw=666KB/s, iops=89 , runt= 50320msec\n":                                                                                   {89},
		"write: IOPS=6015, BW=752MiB/s (788MB/s)(100MiB/133msec)\nwrite: IOPS=5882, BW=735MiB/s (770MB/s)(100MiB/136msec)\n":                          {6015, 5882},
		"  read: IOPS=100, BW=400KiB/s (1MB/s)(100MiB/133msec)\n    clat (usec): min=1, max=20, avg=10.00, stdev= 1.00\n" + fioReport(1000, "4MiB/s"): {100, 1000},
		fioReport(1000, "4MiB/s") + "and again\n  read: IOPS=100, BW=400KiB/s (1MB/s)(100MiB/133msec)\n":                                              {1000, 100},
	} {
		r, err := alone(t, put(t, "a.txt", in))
		if err != nil || len(r.Runs) != len(want) {
			t.Errorf("%q: %v %+v", in, err, r)
			continue
		}
		var got []float64
		for _, x := range r.Runs {
			got = append(got, figure(x, "throughput"))
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

// A warning counts the jobs that fio started and that are not in the report.
func TestAnnouncedAndNotThere(t *testing.T) {
	report := strings.SplitAfter(fioReport(100, "100MiB/s"), "\n")
	jobs := strings.Join(report, "")
	for name, c := range map[string]struct{ text, want string }{
		"1 of 4":              {"Starting 4 processes\n" + jobs, "fio started 4 jobs and 1 of them is here"},
		"1 of 4 threads":      {"Starting 4 threads\n" + jobs, "fio started 4 jobs and 1 of them is here"},
		"threads, processes":  {"Starting 1 thread and 3 processes\n" + jobs, "fio started 4 jobs and 1 of them is here"},
		"2 of 3":              {"Starting 3 processes\n" + strings.Replace(jobs, "jobs=1", "jobs=2", 1), "fio started 3 jobs and 2 of them are here"},
		"all":                 {"Starting 1 process\n" + jobs, ""},
		"all, as a group":     {"Starting 4 processes\n" + strings.Replace(jobs, "jobs=1", "jobs=4", 1), ""},
		"only the first says": {"Starting 1 process\n" + jobs + "## again\n" + strings.Replace(jobs, "jobs=1", "jobs=4", 1), ""},
	} {
		r, err := alone(t, put(t, "a.txt", c.text))
		if said := printed(r.Warnings); err != nil || c.want != "" && !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "fio started") {
			t.Errorf("%s: %v %s", name, err, said)
		}
	}
}

// Reports of fio with different block sizes are different loads, whether fio prints the size or not.
func TestBlockSizeOfFio(t *testing.T) {
	for name, c := range map[string]struct {
		iops      [2]int
		bandwidth [2]string
		loads     int
		size      string // of the second
	}{
		"4 and 64 KiB":   {[2]int{1000, 1001}, [2]string{"4000KiB/s", "62.5MiB/s"}, 2, "64 KiB"},
		"rounded":        {[2]int{75700, 75100}, [2]string{"296MiB/s", "293MiB/s"}, 1, "4 KiB"},
		"too few to say": {[2]int{3, 4}, [2]string{"3100KiB/s", "12MiB/s"}, 1, ""},
		"no power of 2":  {[2]int{1000, 1001}, [2]string{"3000KiB/s", "3000KiB/s"}, 1, ""},
	} {
		r, err := alone(t, put(t, "a.txt", fioReport(c.iops[0], c.bandwidth[0])+fioReport(c.iops[1], c.bandwidth[1])))
		if err != nil || len(r.Workloads) != c.loads || len(r.Runs) != 2 || setting(r.Runs[1], "bs") != c.size {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
}

// Tables with a column of arms and commands of hyperfine need no name of an arm; other files do.
func TestFilesWithoutAnArm(t *testing.T) {
	hyperfine := "command,mean,stddev,median,user,system,min,max\nsleep 1,1.0,0.1,1.0,0,0,0.9,1.1\nsleep 2,2.0,0.1,2.0,0,0,1.9,2.1\n"
	for in, want := range map[string]string{
		"arm,tps\nhost,100\ndocker,50\n":                                               "host docker",
		"storageclass,iops\nlocal-path,10000\nlonghorn,2000\n":                         "local-path longhorn",
		"| environment | tps |\n|---|---|\n| bare metal | 100 |\n| in docker | 50 |\n": "bare metal in docker",
		hyperfine:               "sleep 1 sleep 2",
		"tps,p95 (ms)\n100,5\n": "does not say which arm it is of",
		pgbenchReport(100):      "does not say which arm it is of",
	} {
		path := put(t, "x.csv", in)
		arms, err := importer.Arms([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		r, err := importer.Read(importer.Options{Arms: arms})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		var names []string
		for _, a := range r.Workloads[0].Arms {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != want || len(r.Runs) != 2 {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if _, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Files: []string{put(t, "a.csv", "arm,tps\nhost,1\npod,2\n")}}, {Name: "vm", Files: []string{put(t, "b.csv", "tps,p95 (ms)\n3,4\n")}}}}); err != nil {
		t.Error(err)
	}
}

// A bracket alone is no JSON.
func TestBrackets(t *testing.T) {
	for in, json := range map[string]bool{"[OVERALL] something, else\nx\n": false, "[root@node ~]# run\nx\n": false, "[1] 4711\n": false, "[info] hello\n": false,
		"{not json}\n": false, "{\n \"a\": 1\n}\n": true, "[\n {\"a\": 1}\n]\n": true, "[{\"a\": 1}]\n": true, "{\"a\": 1}\n": true} {
		_, err := alone(t, put(t, "x.txt", in))
		if err == nil || strings.Contains(err.Error(), "JSON") != json {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// Rows of different loads are never one run.
func TestArmsOfTables(t *testing.T) {
	for in, want := range map[string]int{
		"config,tps\nbare metal,100\ndocker (bridge),50\n": 2, "config,tps\n裸机,100\n容器,50\n": 2, "arm,tps\n\"a, b\",100\n\"a, c\",50\n": 2,
		"env,tps\nhost,100\nhost,101\n": 1, "runtime,tps\nx64,100\ngraviton 3,50\n": 2, "setup,tps\nx sync,1\nx async,2\n": 2,
	} {
		r, err := alone(t, put(t, "x.csv", in))
		if err != nil || len(r.Workloads) != 1 || len(r.Workloads[0].Arms) != want {
			t.Errorf("%q: %v %+v", in, err, r)
		}
	}
}
