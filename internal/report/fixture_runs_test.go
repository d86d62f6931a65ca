package report

import (
	"fmt"
	"math"

	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// richRun is a run as root of four workloads over the whole ladder.
func richRun() *record.Effects {
	e := frame()
	short := []string{"host", "cgroup", "namespaces", "rootfs", "security", "container", "cpu-limit", "twin"}
	long := []string{"host", "cgroup", "namespaces", "rootfs", "security", "network", "nat", "container", "cpu-limit", "twin"}
	loads := []load{
		{"oltp-read-only", oltpTitle, 12340, 0.7, 81e-6, 74e-6, rungs(
			map[string]float64{"cgroup": -0.3, "namespaces": -0.2, "rootfs": -2.3, "security": -2.9, "container": -3.1, "cpu-limit": -4.4, "twin": 0.1},
			map[string]float64{"cgroup": 0.2, "namespaces": 0.3, "rootfs": 2.1, "security": 2.8, "container": 3.3, "cpu-limit": 3.9, "twin": -0.2},
			map[string]float64{"cgroup": 0.1, "namespaces": 0.2, "rootfs": 2.4, "security": 3.1, "container": 3.0, "cpu-limit": 0.8, "twin": 0.1}, short...)},
		{"oltp-read-write", oltpTitle, 2210, 1.8, 452e-6, 398e-6, rungs(
			map[string]float64{"cgroup": 0.4, "namespaces": -0.9, "rootfs": -1.2, "security": -1.0, "container": -0.8, "cpu-limit": -2.2, "twin": 0.6},
			map[string]float64{"cgroup": -0.2, "namespaces": 0.8, "rootfs": 1.2, "security": 0.9, "container": 1.6, "cpu-limit": 2.3, "twin": -0.5},
			map[string]float64{"rootfs": 0.9, "security": 1.6, "container": 1.7, "cpu-limit": 0.3, "twin": 0.2}, short...)},
		{"commit", commitTitle, 812, 0.45, 1.19e-3, 104e-6, rungs(
			map[string]float64{"cgroup": -0.1, "namespaces": 0.1, "rootfs": -0.3, "security": -0.4, "container": -0.3, "cpu-limit": -0.2, "twin": 0.1},
			map[string]float64{"cgroup": 0.1, "rootfs": 0.3, "security": 0.4, "container": 0.3, "cpu-limit": 0.2},
			map[string]float64{"cgroup": 0.1, "namespaces": 0.1, "rootfs": 1.3, "security": 4.2, "container": 4.0, "cpu-limit": 0.5}, short...)},
		{"rpc", rpcTitle, 48210, 0.9, 38e-6, 21e-6, rungs(
			map[string]float64{"cgroup": -0.4, "namespaces": -0.3, "rootfs": -0.5, "security": -2.2, "network": -11.6, "nat": -13.9, "container": -14.3, "cpu-limit": -0.6, "twin": -0.2},
			map[string]float64{"cgroup": 0.4, "namespaces": 0.2, "rootfs": 0.4, "security": 2.3, "network": 12.9, "nat": 15.8, "container": 16.2, "cpu-limit": 0.9, "twin": 0.3},
			map[string]float64{"cgroup": 0.2, "namespaces": 0.2, "rootfs": 0.3, "security": 2.0, "network": 9.9, "nat": 12.1, "container": 12.2, "cpu-limit": 0.4}, long...)},
	}
	for i, l := range loads {
		l.into(e)
		w := l.result(checks(i != 1)...)
		w.FalsePositives = &record.Redrawn{Rate: 0.041 + 0.004*float64(i), Any: 0.038, Draws: 500,
			Launches: &record.Redrawn{Rate: 0.052 - 0.003*float64(i), Any: 0.047, Draws: 500}}
		w.Question = "container"
		e.Workloads = append(e.Workloads, w)
		e.Kernel = append(e.Kernel, kernelOf(l)...)
	}
	for i, x := range e.Effects {
		if x.Workload == "oltp-read-only" && x.Arm == "cpu-limit" && x.Metric == "throughput" {
			e.Effects[i].Typical, e.Effects[i].Total = ratio(-1.4, 0.7), ratio(-4.6, 1.1)
			e.Effects[i].Intermittent, e.Effects[i].Slow = true, 0.083
		}
	}
	e.Dropped = record.Dropped{Blocks: 5, Of: 149, Reasons: map[string]int{record.DropSilent: 4, record.DropFreeze: 1}}
	for _, w := range []string{"oltp-read-only", "oltp-read-write", "commit", "rpc"} {
		e.Left = append(e.Left, record.Left{Workload: w, Arm: "container-crun",
			Reason: record.InProse("crun is not installed"), Remedy: record.InProse("apt install crun, or leave it: runc was measured")})
	}
	e.Warnings = []record.Warning{
		{Text: record.InProse("the CPU frequency governor could not be read, as in most virtual machines"), Remedy: record.InProse("run on the metal where the clock matters")},
		{Workload: "commit", Text: record.InProse("the disk confirms fdatasync in 90 µs, faster than a flash write: its cache may be volatile"),
			Remedy: record.InProse("check the write cache of the volume before trusting any durable figure")},
	}
	return e
}

// kernelOf is what the probes saw of a load, with rows of every kind.
func kernelOf(l load) []record.Kernel {
	row := func(metric, unit, per string, value func(i int, r rung) record.Value) record.Kernel {
		k := record.Kernel{Workload: l.name, Metric: metric, Unit: unit, Per: per, Values: map[string]record.Value{}}
		for i, r := range l.rungs {
			k.Values[r.name] = value(i, r)
		}
		return k
	}
	num := record.Number
	wobble := func(i int) float64 { return 1 + 0.03*math.Sin(float64(7*i)) }
	plainGroup := func(r rung) bool { return r.name == "host" || r.twin }
	return []record.Kernel{
		row("cpu.used", "s", "operation", func(i int, r rung) record.Value { return num(l.cpu * (1 + r.cpu/100)) }),
		row("cpu.throttled", "s", "second", func(i int, r rung) record.Value {
			if plainGroup(r) {
				return record.Missing(record.InProse("the arm has no group of the cpu controller"))
			}
			if r.beside {
				return num(0.0123)
			}
			return num(0)
		}),
		row("runqueue.wait", "s", "second", func(i int, r rung) record.Value { return num(0.041 * wobble(i) * (1 - r.tput/8)) }),
		row("switches.voluntary", "1", "operation", func(i int, r rung) record.Value { return num(2.02 * wobble(i)) }),
		row("switches.forced", "1", "second", func(i int, r rung) record.Value { return num(212 * wobble(i) * (1 - r.tput/30)) }),
		row("pressure.cpu", "s", "second", func(i int, r rung) record.Value { return num(0.12 * wobble(i)) }),
		row("pressure.io", "s", "second", func(i int, r rung) record.Value {
			if l.name == "commit" {
				return num(0.61 * wobble(i))
			}
			return num(0)
		}),
		row("io.written", "B", "second", func(i int, r rung) record.Value {
			if l.name != "commit" {
				return num(0)
			}
			return num(3.4e6 * wobble(i))
		}),
		row("memory.refault", "1", "second", func(int, rung) record.Value { return num(0) }),
		row("memory.reclaim", "1", "second", func(int, rung) record.Value { return num(0) }),
		row("net.softirq", "1", "second", func(i int, r rung) record.Value {
			if l.name != "rpc" {
				return num(0)
			}
			if r.tput < -10 {
				return num(96300 * wobble(i))
			}
			return num(0)
		}),
		row("net.dropped", "1", "second", func(int, rung) record.Value { return num(0) }),
		row("seccomp.mode", "1", "", func(i int, r rung) record.Value {
			if r.name == "security" || r.name == "container" || r.name == "network" || r.name == "nat" {
				return num(2)
			}
			return num(0)
		}),
		row("host.steal", "s", "second", func(i int, r rung) record.Value { return num(0.0031 * wobble(3*i)) }),
		row("cpu.cycles", "1", "operation", func(int, rung) record.Value {
			return record.Missing(record.InProse("hardware counters are not available in this virtual machine"))
		}),
	}
}

// userRun is a run as an ordinary user of whom the kernel allows nothing.
func userRun() *record.Effects {
	e := frame()
	e.Command, e.Ended, e.Seconds = []string{"tare", "run", "--workload", "oltp-read-only"}, "precision", 62
	l := load{"oltp-read-only", oltpTitle, 9120, 0.8, 109e-6, 97e-6,
		rungs(map[string]float64{"twin": -0.3}, map[string]float64{"twin": 0.4}, nil, userNames...)}
	l.into(e)
	r := l.result(checks(true)...)
	r.Generations, r.Pilot.Pause = 1, "load"
	e.Workloads = []record.WorkloadResult{r}
	oneLaunch(e)
	e.Kernel = kernelOf(l)
	e.Dropped = record.Dropped{Of: 36}
	for _, arm := range []string{"cgroup", "namespaces", "rootfs", "security", "container", "cpu-limit"} {
		e.Left = append(e.Left, record.Left{Workload: "oltp-read-only", Arm: arm,
			Reason: record.InProse("this user may not make control groups or user namespaces (kernel.unprivileged_userns_clone is 0)"),
			Remedy: record.InProse("run as root: sudo tare run")})
	}
	e.Warnings = []record.Warning{{Text: record.InProse("arms are paused by their load, not frozen: what they do between operations is not stopped"),
		Remedy: record.InProse("run as root, or in a delegated cgroup: systemd-run --user --scope -p Delegate=yes tare run")}}
	return e
}

// killedRun is what a SIGKILL left of a run: few blocks, no end.
func killedRun() *record.Effects {
	e := frame()
	e.Ended, e.Seconds, e.Self = "killed", 31.2, record.Self{}
	l := load{"oltp-read-only", oltpTitle, 12340, 3.9, 81e-6, 74e-6, rungs(
		map[string]float64{"cgroup": -0.8, "namespaces": 0.9, "rootfs": -6.4, "security": -4.1, "container": -5.2, "twin": -1.1},
		map[string]float64{"rootfs": 3.1, "container": 4.4}, nil,
		"host", "cgroup", "namespaces", "rootfs", "security", "container", "twin")}
	l.into(e)
	r := l.result(checks(false)...)
	r.Blocks, r.Generations, r.Seconds = 7, 1, 11
	oneLaunch(e)
	e.Workloads = []record.WorkloadResult{r, {Name: "commit", Title: commitTitle, Primary: "throughput", Baseline: "host"}}
	e.Dropped = record.Dropped{Blocks: 1, Of: 8, Reasons: map[string]int{record.DropAbandoned: 1}}
	return e
}

// hopelessRun has nothing that holds: invalid, undecided, not known.
func hopelessRun() *record.Effects {
	e := frame()
	l := load{"rpc", rpcTitle, 20100, 14, 92e-6, 44e-6, rungs(
		map[string]float64{"cgroup": -5, "namespaces": 3, "rootfs": -8, "security": 2, "container": -12, "cpu-limit": 4, "twin": -7},
		map[string]float64{"cgroup": 5, "container": 40}, map[string]float64{"container": 11},
		"host", "cgroup", "namespaces", "rootfs", "security", "container", "cpu-limit", "twin")}
	l.into(e)
	for i := range e.Effects {
		x := &e.Effects[i]
		switch x.Arm {
		case "container", "cpu-limit":
			x.Verdict, x.Reason, x.Needed = record.Invalid, record.InProse("21 % of the blocks were dropped, more than 10 %"), 0
		case "security":
			x.Verdict, x.Typical, x.Total, x.Own = record.Undecided, nil, nil, nil
			x.Reason = record.InProse("no window of this arm counts: the load ended in every launch")
		}
	}
	twin := &e.Twin[0]
	twin.Verdict, twin.Typical = record.Slower, ratio(-7, 5)
	r := l.result(checks(false)...)
	r.Checks[1] = record.Checks{Kind: "carry-over", Known: true, Subject: "rootfs", Text: record.InProse("the window after it is slower"),
		Ratio: ratio(-4.2, 1.6), Remedy: record.InProse("--set discard=1s")}
	e.Workloads = []record.WorkloadResult{r}
	for i := range e.Arms {
		if e.Arms[i].Arm == "security" {
			e.Arms[i].Values, e.Arms[i].Errors = nil, 412
		}
	}
	e.Dropped = record.Dropped{Blocks: 31, Of: 148, Reasons: map[string]int{
		record.DropSilent: 22, record.DropLong: 6, record.DropDied: 3}}
	return e
}

// emptyRun ended before anything was measured.
func emptyRun() *record.Effects {
	e := frame()
	e.Ended, e.Seconds, e.Self = "error", 2.1, record.Self{}
	e.Left = []record.Left{{Arm: "host", Reason: record.InProse("the data set could not be prepared: no space left on device"),
		Remedy: record.InProse(fmt.Sprintf("free %s in the scratch directory, or name another with --scratch", quantity.Bytes(512<<20)))}}
	return e
}
