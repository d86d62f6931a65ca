package importer_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// put writes a file and returns its path.
func put(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// copied copies a file under the same name.
func copied(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return put(t, filepath.Base(path), string(b))
}

// sysbenchLog is a log of sysbench 1.0 with one report line a second; rate gives
// the transactions of a second.
func sysbenchLog(threads, seconds int, rate func(int) float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nRunning the test with following options:\nNumber of threads: %d\n"+
		"Report intermediate results every 1 second(s)\nInitializing random number generator from current time\n\n\nInitializing worker threads...\n\nThreads started!\n\n", threads)
	total := 0.0
	for i := 1; i <= seconds; i++ {
		r := rate(i)
		total += r
		fmt.Fprintf(&b, "[ %ds ] thds: %d tps: %.2f qps: %.2f (r/w/o: %.2f/0.00/%.2f) lat (ms,95%%): %.2f err/s: 0.00 reconn/s: 0.00\n",
			i, threads, r, 16*r, 14*r, 2*r, 1000*float64(threads)/max(r, 1))
	}
	fmt.Fprintf(&b, "SQL statistics:\n    queries performed:\n        read:                            %.0f\n        write:                           0\n"+
		"        other:                           %.0f\n        total:                           %.0f\n    transactions:                        %.0f  (%.2f per sec.)\n"+
		"    queries:                             %.0f (%.2f per sec.)\n    ignored errors:                      0      (0.00 per sec.)\n    reconnects:                          0      (0.00 per sec.)\n\n"+
		"General statistics:\n    total time:                          %d.0001s\n    total number of events:              %.0f\n\nLatency (ms):\n         min:                                    1.00\n"+
		"         avg:                                    2.00\n         max:                                    9.00\n         95th percentile:                        3.00\n         sum:                               1000.00\n\n"+
		"Threads fairness:\n    events (avg/stddev):           10.0000/0.00\n    execution time (avg/stddev):   %d.0000/0.00\n\n",
		14*total, 2*total, 16*total, total, total/float64(seconds), 16*total, 16*total/float64(seconds), seconds, total, seconds)
	return b.String()
}

func steady(seed uint64, mean float64) func(int) float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	return func(int) float64 { return mean * (1 + 0.02*rng.NormFloat64()) }
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A file that cannot be read is an error with file, line and remedy.
func TestErrors(t *testing.T) {
	good := put(t, "good.log", sysbenchLog(4, 60, steady(1, 1000)))
	for name, c := range map[string]struct{ file, text, want string }{
		"empty":         {"a.log", "", "a.log: the file is empty; check"},
		"blank":         {"a.log", "\n \n", "a.log: the file is empty"},
		"prose":         {"a.log", "dear diary\ntoday I ran a benchmark\n", "a.log: line 1: no known format"},
		"binary":        {"a.log", "\x7fELF\x02\x01\x01\x00", "a.log: the input is a program"},
		"zstd":          {"a.log", "\x28\xb5\x2f\xfd\x00", "zstd -d"},
		"options only":  {"a.log", "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nRunning the test with following options:\nNumber of threads: 4\n", "a.log: there is no figure in it"},
		"fatal":         {"a.log", "sysbench 1.0.20 (using system LuaJIT)\n\nFATAL: unable to connect to MySQL server on socket '/x', aborting...\n", "a.log: there is no figure in it"},
		"cut JSON":      {"a.json", "{\n \"fio version\" : \"fio-3.33\",\n \"jobs\" : [\n  {\n   \"jobname\" : \"x\",\n", "a.json: line 1: the JSON document that begins here has no end"},
		"ragged table":  {"a.csv", "second,tps\n1,5\n2,6,7\n", "line 3"},
		"nothing known": {"a.csv", "colour,weight\n1,5\n2,6\n", "a.csv: line 1: 2 unknown columns of the table"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "host", Files: []string{good}}, {Name: "pod", Files: []string{put(t, c.file, c.text)}}}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for name, path := range map[string]string{"missing": filepath.Join(t.TempDir(), "none.log"), "a directory": t.TempDir()} {
		_, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "host", Files: []string{good}}, {Name: "pod", Files: []string{path}}}})
		if err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The certain figures of a damaged or odd file count, with a warning.
func TestCertainPart(t *testing.T) {
	whole := sysbenchLog(4, 200, steady(1, 1000))
	half := whole[:strings.Index(whole, "[ 150s ]")+30]
	zipped := gzipped(t, whole)
	for name, c := range map[string]struct {
		file, text, warn string
		reports          int
	}{
		"whole":           {"a.log", whole, "", 200},
		"wrong name":      {"a.json", whole, "", 200},
		"CR LF":           {"a.log", strings.ReplaceAll(whole, "\n", "\r\n"), "", 200},
		"byte order mark": {"a.log", "\xef\xbb\xbf" + whole, "", 200},
		"gzip":            {"a.log", zipped, "", 200},
		"cut":             {"a.log", half, "line 161: the summary of the run that begins in line 1 is missing", 149},
		"cut gzip":        {"a.log", zipped[:len(zipped)/2], "damaged or cut off", -1},
		"two tools":       {"a.log", whole + "fio-3.33\nStarting 1 process\n", "output of fio begins here; it was not read", 200},
		"decimal commas":  {"a.log", strings.ReplaceAll(whole[:strings.Index(whole, "SQL")], ".", ","), "decimal comma", 200},
		"unknown version": {"a.log", strings.Replace(whole, "sysbench 1.0.20", "sysbench 3.7.1", 1), "sysbench 3.7.1 is not a version that is known", 200},
		"stamped":         {"a.log", "2026-11-21T07:00:00.5Z " + strings.ReplaceAll(strings.TrimSuffix(whole, "\n"), "\n", "\n2026-11-21T07:00:00.5Z ") + "\n", "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{
				{Name: "host", Files: []string{put(t, "host.log", whole)}}, {Name: "pod", Files: []string{put(t, c.file, c.text)}}}})
			if err != nil {
				t.Fatal(err)
			}
			said := printed(r.Warnings)
			if c.warn == "" && len(r.Warnings) > 0 || !strings.Contains(said, c.warn) {
				t.Errorf("warnings %s, want %q", said, c.warn)
			}
			f := r.Runs[1].Figures[0]
			mean, ok := f.Mean.Get()
			if c.reports >= 0 && f.Reports != c.reports || f.Reports < 10 || !ok || mean < 985 || mean > 1015 {
				t.Errorf("%d reports with mean %v", f.Reports, f.Mean)
			}
		})
	}
}

// Every file of the readers' test data is read or refused; no figure becomes 0.
func TestEveryGoldenFile(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*")
	if err != nil || len(files) < 150 {
		t.Fatal(err, len(files))
	}
	read := 0
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".sh") {
			continue
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Name: "a", Files: []string{path}}, {Name: "b", Files: []string{copied(t, path)}}}})
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		read++
		for _, x := range r.Runs {
			for _, f := range x.Figures {
				if v, ok := f.Total.Get(); ok && !(v > 0) {
					t.Errorf("%s: %s of the whole run is %v", path, f.Metric, v)
				}
			}
		}
		if len(r.Workloads) == 0 || r.Workloads[0].Primary == "" {
			t.Errorf("%s: no workload", path)
		}
	}
	t.Logf("%d files were read", read)
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}

// repeats makes several logs for an arm.
func repeats(t *testing.T, arm string, threads int, means ...float64) []string {
	var words []string
	for i, m := range means {
		words = append(words, arm+"="+put(t, fmt.Sprintf("%s.%d.log", arm, i), sysbenchLog(threads, 60, steady(uint64(i)+uint64(m), m))))
	}
	return words
}

// If arms have several runs, each run is one observation.
func TestSeveralRuns(t *testing.T) {
	words := append(repeats(t, "host", 4, 1000, 1010, 995, 1003, 990), repeats(t, "pod", 4, 900, 905, 890, 910, 897)...)
	e := imports(t, nil, words...)
	x := effect(t, e, "", "pod", "throughput")
	if !x.Verdict.Worse() || x.Typical == nil || x.Typical.Low > 0.9 || x.Typical.High < 0.9 || x.Generations != 5 || x.Within != nil {
		t.Errorf("%+v", x)
	}
	if !strings.Contains(said.English(e.Caveats[0].Text), "The order of the runs is unknown") {
		t.Errorf("%+v", e.Caveats)
	}
	two := imports(t, nil, append(repeats(t, "host", 4, 1000, 1010), repeats(t, "pod", 4, 500, 505)...)...)
	if x := effect(t, two, "", "pod", "throughput"); x.Verdict != record.Undecided || x.Typical != nil || x.Observed > 0.52 {
		t.Errorf("two runs per arm: %+v", x)
	}
}

func TestOneRunHasAnIntervalInsideOnly(t *testing.T) {
	e := imports(t, nil, append(repeats(t, "host", 4, 1000), repeats(t, "pod", 4, 900)...)...)
	x := effect(t, e, "", "pod", "throughput")
	if x.Verdict != record.Undecided || x.Typical != nil || x.Within == nil || x.Within.Low > 0.9 || x.Within.High < 0.9 || x.Within.High-x.Within.Low > 0.05 {
		t.Errorf("%+v, within %+v", x, x.Within)
	}
}

func TestWhatReadersMiss(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	host := "host=" + put(t, "host.log", sysbenchLog(4, 300, steady(1, 1000)))
	pod := func(threads int, rate func(int) float64) string {
		return "pod=" + put(t, "pod.log", sysbenchLog(threads, 300, rate))
	}
	levels := imports(t, nil, host, pod(4, func(i int) float64 { return 500 + float64(i/30%2)*400 + 5*rng.NormFloat64() }))
	if c := check(levels, "two levels", "pod"); c.OK || !strings.Contains(said.English(c.Text), "with 10 changes between them") {
		t.Errorf("%+v", c)
	}
	if c := check(levels, "two levels", "host"); !c.Text.IsZero() {
		t.Errorf("%+v", c)
	}
	falls := imports(t, nil, host, pod(4, func(i int) float64 { return 1000 - float64(i)/2 + 20*rng.NormFloat64() }))
	if c := check(falls, "trend", "pod"); c.OK || !strings.Contains(said.English(c.Text), "falls by 15.") {
		t.Errorf("%+v", c)
	}
	other := imports(t, nil, host, pod(8, steady(2, 990)))
	if c := check(other, "settings", "pod"); c.OK || !strings.Contains(said.English(c.Text), "threads: 8, in host 4") {
		t.Errorf("%+v", c)
	}
	if x := effect(t, other, "", "pod", "throughput"); x.Verdict != record.Invalid || !strings.Contains(said.English(x.Reason), "another load: threads: 8, in host 4") {
		t.Errorf("%+v", x)
	}
	outlier := imports(t, nil, append(repeats(t, "host", 4, 1000, 1002, 998, 1001, 1003, 700), repeats(t, "pod", 4, 900, 905, 890, 910)...)...)
	if c := check(outlier, "outlier run", "host"); c.OK || !strings.Contains(said.English(c.Text), "host.5.log says 70") {
		t.Errorf("%+v", c)
	}
	stalls := imports(t, nil, host, pod(4, func(i int) float64 { return float64(min(i%50, 1)) * 900 }))
	if said := printed(stalls.Warnings); !strings.Contains(said, "6 of 300 reports have a throughput of 0") {
		t.Error(said)
	}
}

// One arm with several loads is several workloads, matched by the names of files.
func TestSeveralLoads(t *testing.T) {
	e := imports(t, nil, "a=../sysbench/testdata/sysbench-1.0.20-sweep.log", "b="+copied(t, "../sysbench/testdata/sysbench-1.0.20-sweep.log"))
	if len(e.Workloads) < 2 || !strings.Contains(e.Workloads[0].Name, "threads") {
		t.Errorf("%+v", e.Workloads)
	}
	for _, x := range e.Effects {
		if x.Observed != 1 && x.Reason.IsZero() {
			t.Errorf("a file differs from itself: %+v", x)
		}
	}
}

func TestArms(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"1.log", "2.log", "a=b.log"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := importer.Arms([]string{"host=" + dir + "/[12].log", "pod=x", "y", "host=" + dir + "/a=b.log", "z"})
	want := fmt.Sprint([]importer.ArmFiles{{Name: "host", Files: []string{dir + "/1.log", dir + "/2.log", dir + "/a=b.log", "z"}}, {Name: "pod", Files: []string{"x", "y"}}})
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for word, want := range map[string]string{"host=": "without a file", "host=" + dir + "/*.txt": "no file is called"} {
		if _, err := importer.Arms([]string{word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", word, err)
		}
	}
	for _, word := range []string{"p50", "p50=fast", "=3%", "p50=3"} {
		if c, err := importer.Claim(word); err == nil {
			t.Errorf("%s is a claim: %+v", word, c)
		}
	}
}
