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
		if m.Quantile > 0 && QuantileName(m.Quantile) != m.Name {
			t.Errorf("%s is the quantile %g", m.Name, m.Quantile)
		}
	}
}

func TestFind(t *testing.T) {
	said := []record.Metric{{Name: "bytes", Unit: "B/s", Better: +1}, {Name: "p95", Unit: "B", Better: +1}}
	for name, want := range map[string]int{"throughput": +1, "efficiency": +1, "cpu_per_op": -1, "p99": -1, "bytes": +1, "p95": +1, "nothing": 0} {
		if got := Better(said, name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if m, _ := Find(said, "p95"); m.Unit != "B" || m.Quantile != 0 {
		t.Errorf("what the load says itself comes first: %+v", m)
	}
}

func TestOfTool(t *testing.T) {
	for name, want := range map[string]Metric{
		"read_iops": {Unit: "1/s", Better: +1}, "write_bandwidth": {Unit: "B/s", Better: +1}, "latency_mean": {Unit: "s", Better: -1},
		"p99.9": {Unit: "s", Better: -1}, "read_p95": {Unit: "s", Better: -1}, "time": {Unit: "s", Better: -1}, "pages": {Unit: "1/s", Better: +1},
		"cpu_per_op": {Unit: "s", Better: -1},
	} {
		if m := OfTool(name); m.Unit != want.Unit || m.Better != want.Better {
			t.Errorf("%s: %s, %+d", name, m.Unit, m.Better)
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
		"an old record":     {record.Workload{Primary: "throughput"}, true, []string{"throughput", "efficiency"}},
		"no CPU time":       {record.Workload{Primary: "throughput"}, false, []string{"throughput"}},
		"of latencies":      {record.Workload{Primary: "p50"}, true, []string{"p50"}},
	} {
		if got := Judged(c.load, c.cpu); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
