package csv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/observed"
)

// arms describes each run of a table by arm, load and figures, sorted.
func arms(runs []*observed.Run) string {
	var all []string
	for _, r := range runs {
		s := strings.TrimSpace(r.Arm + " " + r.Sub)
		for _, l := range r.Load {
			s += " " + l.Name + ":" + l.Got
		}
		r.Finish()
		for _, m := range []string{"throughput", "queries", "latency_mean", "p95", "p99", "bandwidth"} {
			for _, f := range r.Figures {
				if x, ok := f.Mean.Get(); ok && f.Metric == m {
					s += fmt.Sprintf(" %s=%.4g", m, x)
				}
			}
		}
		all = append(all, strings.TrimSpace(s))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// Rows that differ in a word are not repeats of one arm, and no two columns are one metric.
func TestWhatRowsAre(t *testing.T) {
	for name, c := range map[string]struct{ table, want string }{
		"a known word is the arm":        {"storageclass,iops\nlocal-path,10000\nlonghorn,2000\n", "local-path throughput=1e+04; longhorn throughput=2000"},
		"two words":                      {"engine,platform,tps\ninnodb,x64,10\ninnodb,arm,20\nrocks,arm,30\n", "--column 'engine=arm'"},
		"beside the arm it is the load":  {"arm,engine,tps\nhost,innodb,10\nhost,rocks,20\n", "--column 'engine=load'"},
		"a word that is the same":        {"kernel,tps\n6.1-x,10\n6.1-x,20\n", "--column 'kernel=ignore'"},
		"a number with a unit is a word": {"payload,rps\n10B,100\n5KiB,50\n", "payload:10B throughput=100; payload:5KiB throughput=50"},
		"dates and hosts are no words":   {"date,hostname,time,tps\n2026-01-01,a,10:00,10\n2026-01-02,b,11:00,20\n", "throughput=10; throughput=20"},
		"runs":                           {"arm,run,tps\nhost,1,10\nhost,2,20\n", "host throughput=10; host throughput=20"},
		"thread":                         {"thread,tps\n1,10\n8,50\n", "thread:1 throughput=10; thread:8 throughput=50"},
		"a payload without a unit":       {"payload,rps\n10,100\n5000,50\n", "payload:10 throughput=100; payload:5000 throughput=50"},
		"transactions and queries":       {"arm,tps,qps\nhost,100,2000\ndocker,50,900\n", "docker throughput=50 queries=900; host throughput=100 queries=2000"},
		"queries alone":                  {"arm,qps\nhost,2000\n", "host throughput=2000"},
		"a minimum is no mean":           {"tps,latency_min\n100,5\n", "throughput=100"},
		"nor beside one":                 {"latency_avg_ms,latency_min\n100,5\n", "latency_mean=0.1"},
		"minutes":                        {"arm,latency (min)\nhost,2\n", "host latency_mean=120"},
		"sysbench's own":                 {"tps,\"lat (ms,95%)\"\n100,5\n", "throughput=100 p95=0.005"},
		"percentiles":                    {"latency_95p_ms,99th (ms)\n5,7\n", "p95=0.005 p99=0.007"},
		"lat95":                          {"lat95_ms\n5\n", "p95=0.005"},
		"bw_mib":                         {"bw_mib\n5\n", "bandwidth=5.243e+06"},
		"two rates":                      {"throughput,iops\n1,2\n", `"throughput" and "iops" are both throughput`},
		"two means":                      {"latency_mean,avg latency\n1,2\n", `"latency_mean" and "avg latency" are both`},
	} {
		runs, _, err := importFile("", strings.NewReader(c.table))
		got := arms(runs)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Markdown tables anywhere on a page are read like the same rows in CSV.
func TestMarkdown(t *testing.T) {
	const both = "docker throughput=50 p95=0.04; host throughput=100 p95=0.02"
	for name, c := range map[string]struct{ table, want string }{
		"plain":             {"| arm | tps | p95 (ms) |\n|-----|----:|---------:|\n| host | 100 | 20 |\n| docker | 50 | 40 |\n", both},
		"no outer pipes":    {"arm | tps | p95 (ms)\n--- | --- | ---\nhost | 100 | 20\ndocker | 50 | 40\n", both},
		"short rules":       {"|arm|tps|p95 (ms)|\n|-|:-:|-:|\n|host|100|20|\n|docker|50|40|\n", both},
		"Windows":           {"| arm | tps | p95 (ms) |\r\n|---|---|---|\r\n| host | 100 | 20 |\r\n| docker | 50 | 40 |\r\n", both},
		"bold and code":     {"| **arm** | **tps** | `p95 (ms)` |\n|---|---|---|\n| `host` | **100** | *20* |\n| docker | 50 | 40 |\n", both},
		"links":             {"| arm | [tps](https://x.example/a) | p95 (ms) |\n|---|---|---|\n| [host](#h) | 100 | 20 |\n| docker | 50 | 40 |\n", both},
		"prose above":       {"# Results\n\nAll figures are means, as of today; see below.\n\n| arm | tps | p95 (ms) |\n|---|---|---|\n| host | 100 | 20 |\n| docker | 50 | 40 |\n\nAs one sees, it is slower.\n", both},
		"prose with a pipe": {"We ran a | b and got this:\n\n| arm | tps | p95 (ms) |\n|---|---|---|\n| host | 100 | 20 |\n| docker | 50 | 40 |\n", both},
		"quoted":            {"> | arm | tps | p95 (ms) |\n> |---|---|---|\n> | host | 100 | 20 |\n> | docker | 50 | 40 |\n", both},
		"indented":          {"  | arm | tps | p95 (ms) |\n  |---|---|---|\n  | host | 100 | 20 |\n  | docker | 50 | 40 |\n", both},
		"units in fields":   {"| arm | tps | p95 |\n|---|---|---|\n| host | 100 tps | 20 ms |\n| docker | 50/s | 0.04 s |\n", both},
		"thousands":         {"| arm | iops | bw |\n|---|---|---|\n| host | 75.7k | 523MiB/s |\n| longhorn | 1.2M | 1 GB/s |\n", "host throughput=7.57e+04 bandwidth=5.484e+08; longhorn throughput=1.2e+06 bandwidth=1e+09"},
		"ranges":            {"| arm | tps |\n|---|---|\n| host | 100.5 ± 3.2 |\n| docker | 50 (-50%) |\n", "docker throughput=50; host throughput=100.5"},
		"a pipe in a field": {"| arm | test | tps |\n|---|---|---|\n| a\\|b | x | 1 |\n", "a|b x throughput=1"},
		"short rows":        {"| arm | tps | note |\n|---|---|---|\n| host | 100 |\n", "host throughput=100"},
		"arms with blanks":  {"| environment | tps |\n|---|---|\n| bare metal | 100 |\n| docker bridge | 50 |\n", "bare metal throughput=100; docker bridge throughput=50"},
		"an unknown word":   {"| storage class | iops |\n|---|---|\n| local | 9 |\n| ceph | 3 |\n", "ceph throughput=3; local throughput=9"},
		"one without known columns is passed over": {"| who | what |\n|---|---|\n| me | x |\n\n| arm | tps |\n|---|---|\n| host | 1 |\n", "host throughput=1"},
		"metrics in rows":                          {"| | host | docker | change |\n|---|---|---|---|\n| TPS | 100 | 50 | -50% |\n| p95 (ms) | 20 | 40 | +100% |\n", both},
		"metrics in rows, with threads":            {"| metric | host | docker |\n|---|---|---|\n| threads | 16 | 16 |\n| qps | 100 | 50 |\n", "docker threads:16 throughput=50; host threads:16 throughput=100"},
		"metrics in rows of CSV":                   {"metric,host,docker\ntps,100,50\np95 (ms),20,40\n", both},
		"too many fields":                          {"| arm | tps |\n|---|---|\n| host | 1 | 2 | 3 |\n", "line 3: the row has 4 fields, the heading 2"},
		"nothing":                                  {"| a | b |\n|---|---|\n| c | d |\n", "2 unknown columns of the table"},
		"no row":                                   {"| arm | tps |\n|---|---|\n", "no row"},
	} {
		runs, _, err := importFile("", strings.NewReader(c.table))
		got := arms(runs)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
