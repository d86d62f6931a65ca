package probe

import (
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// pressure observes how long threads of the arm's group waited for a resource, from the
// *.pressure files of its group of version 2. In the hybrid layout that group has no
// controllers, but the kernel still accounts its pressure.
type pressure struct{}

func (pressure) Name() string { return "pressure" }

func (pressure) Metrics() []Metric {
	var all []Metric
	for _, r := range []struct{ name, wait string }{
		{"cpu", waitCPU},
		{"memory", waitMemory},
		{"io", waitIO},
	} {
		all = append(all,
			Metric{Name: "pressure." + r.name + ".some", Unit: "s", Help: helpPressureSome(r.wait)},
			Metric{Name: "pressure." + r.name + ".full", Unit: "s", Help: helpPressureFull(r.wait)})
	}
	return all
}

func (pressure) Open(t Target) (Reader, error) {
	var all []source
	for _, r := range []string{"cpu", "memory", "io"} {
		all = append(all, inGroup(t.Group, cgroup.Unified, []string{r + ".pressure"}, someAndFull, totalOfSome, totalOfFull))
	}
	return openFiles(all...)
}

func someAndFull(text []byte, dst []float64) error {
	dst[0], dst[1] = proc.Pressure(text)
	return nil
}
