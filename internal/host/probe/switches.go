package probe

import (
	"errors"
	"math"

	"github.com/tarelab/tare/internal/linux/proc"
)

// switches observes context switches of the arm's threads, added up. It is the most expensive
// probe: the kernel formats a whole status page for each thread.
type switches struct{}

func (switches) Name() string { return "context switches" }

func (switches) Metrics() []Metric {
	return []Metric{
		{Name: "switches.voluntary", Unit: "1", PerOp: true,
			Help: helpSwitchesVoluntary},
		{Name: "switches.involuntary", Unit: "1", PerOp: true,
			Help: helpSwitchesInvoluntary},
	}
}

func (switches) Open(t Target) (Reader, error) {
	m, err := threads(t)
	if err != nil {
		return nil, err
	}
	return &follow{root: proc.FS(t.Root), members: m, file: "status", width: 2, parse: contextSwitches}, nil
}

func contextSwitches(_ int, text []byte, dst []float64) error {
	proc.Keyed(text, []string{"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"}, dst)
	if math.IsNaN(dst[0] + dst[1]) {
		return errors.New("no context switches")
	}
	return nil
}
