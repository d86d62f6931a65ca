package probe

import (
	"slices"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
)

// cpuTime observes the CPU time of the arm. It is read from cpu.stat of the arm's
// group of version 2, which has it without any controller, also on a hybrid;
// else from cpuacct of version 1; else from the processes. The kernel charges a running
// thread at the scheduler's tick (1 to 10 ms) and when it leaves its CPU, so a
// group's reading may lag by a tick for each CPU. Most kernels sample at ticks how the
// time is split into user and system time.
type cpuTime struct{}

func (cpuTime) Name() string { return "CPU time" }

func (cpuTime) Metrics() []Metric {
	return []Metric{
		{Name: "cpu.time", Unit: "s", PerOp: true, Help: helpCPUTime},
		{Name: "cpu.user", Unit: "s", PerOp: true, Help: helpCPUUser},
		{Name: "cpu.system", Unit: "s", PerOp: true, Help: helpCPUSystem},
	}
}

func (cpuTime) Open(t Target) (Reader, error) {
	if s := groupCPU(t.Group); s != nil {
		if r, err := openFiles(s...); err == nil {
			return r, nil
		}
	}
	return processCPU(t)
}

// groupCPU are the sources of a group's CPU time: all of it, in user mode, in the kernel.
// nil: the group has none.
func groupCPU(g cgroup.Group) []source {
	if g.Dirs[cgroup.Unified] != "" {
		return []source{inGroup(g, cgroup.Unified, []string{"cpu.stat"},
			keyed(1e-6, "usage_usec", "user_usec", "system_usec"), "usage_usec", "user_usec", "system_usec")}
	}
	if g.Dirs["cpuacct"] == "" {
		return nil
	}
	one := func(file string) source {
		return inGroup(g, "cpuacct", []string{file}, single(1e-9), "number")
	}
	return []source{one("cpuacct.usage"), one("cpuacct.usage_user"), one("cpuacct.usage_sys")}
}

// processCPU reads the CPU time of the arm's processes, with their ended threads and without
// children that are not in the arm's list. The sum is the scheduler's own count; user and
// system time have steps of 10 ms.
func processCPU(t Target) (Reader, error) {
	m, err := processes(t)
	if err != nil {
		return nil, err
	}
	live := t.Root == "/"
	f := &follow{root: proc.FS(t.Root), members: m, file: "stat", width: 3,
		parse: func(pid int, text []byte, dst []float64) error {
			var all [proc.NumProcessStat]float64
			if err := proc.ProcessStat(text, all[:]); err != nil {
				return err
			}
			dst[1], dst[2] = all[proc.UserTime], all[proc.SystemTime]
			dst[0] = dst[1] + dst[2]
			if !live {
				return nil
			}
			ns, err := sched.ProcessCPUOf(pid)
			if err == nil {
				dst[0] = float64(ns) * 1e-9
			}
			return err
		}}
	if live {
		return &clocks{follow: f}, nil
	}
	return f, nil
}

// clocks reads processes whose CPU time is also a clock.
type clocks struct {
	*follow
	asked []task // as they were when atEdge was called last
}

func (c *clocks) atEdge(to []sched.Reading) []sched.Reading {
	c.asked = append(c.asked[:0], c.tasks...)
	for _, t := range c.asked {
		to = append(to, sched.Reading{FD: sched.ClockOf(t.id)})
	}
	return to
}

// moveTo adds the CPU time between a process's Read and the edge, which is negative at the
// closing. A process that ended between the two has no clock then: its time stays.
func (c *clocks) moveTo(e sched.Edge, numbers []float64, got []sched.Reading) {
	for i, was := range c.asked {
		if e == sched.Closing {
			k := slices.IndexFunc(c.tasks, func(t task) bool { return t.id == was.id })
			if k < 0 {
				continue
			}
			was = c.tasks[k]
		}
		if got[i].Got >= 0 {
			numbers[0] += float64(got[i].Got)*1e-9 - was.last[0]
		}
	}
}
