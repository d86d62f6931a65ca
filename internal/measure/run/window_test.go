package run

import (
	"maps"
	"slices"
	"testing"

	"github.com/tarelab/tare/internal/host/probe"
	"github.com/tarelab/tare/internal/measure/session"
	"github.com/tarelab/tare/internal/wire"
	"github.com/tarelab/tare/record"
)

// two is a session with two probes.
type two struct{ session.Session }

func (two) Metrics() []probe.Metric { return []probe.Metric{{Name: "cpu.time"}, {Name: "nfs.sent"}} }

// A probe without anything to observe gives no missing value. In a window without any reading,
// every value is missing.
func TestFill(t *testing.T) {
	for _, c := range []struct {
		read map[string]record.Value
		want []string
	}{
		{map[string]record.Value{"cpu.time": record.Number(1)}, []string{"cpu.time"}},
		{nil, []string{"cpu.time", "nfs.sent"}},
	} {
		a := &arm{instance: &instance{session: two{}}}
		var w record.Window
		a.fill(&w, wire.Sample{Probes: c.read})
		if got := slices.Sorted(maps.Keys(w.Probes)); !slices.Equal(got, c.want) {
			t.Errorf("read %v: the window has %v, want %v", c.read, got, c.want)
		}
	}
}
