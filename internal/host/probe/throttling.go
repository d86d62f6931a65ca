package probe

import (
	"math"

	"github.com/tarelab/tare/internal/linux/proc"
)

// throttling observes the CPU quota of the arm's group: cpu.stat of the cpu controller. In a
// group without a quota the counters exist and do not change.
type throttling struct{}

func (throttling) Name() string { return "quota throttling" }

func (throttling) Metrics() []Metric {
	return []Metric{
		{Name: "cpu.periods", Unit: "1", Help: helpCPUPeriods},
		{Name: "cpu.throttled_periods", Unit: "1", Help: helpCPUThrottledPeriods},
		{Name: "cpu.throttled", Unit: "s", Help: helpCPUThrottled},
	}
}

func (throttling) Open(t Target) (Reader, error) {
	return openFiles(inGroup(t.Group, "cpu", []string{"cpu.stat"}, throttled, "nr_periods", "nr_throttled", "throttled time"))
}

// throttled parses cpu.stat of both versions: version 1 has the time in ns under another name.
func throttled(text []byte, dst []float64) error {
	var v [4]float64
	proc.Keyed(text, []string{"nr_periods", "nr_throttled", "throttled_usec", "throttled_time"}, v[:])
	dst[0], dst[1], dst[2] = v[0], v[1], v[2]*1e-6
	if math.IsNaN(v[2]) {
		dst[2] = v[3] * 1e-9
	}
	return nil
}
