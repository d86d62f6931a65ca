package report

import (
	"github.com/tarelab/tare/internal/analysis/answer"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Effects as a run makes them, written down as what each layer does to each
// metric (in percent) with its half-width.

// rung is one arm of a fixture: what it does to the metrics against the
// baseline, in percent.
type rung struct {
	name, below          string
	title                record.Said
	tput, p50, p95, p99  float64
	cpu                  float64
	beside, twin, remain bool
}

type load struct {
	name       string
	title      record.Said
	rate, half float64 // of the baseline; half-width in percent
	p50, cpu   float64 // of the baseline, seconds
	rungs      []rung
}

// armTitles are what a plan says of the arms (TestFixturesSayWhatPlansSay).
var armTitles = map[string]record.Said{
	"host": record.Say("arm_host"), "cgroup": record.Say("arm_cgroup"),
	"namespaces": record.Say("arm_namespaces"), "rootfs": record.Say("arm_rootfs"),
	"security": record.Say("arm_security"), "network": record.Say("arm_network"),
	"nat": record.Say("arm_nat"), "container": record.Say("arm_container"),
	"cpu-limit": record.Say("arm_cpu_limit"), "twin": record.Say("arm_again", "arm", "host"),
}

// What a plan says of the loads.
var (
	oltpTitle   = record.Say("load_oltp")
	commitTitle = record.Say("load_commit")
	rpcTitle    = record.Say("load_rpc")
)

func rungs(tput, p50, cpu map[string]float64, names ...string) []rung {
	var out []rung
	below := ""
	for _, n := range names {
		r := rung{name: n, title: armTitles[n], tput: tput[n], p50: p50[n], p95: 1.3 * p50[n], p99: 2.1 * p50[n], cpu: cpu[n]}
		switch n {
		case "cpu-limit":
			r.beside = true
		case "twin":
			r.twin = true
		default:
			r.below, below = below, n
			r.remain = n == "container"
		}
		out = append(out, r)
	}
	return out
}

func ratio(percent, half float64) *record.Ratio {
	return &record.Ratio{Ratio: 1 + percent/100, Low: 1 + (percent-half)/100, High: 1 + (percent+half)/100}
}

// judge is a crude rule for fixtures; the real one is in analysis.
func judge(r *record.Ratio, moreIsBetter bool, margin float64) record.Verdict {
	switch {
	case r.Low > 1-margin && r.High < 1+margin:
		return record.NoDifference
	case r.Low > 1 && moreIsBetter, r.High < 1 && !moreIsBetter:
		return record.Faster
	case r.Low > 1, r.High < 1:
		return record.Slower
	case r.Low > 1-margin && moreIsBetter, r.High < 1+margin && !moreIsBetter:
		return record.NoLoss
	}
	return record.Undecided
}

func (l load) effect(arm, base, metric string, percent, half float64) record.Effect {
	x := record.Effect{
		Workload: l.name, Metric: metric, Arm: arm, Baseline: base,
		Typical: ratio(percent, half), Total: ratio(percent-0.1, half*1.2), Own: ratio(percent, half*0.75),
		Exploratory: metric != "throughput", Blocks: 36, Generations: 6,
		P: new(0.004), Adjusted: new(0.02), Detectable: 1.43 * half / 100,
	}
	x.Verdict = judge(x.Typical, metric == "throughput", 0.01)
	if x.Verdict == record.Undecided {
		x.Needed = 34 * half * half
		x.P, x.Adjusted = new(0.31), new(0.62)
	}
	return x
}

func (l load) into(e *record.Effects) {
	byName := map[string]rung{}
	for _, r := range l.rungs {
		byName[r.name] = r
		e.Arms = append(e.Arms, l.arm(r))
		if r.name == "host" {
			continue
		}
		for _, m := range []struct {
			name       string
			does, half float64
		}{{"throughput", r.tput, l.half}, {"p50", r.p50, l.half * 1.4}, {"p95", r.p95, l.half * 2.2},
			{"p99", r.p99, l.half * 7}, {"cpu_per_op", r.cpu, l.half * 0.8}} {
			x := l.effect(r.name, "host", m.name, m.does, m.half)
			if r.twin {
				e.Twin = append(e.Twin, x)
				continue
			}
			e.Effects = append(e.Effects, x)
			if r.below != "" && m.name == "throughput" {
				step := l.effect(r.name, r.below, m.name, m.does-byName[r.below].tput, m.half*0.9)
				if r.remain {
					e.Remainder = append(e.Remainder, step)
				} else {
					e.Steps = append(e.Steps, step)
				}
			}
		}
	}
}

func (l load) arm(r rung) record.ArmResult {
	scale := func(base, percent float64) record.Value { return record.Number(base * (1 + percent/100)) }
	return record.ArmResult{
		Workload: l.name, Arm: r.name, Title: r.title, Windows: 36, Cut: 7,
		Values: map[string]record.Value{
			"throughput": scale(l.rate, r.tput), "p50": scale(l.p50, r.p50), "p95": scale(l.p50*1.9, r.p95),
			"p99": scale(l.p50*3.4, r.p99), "cpu_per_op": scale(l.cpu, r.cpu),
		},
	}
}

func (l load) result(checks ...record.Checks) record.WorkloadResult {
	return record.WorkloadResult{
		Name: l.name, Title: l.title, Primary: "throughput", Baseline: "host",
		Blocks: 36, Generations: 6, Seconds: 48, NoiseFloor: l.half / 100, WindowNoise: 2.2 * l.half / 100,
		Pilot: &record.Pilot{Workload: l.name, Window: 0.15, Discard: 0.05, Blocks: 12, Pause: "freezer v2",
			Why: record.InProse("neighbouring windows of 150 ms differ least for their length; 50 ms after a thaw every arm is as fast as later")},
		Checks: checks,
	}
}

func checks(transparent bool) []record.Checks {
	c := []record.Checks{
		{Kind: "transparency", OK: true, Known: true, Text: record.InProse("rotated runs as fast as never frozen"), Ratio: ratio(-0.2, 0.6), Detectable: 0.029},
		{Kind: "carry-over", OK: true, Known: true, Text: record.InProse("no arm slows the one after it")},
		{Kind: "halves", OK: true, Known: true, Text: record.InProse("first and second half of the windows agree")},
		{Kind: "order", OK: true, Known: true, Text: record.InProse("no trend within a block")},
	}
	if !transparent {
		c[0] = record.Checks{Kind: "transparency", Known: true, Text: record.InProse("the host runs slower rotated than never frozen"),
			Ratio: ratio(-2.4, 0.8), Remedy: record.InProse("--set window=1s, which the pilot would not choose by itself"), Subject: "host"}
		c[2] = record.Checks{Kind: "halves", Text: record.InProse("only 9 windows per arm"), Detectable: 0.124}
	}
	return c
}

var userNames = []string{"host", "twin"}

func plainHost() record.Host {
	return record.Host{Name: "db7", Kernel: "6.18.5", Arch: "amd64", CPUModel: "AMD EPYC 7B13", CPUs: 2, Memory: 8 << 30,
		Virtual: "KVM", Cgroup: "hybrid", Distro: "Debian 13", Mitigations: map[string]string{"spectre_v2": "Mitigation: Retpolines"}}
}

func frame() *record.Effects {
	return &record.Effects{
		Schema: record.EffectsSchema, Experiment: "quick", Command: []string{"run", "quick", "--budget", "3m", "--seed", "20261121"},
		Seed: 20261121, Started: "2026-11-21T02:11:04.120Z", Seconds: 187.4, Ended: "budget",
		Margin: 0.01, Precision: 0.01, Host: plainHost(),
		Self: record.Self{CPURatio: 0.0041, MaxRSS: 43 << 20, SwitchMedian: 0.0012, SwitchP99: 0.0093, Switches: 1288},
	}
}

func fixtures() map[string]*record.Effects {
	return map[string]*record.Effects{
		"rich": richRun(), "user": userRun(), "killed": killedRun(), "hopeless": hopelessRun(),
		"empty": emptyRun(), "zero": {}, "imported": importedRun(),
	}
}

// answered is the effects with their answer, as analysis leaves them.
func answered(e *record.Effects) *record.Effects {
	for _, list := range [][]record.Effect{e.Effects, e.Steps, e.Remainder, e.Options, e.Twin} {
		for i := range list {
			bounded(&list[i])
		}
	}
	for _, p := range e.Prices {
		for _, r := range p.Rows {
			for i := range r.Back {
				if x := r.Back[i].Effect; x != nil {
					bounded(x)
				}
			}
		}
	}
	e.Answer = answer.Of(e)
	return e
}

// bounded gives an effect of a fixture that has none its bound, as the analysis does: the ends of typical effect and total.
func bounded(x *record.Effect) {
	if x.Bound != nil || x.Typical == nil || x.Generations > 0 && x.Generations < 4 {
		return
	}
	b := *x.Typical
	if t := x.Total; t != nil && !x.Verdict.Better() {
		b.Low = min(b.Low, t.Low)
		if !x.Verdict.Worse() {
			b.High = max(b.High, t.High)
		}
	}
	x.Bound = &b
	loss, gain := 1-b.Low, b.High-1
	if catalogue.Better(nil, x.Metric) < 0 {
		loss, gain = gain, loss
		if x.Verdict == record.Slower && x.Metric == catalogue.CPUPerOp.Name {
			x.Verdict = record.MoreCPU
		}
	}
	switch {
	case x.Verdict == record.NoDifference:
		x.AtMost = max(loss, gain)
	case !x.Verdict.Better() && !(x.Verdict == record.Undecided && loss > 0.5):
		x.AtMost = max(loss, 0)
	}
}
