package importer_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/importer"
)

// Tables on a page are different loads if the headings above them differ, and repeats if only the number of a
// run differs.
func TestTablesOfOnePage(t *testing.T) {
	table := func(host, docker string) string {
		return "| arm | tps |\n|---|---|\n| bare metal | " + host + " |\n| docker | " + docker + " |\n\n"
	}
	for name, c := range map[string]struct {
		text        string
		loads, runs int
	}{
		"one":      {"# MySQL\n" + table("100", "50"), 1, 2},
		"loads":    {"## read-only\n" + table("100", "50") + "## read-write\n" + table("10", "5"), 2, 4},
		"bold":     {"**16 threads**\n\n" + table("100", "50") + "**32 threads**\n\n" + table("10", "5"), 2, 4},
		"repeats":  {"### Run 1\n" + table("100", "50") + "### Run 2\n" + table("101", "51"), 1, 4},
		"dates":    {"2024-01-02\n\n" + table("100", "50") + "2024-01-03\n\n" + table("101", "51"), 1, 4},
		"no words": {table("100", "50") + table("101", "51"), 1, 4},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			r, err := alone(t, put(t, "page.md", strings.ReplaceAll(c.text, "\n", end)))
			if err != nil || len(r.Workloads) != c.loads || len(r.Runs) != c.runs {
				t.Errorf("%s: %v, %d loads of %d runs, want %d of %d", name, err, len(r.Workloads), len(r.Runs), c.loads, c.runs)
				continue
			}
			if got := r.Workloads[0].Baseline; got != "bare metal" {
				t.Errorf("%s: the baseline is %q", name, got)
			}
		}
	}
}

// hyperfine's Markdown gives the same figures as its CSV.
func TestHyperfineMarkdown(t *testing.T) {
	text := "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n" +
		"| `sleep 0.01` | 12.3 ± 0.4 | 11.0 | 13.0 | 1.00 |\n| `sleep 0.02` | 22.5 ± 0.6 | 21.0 | 25.0 | 1.83 ± 0.07 |\n"
	for _, t2 := range []string{text, "## Benchmarks\n\n" + text + "\nThat is all.\n", strings.ReplaceAll(text, "[ms]", "[s]")} {
		r, err := alone(t, put(t, "bench.md", t2))
		if err != nil || len(r.Runs) != 2 {
			t.Fatalf("%v %+v", err, r)
		}
		want := 0.0225
		if strings.Contains(t2, "[s]") {
			want = 22.5
		}
		if x := r.Runs[1]; x.Arm != "sleep 0.02" || math.Abs(figure(x, "time")-want) > 1e-12 {
			t.Errorf("%+v, want %v", x, want)
		}
	}
}

// Markup around the lines of an output hides no line.
func TestMarkupOfPages(t *testing.T) {
	set, get := "====== SET ======\n  1000 requests completed in 1.00 seconds\n  50 parallel clients\n  3 bytes payload\n  keep alive: 1\n\n99.90% <= 0.1 milliseconds\n1000.00 requests per second",
		"====== GET ======\n  1000 requests completed in 0.50 seconds\n  50 parallel clients\n  3 bytes payload\n  keep alive: 1\n\n99.90% <= 0.1 milliseconds\n2000.00 requests per second"
	for name, around := range map[string][2]string{
		"nothing": {"", "\n"}, "backticks": {"`", "`\n"}, "pre": {"<pre>", "</pre>\n"}, "pre and code": {"<pre><code>", "</code></pre>\n"},
		"a class": {`<pre class="lang-sh prettyprint"><code class="x">`, "</code></pre>\n"}, "div": {"<div>\n<pre>", "</pre>\n</div>\n"},
		"fences": {"```\n", "\n```\n"}, "fences on the line": {"```", "```\n"}, "a bullet": {"* ", "\n"}, "bold": {"**", "**\n"}, "a quotation": {"> ", "\n"},
		"an arrow": {"-> ", "\n"}, "a word": {"Output: ", "\n"},
	} {
		for _, entities := range []bool{false, true} {
			text := around[0] + set + around[1] + around[0] + get + around[1]
			if entities {
				if !strings.Contains(text, "<pre") {
					continue
				}
				text = strings.ReplaceAll(text, "<= ", "&lt;= ")
			}
			r, err := alone(t, put(t, "page.html", text))
			if err != nil || len(r.Runs) != 2 || len(r.Workloads) != 2 {
				t.Errorf("%s: %v %+v", name, err, r)
				continue
			}
			for i, want := range []float64{1000, 2000} {
				if x := r.Runs[i]; figure(x, "throughput") != want && figure(r.Runs[1-i], "throughput") != want || len(x.Load) == 0 {
					t.Errorf("%s: %+v, want %v", name, x, want)
				}
			}
		}
	}
}

// Lines that a terminal or a mail program broke are joined.
func TestBrokenLines(t *testing.T) {
	sysbench := "[ 10s ] thds: 16 tps: 1000.00 qps: 1000.00 (r/w/o: 0.00/1000.00/0.00) lat (ms,95%): 9.22 err/s: 0.00 reconn/s: 0.00"
	pgbench := "progress: 5.0 s, 1000.0 tps, lat 8.000 ms stddev 1.000, 0 failed, lag 8.146 ms, 28 skipped, 188 retried, 333 retries"
	for tool, line := range map[string]string{"sysbench": sysbench, "pgbench": pgbench} {
		for width := 30; width < len(line); width++ {
			var text, wrapped strings.Builder
			for range 2 {
				for rest := line; rest != ""; {
					n := min(width, len(rest))
					text.WriteString(rest[:n] + "\n")
					rest = rest[n:]
				}
				at := strings.LastIndexByte(line[:width], ' ') // as a mail breaks it
				wrapped.WriteString(line[:at] + "\n" + line[at+1:] + "\n")
			}
			for _, in := range []string{text.String(), wrapped.String()} {
				r, err := alone(t, put(t, "x.log", strings.ReplaceAll(in, "5.0 s, ", "5.0 s, ")))
				if err != nil {
					if tool == "sysbench" || width >= 60 {
						t.Errorf("%s, %d columns: %v", tool, width, err)
					}
					continue
				}
				if x := r.Runs[0]; math.Abs(figure(x, "throughput")-1000) > 1e-9 {
					t.Errorf("%s, %d columns: %+v", tool, width, x)
				}
			}
		}
	}
}

// The summaries of programs that run fio in Kubernetes are read; if fio's own report is above one, that is read
// instead.
func TestSummariesOfFioInKubernetes(t *testing.T) {
	for name, loads := range map[string]int{"dbench": 5, "kbench": 6, "kubestr": 2} {
		b, err := os.ReadFile("../kubefio/testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"as it is": string(b), "Windows": strings.ReplaceAll(string(b), "\n", "\r\n"),
			"fenced": "### longhorn\n```\n" + string(b) + "```\n", "quoted": "> " + strings.ReplaceAll(string(b), "\n", "\n> "),
			"kubectl logs": "[pod/bench-x/fio] " + strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", "\n[pod/bench-x/fio] ") + "\n"} {
			r, err := alone(t, put(t, "x.txt", text))
			if err != nil || len(r.Workloads) != loads || len(r.Runs) != loads {
				t.Errorf("%s, %s: %v %+v", name, form, err, r)
			}
		}
		two := "## local-path\n" + string(b) + "\n## longhorn\n" + string(b)
		if r, err := alone(t, put(t, "x.txt", two)); err != nil || len(r.Workloads) != 2*loads {
			t.Errorf("%s, two storage classes: %v %+v", name, err, r)
		}
		if r, err := alone(t, put(t, "x.txt", "Run 1:\n"+string(b)+"\nRun 2:\n"+string(b))); err != nil || len(r.Workloads) != loads || len(r.Runs) != 2*loads {
			t.Errorf("%s, two runs: %v %+v", name, err, r)
		}
		if r, err := compared(put(t, "a.txt", string(b)), put(t, "b.txt", string(b))); err != nil || len(r.Workloads) != loads || len(r.Runs) != 2*loads {
			t.Errorf("%s, two arms: %v %+v", name, err, r)
		}
	}
	b, err := os.ReadFile("../kubefio/testdata/dbench.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := alone(t, put(t, "x.txt", "Testing Read IOPS...\n"+fioReport(1000, "4MiB/s")+"\n"+string(b)))
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Tool != "fio" || figure(r.Runs[0], "throughput") != 1000 {
		t.Errorf("%v %+v", err, r)
	}
}

// A comparison of kbench names its arms.
func TestComparisonOfKbench(t *testing.T) {
	r, err := importer.Read(importer.Options{Arms: []importer.ArmFiles{{Files: []string{"../kubefio/testdata/kbench-comparison.txt"}}}})
	if err != nil || len(r.Workloads) != 3 || len(r.Workloads[0].Arms) != 2 || r.Workloads[0].Baseline != "Local-Path" {
		t.Errorf("%v %+v", err, r)
	}
}
