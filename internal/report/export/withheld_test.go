package export

import (
	"strings"
	"testing"

	"github.com/tarelab/tare/record"
)

// An effect without an interval has no sample of a ratio, and one that says why.
func TestWithheldInOpenMetrics(t *testing.T) {
	e := &record.Effects{Effects: []record.Effect{{Workload: "spin", Metric: "throughput", Arm: "container", Baseline: "host", Reason: record.InProse("2 blocks")}}}
	var b strings.Builder
	if err := OpenMetrics(&b, e); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "tare_effect_ratio{") ||
		!strings.Contains(got, `tare_effect_withheld{experiment="",workload="spin",metric="throughput",arm="container",baseline="host",reason="2 blocks"} 1`) {
		t.Error(got)
	}
}
