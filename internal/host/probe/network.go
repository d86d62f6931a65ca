package probe

import (
	"github.com/tarelab/tare/internal/linux/proc"
)

// network observes the network softirq, which the kernel counts for the whole host and not by
// namespace. The counters have 32 bits for each CPU; a window in which one wraps has no value.
type network struct{}

func (network) Name() string { return "network softirq" }

func (network) Metrics() []Metric {
	return []Metric{
		{Name: "net.handled", Unit: "1", PerOp: true, Help: helpNetHandled},
		{Name: "net.dropped", Unit: "1", Help: helpNetDropped},
		{Name: "net.squeezed", Unit: "1", Help: helpNetSqueezed},
	}
}

func (network) Open(t Target) (Reader, error) {
	if !t.Host {
		return nil, t.notHost()
	}
	return openFiles(source{
		paths: []string{proc.FS(t.Root).Path("proc/net/softnet_stat")}, parse: softnet,
		names: []string{"packets", "drops", "squeezes"}})
}

func softnet(text []byte, dst []float64) (err error) {
	dst[0], dst[1], dst[2], err = proc.Softnet(text)
	return err
}
