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
		{"cpu", "waited for a CPU"},
		{"memory", "waited for memory (reclaim, refault, swap)"},
		{"io", "waited for block input or output"},
	} {
		all = append(all,
			Metric{Name: "pressure." + r.name + ".some", Unit: "s", Help: "time in which at least one thread of the arm " + r.wait},
			Metric{Name: "pressure." + r.name + ".full", Unit: "s", Help: "time in which every thread of the arm that had work " + r.wait})
	}
	return all
}

func (pressure) Open(t Target) (Reader, error) {
	var all []source
	for _, r := range []string{"cpu", "memory", "io"} {
		all = append(all, inGroup(t.Group, cgroup.Unified, []string{r + ".pressure"}, someAndFull, "total of some", "total of full"))
	}
	return openFiles(all...)
}

func someAndFull(text []byte, dst []float64) error {
	dst[0], dst[1] = proc.Pressure(text)
	return nil
}
