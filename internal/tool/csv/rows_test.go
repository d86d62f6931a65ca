package csv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/format/observed"
)

// arms is what was made of a table: of each run its arm, load and figures, sorted.
func arms(runs []*observed.Run) string {
	var all []string
	for _, r := range runs {
		s := strings.TrimSpace(r.Arm + " " + r.Sub)
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
		"an unknown word is the arm":     {"storageclass,iops\nlocal-path,10000\nlonghorn,2000\n", "local-path throughput=1e+04; longhorn throughput=2000"},
		"two words":                      {"engine,platform,tps\ninnodb,x64,10\ninnodb,arm,20\nrocks,arm,30\n", "innodb arm throughput=20; innodb x64 throughput=10; rocks arm throughput=30"},
		"beside the arm it is the load":  {"arm,engine,tps\nhost,innodb,10\nhost,rocks,20\n", "host innodb throughput=10; host rocks throughput=20"},
		"a word that is the same":        {"kernel,tps\n6.1-x,10\n6.1-x,20\n", "throughput=15"},
		"a number with a unit is a word": {"payload,rps\n10B,100\n5KiB,50\n", "10B throughput=100; 5KiB throughput=50"},
		"dates and hosts are no words":   {"date,hostname,when,tps\n2026-01-01,a,10:00,10\n2026-01-02,b,11:00,20\n", "throughput=15"},
		"runs":                           {"arm,run,tps\nhost,1,10\nhost,2,20\n", "host throughput=10; host throughput=20"},
		"thread":                         {"thread,tps\n1,10\n8,50\n", "throughput=10; throughput=50"},
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
		runs, _, err := Import("", strings.NewReader(c.table))
		got := arms(runs)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
