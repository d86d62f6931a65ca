package importer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/said"
	"github.com/tarelab/tare/internal/logs/importer"
	"github.com/tarelab/tare/record"
)

// wrappings are what programs put around a whole log.
var wrappings = map[string]func(lines []string) string{
	"colours": func(lines []string) string {
		return "\x1b[1;32m" + strings.Join(lines, "\x1b[0m\n\x1b[38;5;4m") + "\x1b[0m\n"
	},
	"erased lines": func(lines []string) string { return "\x1b[2K" + strings.Join(lines, "\n\x1b[2K\x1b[?25h") + "\n" },
	"Docker's json-file": func(lines []string) string {
		var out strings.Builder
		for _, l := range lines {
			b, _ := json.Marshal(map[string]string{"log": l + "\n"})
			fmt.Fprintf(&out, "%s,\"stream\":\"stdout\",\"time\":\"2024-03-04T10:00:00.000000001Z\"}\n", strings.TrimSuffix(string(b), "}"))
		}
		return out.String()
	},
	"Ansible's stdout_lines": func(lines []string) string {
		b, _ := json.MarshalIndent(lines, "    ", "    ")
		whole, _ := json.Marshal(strings.Join(lines, "\n"))
		return "ok: [db1] => {\n    \"changed\": false,\n    \"stdout\": " + string(whole) + ",\n    \"stdout_lines\": " + string(b) + "\n}\n"
	},
	"cat -n": func(lines []string) string {
		out := ""
		for i, l := range lines {
			out += fmt.Sprintf("%6d\t%s\n", i+1, l)
		}
		return out
	},
	"nl": func(lines []string) string {
		out, n := "", 0
		for _, l := range lines {
			if l == "" {
				out += "       \n"
				continue
			}
			n++
			out += fmt.Sprintf("%6d\t%s\n", n, l)
		}
		return out
	},
}

// A log in a wrapping has the figures of the bare log, whatever its tool.
func TestWrappedLogs(t *testing.T) {
	for _, path := range []string{"../sysbench/testdata/sysbench-1.0.20-sweep.log", "../clickhouse/testdata/*.log", "../redis/testdata/redis-7.0-threads.log", "../pgbench/testdata/pgbench-1*-*.log",
		"../fio/testdata/fio-3.33*.json", "../fio/testdata/fio-3.33*.txt"} {
		for i, file := range globbed(t, path) {
			if i > 2 {
				break
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bare, err := alone(t, file)
			if err != nil {
				continue
			}
			for name, wrap := range wrappings {
				if strings.Contains(string(b), "\r") || strings.HasSuffix(file, ".json") && strings.Contains(name, "json") {
					continue
				}
				r, err := alone(t, put(t, "x.log", wrap(strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"))))
				if err != nil || figuresOf(r) != figuresOf(bare) {
					t.Errorf("%s in %s: %v", file, name, err)
				}
			}
		}
	}
}

func figuresOf(r *importer.Result) string {
	if r == nil {
		return ""
	}
	var out []string
	for _, x := range r.Runs {
		s := x.Workload
		for _, f := range x.Figures {
			s += fmt.Sprintf(" %s %v %v", f.Metric, f.Total, f.Mean)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	a, err := importer.Arms([]string{"x=" + pattern})
	if err != nil {
		t.Fatal(err)
	}
	return a[0].Files
}

// JSON is read without indentation and in one line, however long.
func TestJSONInAnyLayout(t *testing.T) {
	var bare *importer.Result
	var b []byte
	for _, file := range globbed(t, "../fio/testdata/fio-3.33*.json") {
		r, err := alone(t, file)
		if err == nil && bare == nil {
			bare = r
			if b, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	var lost strings.Builder
	for line := range strings.Lines(string(b)) {
		lost.WriteString(strings.TrimLeft(line, " \t"))
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	jobs := doc["jobs"].([]any)
	for len(jobs) < 400 {
		jobs = append(jobs, jobs[0])
	}
	one, _ := json.Marshal(doc)
	doc["jobs"] = jobs
	long, _ := json.Marshal(doc)
	if len(long) < 1<<20 {
		t.Fatal(len(long))
	}
	for name, text := range map[string]string{"no indentation": lost.String(), "one line": string(one) + "\n"} {
		if r, err := alone(t, put(t, "x.json", text)); err != nil || figuresOf(r) != figuresOf(bare) {
			t.Errorf("%s: %v\n%s\n%s", name, err, figuresOf(r), figuresOf(bare))
		}
	}
	if r, err := alone(t, put(t, "x.json", string(long)+"\n")); err != nil || len(r.Runs) == 0 {
		t.Errorf("a long line: %v", err)
	}
}

// A job named fio is a job, and its options are compared.
func TestJobNamedFio(t *testing.T) {
	named := func(rw string, depth int) string {
		return strings.ReplaceAll(fioText("3.33", rw, all4k, depth), "test: ", "fio: ")
	}
	e := imports(t, nil, "host="+put(t, "a.log", named("randwrite", 1)), "pod="+put(t, "b.log", named("write", 32)))
	if x := e.Effects[0]; x.Verdict != record.Invalid || !strings.Contains(said.English(x.Reason), "iodepth: 32, in host 1") || strings.Contains(printed(e.Warnings), "fio said") {
		t.Errorf("%s %q %v", x.Verdict, x.Reason, e.Warnings)
	}
}

// ClickHouse's percentiles are read behind any prefix.
func TestPercentilesBehindPrefixes(t *testing.T) {
	text := "Queries executed: 300.\n\nlocalhost:9000, queries: 300, QPS: 30.000, RPS: 300000.000, MiB/s: 2.289, result RPS: 30.000, result MiB/s: 0.000.\n\n"
	for _, q := range []string{"0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "95", "99", "99.9", "99.99"} {
		text += q + "%\t\t0.0" + fmt.Sprint(10+len(q)) + " sec.\t\n"
	}
	for _, prefix := range []string{"", "bench-1  | ", "[pod/bench-7xk/main] ", "2024-03-04T10:00:00.000000000Z stdout F ", "bench-7xk main ", "Mar  4 10:00:00 node1 bench[4711]: ", "out.log:12:", "out.log-", "> ", "> > "} {
		in := ""
		for line := range strings.Lines(text) {
			in += prefix + line
		}
		r, err := alone(t, put(t, "x.log", in))
		if err != nil || figure(r.Runs[0], "p99") != 0.012 || figure(r.Runs[0], "p50") != 0.012 || figure(r.Runs[0], "throughput") != 30 || len(r.Warnings) > 0 {
			t.Errorf("%q: %v %+v", prefix, err, r)
		}
	}
}

// Loads follow the numbers in their names.
func TestOrderOfLoads(t *testing.T) {
	table := "arm,threads,tps\n"
	for _, n := range []int{16, 1, 128, 2, 8} {
		table += fmt.Sprintf("host,%d,10\npod,%d,9\n", n, n)
	}
	r, err := alone(t, put(t, "x.csv", table))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range r.Workloads {
		names = append(names, strings.TrimPrefix(w.Name, "table threads "))
	}
	if got := strings.Join(names, " "); got != "1 2 8 16 128" {
		t.Error(got)
	}
}

// An outlier among figures that a coarse scale makes equal is none; one far away is.
func TestOutlierAmongTies(t *testing.T) {
	table := func(last float64) string {
		return fmt.Sprintf("run,tps\n1,62500.00\n2,62515.62\n3,62500.00\n4,62500.00\n5,%.2f\n", last)
	}
	for last, ok := range map[float64]bool{64516.13: true, 31250: false} {
		if c := check(imports(t, nil, "host="+put(t, "x.csv", table(last))), "outlier run", ""); c.OK != ok {
			if c = check(imports(t, nil, "host="+put(t, "x.csv", table(last))), "outlier run", "host"); c.OK != ok {
				t.Errorf("%g: %+v", last, c)
			}
		}
	}
}
