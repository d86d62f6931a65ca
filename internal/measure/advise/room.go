package advise

import (
	"slices"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// pace is how fast a load was measured in the result with its loss.
type pace struct {
	launch time.Duration // of the processes of one arm, or of several that share them
	window time.Duration // from the beginning of one window to that of the next one
}

// paceOf is the pace of a load in a result; zero where it has no launch.
func paceOf(r *record.Result, load record.Workload) (pace, error) {
	var launches, windows, own float64
	var seconds, between float64
	for _, a := range load.Arms {
		if a.Shares == "" {
			own++
		}
	}
	err := r.Each(func(l *record.Line) {
		if g := l.Generation; g != nil && g.Workload == load.Name {
			launches, seconds = launches+own, seconds+g.Seconds
		}
		if b := l.Block; b != nil && b.Workload == load.Name && len(b.Windows) > 1 {
			windows, between = windows+float64(len(b.Windows)-1), between+b.Windows[len(b.Windows)-1].Start-b.Windows[0].Start
		}
	})
	mean := func(sum, n float64) time.Duration {
		if n == 0 {
			return 0
		}
		return time.Duration(sum / n * float64(time.Second))
	}
	return pace{mean(seconds, launches), mean(between, windows)}, err
}

// The least of a launch: two blocks, or half of its own time, and a fifth more for what is slower than before.
const (
	leastBlocks = 2
	slower      = 1.2
)

// deciding is the least time in which all arms of a plan have the launches of a verdict; false: the experiment fixes
// fewer.
func (c pace) deciding(p *plan.Plan) (time.Duration, bool) {
	quiet, ok := p.Deciding()
	all := time.Second
	for _, l := range p.Loads {
		launch := time.Duration(len(plan.Instances(l.Arms))) * c.launch
		all += metric.LeastLaunches * (launch + max(leastBlocks*time.Duration(len(l.Arms))*c.window, launch/2))
	}
	return max(quiet, time.Duration(slower*float64(all))), ok
}

// supported returns the candidates that this host can have and the time has room for. The others are
// skipped, with the reason.
func (a *attempt) supported() []int {
	var tried []int
	for i := range a.candidates {
		c := &a.candidates[i]
		if c.Skipped != nil {
			continue
		}
		p, err := a.trial(a.loss.Workload, time.Minute, coarse, a.host, a.base, a.lost, c.Spec)
		switch {
		case err != nil:
			c.Skipped = &record.Left{Workload: a.loss.Workload, Arm: c.Arm, Reason: record.InProse(err.Error()), Remedy: record.InProse(hint.Of(err))}
		case len(p.Left) > 0:
			c.Skipped = &p.Left[0]
		default:
			tried = append(tried, i)
		}
	}
	for len(tried) > 1 && (len(tried) > mostCandidates || !a.hasRoom(tried)) {
		n := a.spare(tried)
		c := &a.candidates[tried[n]]
		c.Skipped = &record.Left{Workload: a.loss.Workload, Arm: c.Arm, Reason: record.Say("no_room_for_more"), Remedy: record.Say("longer_budget")}
		tried = slices.Delete(tried, n, n+1)
	}
	return tried
}

// spare is the place of the candidate for which there is no room: the last one whose causes others before it are
// for too, so that each cause keeps a remedy; else the last one.
func (a *attempt) spare(tried []int) int {
	for n, i := range slices.Backward(tried) {
		others := map[record.LossCause]bool{}
		for _, before := range tried[:n] {
			for _, cause := range a.candidates[before].For {
				others[cause] = true
			}
		}
		if !slices.ContainsFunc(a.candidates[i].For, func(c record.LossCause) bool { return !others[c] }) {
			return n
		}
	}
	return len(tried) - 1
}

// hasRoom says whether verdicts on these candidates are possible before the proof of one of them.
func (a *attempt) hasRoom(tried []int) bool {
	least, ok := a.least(record.StageCandidates, tried...)
	return !ok || least <= a.beforeProof(tried[0])
}

// least is the least time in which a stage decides; false: it cannot.
func (a *attempt) least(kind record.StageKind, candidates ...int) (time.Duration, bool) {
	p, err := a.build(kind, time.Minute, coarse, candidates...)
	if err != nil {
		return 0, false
	}
	return a.pace.deciding(p)
}

// beforeProof is the time that is left for other stages before the proof of a candidate.
func (a *attempt) beforeProof(candidate int) time.Duration {
	least, _ := a.least(record.StageProof, candidate)
	return max(a.part(1)-least, 0)
}

// part is a part of the time that is left for this loss.
func (a *attempt) part(of float64) time.Duration {
	return time.Duration(of * float64(a.until(a.end)))
}

// build plans a stage with candidates. In the proof every arm has launches of its own: a remedy that takes away the
// only difference makes an arm like the baseline, and must not run in its processes.
func (a *attempt) build(kind record.StageKind, budget time.Duration, precision float64, candidates ...int) (*plan.Plan, error) {
	p, err := a.trial(a.loss.Workload, budget, precision, a.host, a.arms(candidates...)...)
	if err == nil && kind == record.StageProof {
		p.ShareAs(record.Plan{})
	}
	return p, err
}

// planned is the plan of a stage in the time in which a verdict is possible, if that is left.
func (a *attempt) planned(kind record.StageKind, budget time.Duration, precision float64, candidates ...int) (*plan.Plan, error) {
	p, err := a.build(kind, budget, precision, candidates...)
	if err != nil {
		return nil, err
	}
	left := a.part(1)
	if kind != record.StageProof {
		left = a.beforeProof(candidates[0])
	}
	least, ok := a.pace.deciding(p)
	if least = min(least, left); !ok || least <= budget {
		return p, nil
	}
	return a.build(kind, least, precision, candidates...)
}
