package metric

import (
	"slices"
	"testing"

	"github.com/tarelab/tare/record"
)

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		if m.Name == "" || m.Unit == "" || m.Better*m.Better != 1 || m.Label == "" || m.Head == "" || m.Quantile < 0 || m.Quantile >= 1 {
			t.Errorf("incomplete: %+v", m)
		}
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		if m.Quantile > 0 && quantileName(m.Quantile) != m.Name {
			t.Errorf("%s is the quantile %g", m.Name, m.Quantile)
		}
	}
}

func TestFind(t *testing.T) {
	declared := []record.Metric{{Name: "bytes", Unit: "B/s", Better: +1}, {Name: "p95", Unit: "B", Better: +1}}
	for name, want := range map[string]int{"throughput": +1, "cpu_per_op": -1, "p99": -1, "bytes": +1, "p95": +1, "nothing": 0} {
		if got := Better(declared, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if m, _ := Find(declared, "p95"); m.Unit != "B" || m.Quantile != 0 {
		t.Errorf("what the load says itself comes first: %+v", m)
	}
}

func TestMetricsOfLogs(t *testing.T) {
	for name, m := range map[string]Metric{
		"read_iops": IOPS.Of("read"), "write_bandwidth": Bandwidth.Of("write"), "latency_mean": LatencyMean,
		"p99.9": Quantile(0.999), "read_p95": P95.Of("read"), "time": Time, "pages": rate("pages"), "above_limit_share": Share("above_limit_share"),
	} {
		better := +1
		if m.Unit == "s" || m.Unit == "ratio" {
			better = -1
		}
		if m.Name != name || m.Unit == "" || m.Better != better || m.Label == "" || m.Head == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestJudged(t *testing.T) {
	for name, c := range map[string]struct {
		load record.Workload
		cpu  bool
		want []string
	}{
		"fixed in the plan": {record.Workload{Primary: "throughput", Judged: []string{"throughput"}}, true, []string{"throughput"}},
		"an old record":     {record.Workload{Primary: "throughput"}, true, []string{"throughput", "cpu_per_op"}},
		"named otherwise":   {record.Workload{Primary: "throughput", Judged: []string{"throughput", "efficiency"}}, true, []string{"throughput", "cpu_per_op"}},
		"no CPU time":       {record.Workload{Primary: "throughput"}, false, []string{"throughput"}},
		"of latencies":      {record.Workload{Primary: "p50"}, true, []string{"p50"}},
	} {
		if got := Judged(c.load, c.cpu); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
