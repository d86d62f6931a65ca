package report

import (
	"math"

	"github.com/tarelab/tare/record"
)

// seriesOf makes the windows that could have led to the arms of
// a fixture: three launches of twelve blocks, the container of one workload in
// two modes, one dropped block.
func seriesOf(e *record.Effects) (all []record.Series) {
	at := 0.0
	for _, w := range e.Workloads {
		for i, a := range e.Arms {
			rate, ok := a.Values["throughput"].Get()
			if a.Workload != w.Name || !ok {
				continue
			}
			s := record.Series{Workload: w.Name, Arm: a.Arm, Metric: "throughput", Unit: "1/s"}
			for n := range w.Blocks {
				x := rate * (1 + 0.02*math.Sin(float64(7*n+3*i)) + 0.015*math.Cos(float64(5*n*n+i)))
				if a.Arm == "container" && w.Name == "oltp-read-write" && math.Sin(float64(n)) > 0.1 {
					x *= 0.86
				}
				p := record.Point{At: at + float64(n)*1.4 + 0.16*float64(i%10), Value: x, Generation: n / 12, Block: n % 12}
				if n == 7 {
					p.Dropped = record.DropSilent
				}
				s.Points = append(s.Points, p)
			}
			all = append(all, s)
		}
		at += 55
	}
	return all
}

// sourceOf gives the effects of a fixture their windows, and returns what a page shows beside them.
func sourceOf(e *record.Effects) Source {
	for i := range e.Arms {
		a := &e.Arms[i]
		a.Settings = []record.Setting{
			{Name: "freezer", Got: "freezer v2"}, {Name: "root.type", Got: "ext4"},
			{Name: "cpu.max", Wanted: "max 100000", Got: "max 100000"}}
		if a.Arm == "container" || a.Arm == "rootfs" {
			a.Settings[1].Got = "overlay"
		}
		if a.Arm == "cpu-limit" {
			a.Settings[2] = record.Setting{Name: "cpu.max", Wanted: "200000 100000", Got: "199000 100000"}
		}
	}
	e.Series = seriesOf(e)
	return Source{
		Plan:     record.Plan{Source: "budget: 3m\nmargin: 1%\nworkloads:\n  commit:\n    kind: commit\n"},
		Manifest: record.Manifest{Tare: "v0.1.0", User: "root", Versions: map[string]string{"runc": "runc version 1.1.15"}},
	}
}

// pricedRun is a workload beside a neighbour under mechanisms of isolation.
func pricedRun() *record.Effects {
	e := frame()
	e.Experiment = "colocated"
	names := []string{"alone", "beside", "weight", "max", "cpuset", "idle"}
	does := []float64{0, -48, -21, -12, -4, -9}
	l := load{name: "mysql", title: record.InProse("sysbench OLTP, MariaDB"), rate: 2210, half: 1.6, p50: 452e-6, cpu: 398e-6}
	for i, n := range names {
		l.rungs = append(l.rungs, rung{name: n, tput: does[i], p50: -1.4 * does[i], p95: -2 * does[i], p99: -2.6 * does[i], beside: true})
	}
	for i, r := range l.rungs {
		e.Arms = append(e.Arms, l.arm(r))
		if i > 0 {
			for m, x := range map[string]float64{"throughput": r.tput, "p99": r.p99} {
				f := l.effect(r.name, "alone", m, x, 2.1)
				e.Effects = append(e.Effects, f)
			}
		}
	}
	w := l.result(checks(true)...)
	w.Baseline = "alone"
	e.Workloads = []record.WorkloadResult{w}
	p := record.Price{Workload: "mysql", Alone: "alone", Unprotected: "beside", Primary: "throughput", Metrics: []string{"throughput", "p99"},
		Neighbour: record.Neighbour{Name: "batch", Title: record.InProse("stress-ng"), Kind: "stress-ng", Work: record.NeighbourOps, Unit: "1"},
		Explained: []record.Explanation{{Arm: "max", Against: "weight", Text: record.InProse("max gives less than it takes: the neighbour was throttled in 61 % of the periods")}}}
	shares := []float64{0, 0.56, 0.75, 0.92, 0.81}
	kept := []float64{1, 0.83, 0.42, 0.51, 0.47}
	for i, n := range names[1:] {
		r := record.PriceRow{Arm: n, Work: record.Number(812 * kept[i]),
			Back: []record.Regained{{Metric: "throughput", Effect: &record.Effect{Typical: ratio(does[i+1], 2.1)}}, {Metric: "p99", Reason: record.InProse("no loss was shown")}}}
		if i > 0 {
			r.Isolation = []string{n}
			r.Back[0].Share = &record.Share{Share: shares[i], Low: shares[i] - 0.11, High: shares[i] + 0.12}
			r.Kept = &record.Ratio{Ratio: kept[i], Low: kept[i] - 0.03, High: kept[i] + 0.04}
		}
		p.Rows = append(p.Rows, r)
	}
	e.Prices = []record.Price{p}
	return e
}

// podsRun is a server in pods of three classes, alone and beside a pod that works.
func podsRun() *record.Effects {
	e := frame()
	e.Experiment = "mysql-kubernetes"
	l := load{name: "read-write", title: record.InProse("sysbench OLTP, MariaDB"), rate: 1350, half: 6, p50: 2e-3, cpu: 1.2e-3, rungs: []rung{{name: "host"},
		{name: "besteffort", title: record.InProse("in a BestEffort pod"), tput: -17.7, p99: 21, cpu: 12, beside: true},
		{name: "guaranteed", title: record.InProse("in a Guaranteed pod"), tput: -6.9, p99: 8, cpu: 9, beside: true},
		{name: "besteffort-busy", title: record.InProse("in a BestEffort pod, beside batch"), tput: -56.8, p99: 310, cpu: 15, beside: true},
		{name: "guaranteed-busy", title: record.InProse("in a Guaranteed pod, beside batch"), tput: -10.1, p99: 12, cpu: 10, beside: true},
		{name: "twin", title: record.Say("arm_again", "arm", "host"), tput: 1, twin: true}}}
	l.into(e)
	e.Workloads = []record.WorkloadResult{l.result(checks(true)...)}
	p := record.Price{Workload: "read-write", Alone: "host", Unprotected: "besteffort-busy", Primary: "throughput", Metrics: []string{"throughput"},
		Neighbour: record.Neighbour{Name: "batch", Title: record.InProse("stress-ng"), Kind: "stress-ng", Work: record.NeighbourOps, Unit: "1", Environment: "burstable"}}
	for _, r := range []struct {
		class string
		does  float64
	}{{"besteffort", -47.5}, {"guaranteed", -3.4}} {
		p.Rows = append(p.Rows, record.PriceRow{Arm: r.class + "-busy", Alone: r.class, Environment: r.class, Work: record.Number(812),
			Back: []record.Regained{{Metric: "throughput", Effect: &record.Effect{Typical: ratio(r.does, 5.1)}}}, Kept: &record.Ratio{Ratio: 1, Low: 0.9, High: 1.1}})
	}
	e.Prices = []record.Price{p}
	return e
}
