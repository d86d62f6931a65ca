package report

import (
	"bytes"
	"testing"

	"github.com/tarelab/tare/record"
)

// limitRun is a service under CPU limits.
func limitRun() *record.Effects {
	e := frame()
	e.Experiment, e.Command = "cpu-limit", []string{"run", "cpu-limit"}
	l := load{name: "service", title: rpcTitle, rate: 400, half: 1.2, p50: 4e-3, cpu: 1e-3, rungs: []rung{
		{name: "host", title: record.Say("arm_alone")},
		{name: "request", title: record.Say("set_weight", "weight", 20), p50: 0.3, p99: 1, beside: true},
		{name: "limit-500m", title: record.Say("set_cpus", "cpus", 0.5), p50: 20, p95: 300, p99: 420, beside: true},
		{name: "burst-500m", title: record.Say(record.TitleSettings, "settings", []record.Said{record.Say("set_cpus", "cpus", 0.5), record.Say("set_burst", "cpus", 0.5)}), p50: 4, p95: 60, p99: 80, beside: true},
		{name: "twin", twin: true, p99: 0.2},
	}}
	l.into(e)
	w := l.result(checks(true)...)
	w.Primary = "p99"
	e.Workloads = []record.WorkloadResult{w}
	for i := range e.Arms {
		a := &e.Arms[i]
		a.Limit = &record.CPULimit{Used: record.Number(0.397), Throttled: record.Number(0)}
		switch a.Arm {
		case "request":
			a.Limit.Weight = 20
		case "limit-500m":
			a.Limit.CPUs, a.Limit.Throttled = 0.5, record.Number(0.314)
		case "burst-500m":
			a.Limit.CPUs, a.Limit.Burst, a.Limit.Throttled = 0.5, 0.5, record.Missing(record.Say("not_observed"))
		}
	}
	return e
}

// objectiveRun is three disks: one fast enough, one too slow, one undecided.
func objectiveRun() *record.Effects {
	e := frame()
	e.Experiment, e.Command = "etcd-disk", []string{"run", "etcd-disk"}
	l := load{name: "wal", title: commitTitle, rate: 900, half: 5, p50: 1e-3, cpu: 30e-6, rungs: []rung{
		{name: "host", title: record.Say("arm_alone")},
		{name: "hdd", title: record.Say("on_volume", "volume", "dir:/mnt/hdd"), p50: 700, beside: true},
		{name: "nfs", title: record.Say("on_volume", "volume", "nfs:server:/x"), p50: 200, beside: true},
		{name: "twin", twin: true},
	}}
	l.into(e)
	w := l.result(checks(true)...)
	w.Objective = &record.Objective{Metric: "p99", Most: 0.01}
	e.Workloads = []record.WorkloadResult{w}
	for i := range e.Arms {
		a := &e.Arms[i]
		a.Reached = &record.ArmLevel{Value: 2.6e-3, Low: 2.2e-3, High: 3.1e-3, Launches: 6}
		switch a.Arm {
		case "hdd":
			a.Reached = &record.ArmLevel{Value: 31e-3, Low: 22e-3, High: 43e-3, Launches: 6}
		case "nfs":
			a.Reached = &record.ArmLevel{Value: 9.1e-3, Low: 7.2e-3, High: 11.5e-3, Launches: 6}
		}
	}
	return e
}

// TestLimitTables prints the tables of CPU limits and of objectives.
func TestLimitTables(t *testing.T) {
	for name, e := range map[string]*record.Effects{"cpu-limit": limitRun(), "objective": objectiveRun()} {
		var b bytes.Buffer
		if err := english.Text(&b, answered(e), Options{Dir: "tare-result"}); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".short.txt", b.Bytes())
		b.Reset()
		if err := english.Markdown(&b, e, nil); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", b.Bytes())
	}
}
