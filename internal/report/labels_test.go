package report

import (
	"testing"

	"github.com/tarelab/tare/record"
)

// Metrics that a load says itself are shown in their own units.
func TestMetricsOfALoad(t *testing.T) {
	for unit, want := range map[string]string{
		"s": "1.50 s", "B": "1.50 B", "B/s": "1.50 B/s", "1/s": "1.50/s", "ratio": "150 %", "requests": "1.50 requests", "": "1.50", "1": "1.50", "1/min": "1.50/min",
	} {
		w := english.named(record.WorkloadResult{Values: []record.Metric{{Name: "x", Unit: unit, Better: -1}}})
		m := w.metricWord("x")
		if got := m.show(1.5); got != want || m.more || m.head != "x" {
			t.Errorf("%q: %s, want %s (%+v)", unit, got, want, m)
		}
	}
	var w workload
	if w.metricWord("throughput").head != "throughput" || !w.metricWord("throughput").more {
		t.Error("throughput changed")
	}
}
