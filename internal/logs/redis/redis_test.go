package redis

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/logs/sysbench"
	"github.com/tarelab/tare/internal/testing/formattest"
	"github.com/tarelab/tare/internal/wire/metric"
)

type result struct {
	*content
	Reports []report `json:",omitempty"`
	Error   string   `json:",omitempty"`
}

func read(b []byte) result {
	r := result{}
	log, err := parse(known(b), func(v report) error {
		r.Reports = append(r.Reports, v)
		return nil
	})
	r.content = log
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (r result) size() int { return len(r.Reports) + len(r.Runs) }

func TestGolden(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log", "*.csv") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			formattest.Golden(t, name, read(formattest.Read(t, name)))
		})
	}
}

func TestTruncated(t *testing.T) {
	for _, name := range formattest.Files(t, "*.log", "*.csv") {
		formattest.Truncated(t, formattest.Read(t, name), 7, func(b []byte) int { return read(b).size() })
	}
}

// imports reads a file like tare import, and returns totals and settings of each test.
func imports(t *testing.T, text []byte) (map[string]map[string]format.Num, map[string]string, []format.Warning) {
	t.Helper()
	runs, warnings, err := importFile("x", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	totals, settings := map[string]map[string]format.Num{}, map[string]string{}
	for _, r := range runs {
		totals[r.Sub] = map[string]format.Num{}
		for _, m := range []metric.Metric{metric.Throughput, metric.LatencyMean, metric.LatencyMin, metric.LatencyMax,
			metric.P50, metric.Quantile(0.9), metric.P95, metric.P99, metric.Quantile(0.999)} {
			totals[r.Sub][m.Name] = r.Figure(m).Total
		}
		r.Finish()
		warnings = append(warnings, r.Doubts...)
		settings[r.Sub] = text1(r)
	}
	return totals, settings, warnings
}

func text1(r *observed.Run) string {
	var s []string
	for _, x := range r.Load {
		s = append(s, x.Name+" "+x.Got)
	}
	return strings.Join(s, ", ")
}

// The import has the figures of the report's summary in seconds, and p99.9 from the distribution if a bound is
// close enough.
func TestImport(t *testing.T) {
	totals, settings, _ := imports(t, formattest.Read(t, "testdata/redis-7.0-pipeline.log"))
	if len(totals) != 4 || settings["SET"] != "clients 4, payload 256 B, keep alive yes, save none, appendonly no" {
		t.Errorf("%d tests, %q", len(totals), settings["SET"])
	}
	if x := totals["SET"]; !x["throughput"].Is(571428.56) || !x["p50"].Is(0.000079) || x["p99.9"].Known() {
		t.Errorf("%v", x) // 16 requests of a pipeline have one latency: 99.92 % is not near enough
	}
	totals, _, _ = imports(t, formattest.Read(t, "testdata/redis-7.0-stalled.log"))
	if x := totals["SET"]; !x["throughput"].Is(25724.58) || !x["p99.9"].Known() || !x["max_latency"].Known() {
		t.Errorf("%v", x)
	}
	_, settings, _ = imports(t, formattest.Read(t, "testdata/valkey-9.0-cluster.log"))
	if want := "clients 50, payload 3 B, keep alive yes, threads 3, cluster nodes 3, rate 30000, save none / 3600 1, appendonly no"; settings["SET"] != want {
		t.Errorf("%q", settings["SET"])
	}
}

// The milliseconds of versions before 6.2 give a percentile only if they are close to each other.
func TestCoarse(t *testing.T) {
	totals, _, _ := imports(t, formattest.Read(t, "testdata/redis-5.0.log"))
	set, slow := totals["SET"], totals["LRANGE_600 (first 600 elements)"]
	if set["p50"].Known() || set["p99"].Known() || set["max_latency"].Known() || !set["throughput"].Is(84745.77) {
		t.Errorf("%v", set)
	}
	if !slow["p50"].Is(0.052) || !slow["p99"].Is(0.053) || !slow["p99.9"].Is(0.054) {
		t.Errorf("%v", slow)
	}
}

// The first progress line of a test does not count. A stalled server is a report of 0.
func TestProgress(t *testing.T) {
	r := read(formattest.Read(t, "testdata/redis-7.0-stalled.log"))
	zero := 0
	for _, x := range r.Reports {
		if x.Rate.Is(0) {
			zero++
			if x.Latency.Known() {
				t.Errorf("%+v", x)
			}
		}
	}
	if len(r.Runs) != 1 || zero < 2 || r.Runs[0].Reports != len(r.Reports) {
		t.Errorf("%d runs, %d of %d reports are 0", len(r.Runs), zero, len(r.Reports))
	}
	two := read([]byte("SET: rps=4.0 (overall: 9.9) avg_msec=1.0 (overall: 1.0)\rSET: rps=8.0 (overall: 8.0) avg_msec=1.0 (overall: 1.0)\rSET: 8.00 requests per second, p50=1.000 msec\r\n"))
	if len(two.Runs) != 1 || len(two.Reports) != 1 || !two.Reports[0].Rate.Is(8) || two.Reports[0].Line != 1 {
		t.Errorf("%+v", two)
	}
}

func TestImpossible(t *testing.T) {
	whole := string(formattest.Read(t, "testdata/redis-7.0-aof.log"))
	short := string(formattest.Read(t, "testdata/redis-7.0-short.log"))
	row := whole[strings.LastIndex(strings.TrimRight(whole, "\n"), "\n")+1:]
	for _, c := range []struct{ name, in, want string }{
		{"infinite", short, "no throughput"},
		{"order", strings.Replace(whole, row, "        0.056     0.024     0.055     0.087     0.003     4.247\n", 1), "not in the order"},
		{"negative", strings.Replace(whole, row, "       -0.056    -0.024     0.055     0.087     0.103     4.247\n", 1), "not in the order"},
		{"mixed", strings.ReplaceAll(string(formattest.Read(t, "testdata/redis-7.0-threads.log")), "20000 requests completed in 1.02", "90000 requests completed in 1.02"), "are not"},
		{"clipped", string(formattest.Read(t, "testdata/valkey-9.0-cluster.log")), "counted as 3 s"},
	} {
		totals, _, warnings := imports(t, []byte(c.in))
		found := false
		for _, w := range warnings {
			found = found || strings.Contains(said.English(w.Text), c.want)
		}
		if !found {
			t.Errorf("%s: %v", c.name, warnings)
		}
		for _, x := range totals {
			if c.name == "infinite" && x["throughput"].Known() || c.name == "order" && x["p95"].Known() ||
				c.name == "negative" && x["latency_mean"].Known() || c.name == "mixed" && x["throughput"].Known() {
				t.Errorf("%s: %v", c.name, x)
			}
		}
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "the input is empty"},
		{"refused", string(formattest.Read(t, "testdata/redis-7.0-refused.log")), "line 1: the tool says: Could not connect to Redis at 127.0.0.1"},
		{"no password", string(formattest.Read(t, "testdata/redis-7.0-noauth.log")), "the tool says: Node 127.0.0.1"},
		{"another tool", "sysbench 1.0.20 (using system LuaJIT)\n", "this looks like output of sysbench"},
		{"separator", "====== run 1 ======\n", "no output of redis-benchmark"},
	} {
		if r := read([]byte(c.in)); len(r.Runs) != 0 || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: %d tests, %q, want %q", c.name, len(r.Runs), r.Error, c.want)
		}
	}
	cut := string(formattest.Read(t, "testdata/redis-7.0-default.log"))
	r := read([]byte(cut[:strings.LastIndex(cut, "Summary:")]))
	if len(r.Runs) != 2 || r.Runs[1].Complete || len(r.Warnings) != 1 || r.Warnings[0].Text.Value("test") != "GET" {
		t.Errorf("%+v", r.Warnings)
	}
}

// The name of a test may be a command with quotation marks, commas and colons.
func TestNames(t *testing.T) {
	for _, in := range []string{
		"\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\"p99_latency_ms\",\"max_latency_ms\"\n" +
			"\"set a:b \"c\",\"d\"\",\"5.00\",\"1.000\",\"1.000\",\"1.000\",\"1.000\",\"1.000\",\"1.000\"\n",
		"\"set a:b \"c\",\"d\"\",\"5.00\"\n",
		"set a:b \"c\",\"d\": 5.00 requests per second, p50=1.000 msec\n",
	} {
		if r := read([]byte(in)); len(r.Runs) != 1 || strings.Trim(r.Runs[0].Test, `"`) != `set a:b "c","d` || !r.Runs[0].Rate.Is(5) {
			t.Errorf("%q: %+v %s", in, r.Runs, r.Error)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range formattest.Files(f, "*.log", "*.csv") {
		f.Add(formattest.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		formattest.Same(t, func() any { return read(in) })
		formattest.CutLines(t, in, func(b []byte) int { return read(b).size() })
	})
}

// known makes a Text with the known tools.
func known(b []byte) *format.Text {
	return &format.Text{Reader: bytes.NewReader(b), Known: format.Tools{declared, sysbench.Reader.Tool}}
}
