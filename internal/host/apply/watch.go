package apply

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
)

// Counter is one counter of a target, in seconds per second.
type Counter struct {
	Title string
	Value float64 // NaN: Why
	Why   string
}

// counter reads a total, in seconds.
type counter struct {
	title string
	read  func(cgroup.Group) (float64, error)
}

// counters are those of a target, in the order in which they are printed.
func counters() []counter {
	return []counter{
		{titleUsed, used}, {titleWait, pressure("cpu")}, {titleThrottled, throttled},
		{titleMemory, pressure("memory")}, {titleIO, pressure("io")},
	}
}

func pressure(of string) func(cgroup.Group) (float64, error) {
	return func(g cgroup.Group) (float64, error) {
		if g.Dirs[cgroup.Unified] == "" {
			return 0, errors.New(noPressureGroup)
		}
		text, err := g.Read(cgroup.Unified, of+".pressure")
		if err != nil {
			return 0, errors.New(noPressure)
		}
		some, _ := proc.Pressure([]byte(text + "\n"))
		return some, nil
	}
}

func used(g cgroup.Group) (float64, error) {
	if dir := g.Dirs["cpuacct"]; dir != "" && dir != g.Dirs[cgroup.Unified] {
		text, err := g.Read("cpuacct", "cpuacct.usage")
		if err != nil {
			return 0, err
		}
		ns, err := strconv.ParseFloat(text, 64)
		return ns / 1e9, err
	}
	us, err := keyed(g, cgroup.Unified, "usage_usec")
	return us / 1e6, err
}

func throttled(g cgroup.Group) (float64, error) {
	if g.Dirs["cpu"] == "" {
		return 0, errors.New(noCPUGroup)
	}
	if g.Dirs["cpu"] == g.Dirs[cgroup.Unified] {
		us, err := keyed(g, "cpu", "throttled_usec")
		return us / 1e6, err
	}
	ns, err := keyed(g, "cpu", "throttled_time")
	return ns / 1e9, err
}

// keyed reads a number of cpu.stat.
func keyed(g cgroup.Group, controller, key string) (float64, error) {
	text, err := g.Read(controller, "cpu.stat")
	if err != nil {
		return 0, errors.New(noCPUGroup)
	}
	var out [1]float64
	proc.Keyed([]byte(text+"\n"), []string{key}, out[:])
	if math.IsNaN(out[0]) {
		return 0, errors.New(noCounter(key))
	}
	return out[0], nil
}

// Watch reads the target's counters at the begin and end of a time.
func (p *Planned) Watch(ctx context.Context, d time.Duration) ([]Counter, error) {
	g, err := p.it.group(ctx)
	var all []Counter
	for _, c := range counters() {
		all = append(all, Counter{Title: c.title, Value: math.NaN()})
		if err != nil {
			all[len(all)-1].Why = err.Error()
		}
	}
	if err != nil {
		return all, nil // the target's own counters are elsewhere
	}
	from := make([]float64, len(all))
	began := time.Now()
	for i, c := range counters() {
		if from[i], err = c.read(g); err != nil {
			all[i].Why = err.Error()
		}
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(d):
	}
	for i, c := range counters() {
		if all[i].Why != "" {
			continue
		}
		to, err := c.read(g)
		if err != nil {
			all[i].Why = err.Error()
			continue
		}
		all[i].Value = max(0, to-from[i]) / time.Since(began).Seconds()
	}
	return all, nil
}
