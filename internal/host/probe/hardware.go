package probe

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/perf"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// hardware observes the CPU's own counters for the arm's group: cycles and instructions. A
// neighbour on another CPU and the clock frequency change them less than they change time.
type hardware struct{}

func (hardware) Name() string { return "hardware counters" }

// The names of the metrics.
const (
	cycles       = "cpu.cycles"
	instructions = "cpu.instructions"
)

func (hardware) Metrics() []Metric {
	return []Metric{
		{Name: cycles, Unit: "1", PerOp: true, Help: helpCPUCycles},
		{Name: instructions, Unit: "1", PerOp: true, Help: helpCPUInstructions},
	}
}

func (h hardware) Open(t Target) (Reader, error) { return h.count(t, perf.Cycles, perf.Instructions) }

// count counts two events of the arm's group.
func (hardware) count(t Target, events ...perf.Event) (Reader, error) {
	if t.Root != "/" {
		return nil, errors.New("only the kernel that runs here counts it")
	}
	dir, err := perfDir(t.Group)
	if err != nil {
		return nil, err
	}
	text, err := proc.FS(t.Root).Text("sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	cpus, err := cpuset.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("find the CPUs: %w", err)
	}
	g, err := perf.Open(dir, cpus.List(), events...)
	if err != nil {
		return nil, err
	}
	return &counted{group: g, n: len(events)}, nil
}

// perfDir is the arm's group in the hierarchy of perf_event.
func perfDir(g cgroup.Group) (string, error) {
	if dir, err := g.Dir("perf_event"); err == nil {
		return dir, nil
	}
	dir, why := groupDir(g, cgroup.Unified)
	if !why.IsZero() {
		return "", unread{why}
	}
	return dir, nil
}

type counted struct {
	noEdges
	group *perf.Group
	n     int
	why   record.Said
}

func (c *counted) Read(dst []float64) []float64 {
	out, err := c.group.Read(dst)
	if err == nil {
		return out
	}
	c.why = whyOf(err)
	return appendMissing(dst, c.n)
}

func (c *counted) Reason(int) record.Said { return c.why }

func (c *counted) Close() error { return c.group.Close() }
