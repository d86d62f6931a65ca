package analysis

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tarelab/tare/internal/analysis/answer"
	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Statistics is the version of the rules by which this tare judges; it goes up where the same record
// gets other verdicts. Version 2: verdicts from four launches on, negligible holds for the total too,
// no loss is a verdict, and the twins of a run are tested together. Version 3: two metrics share the error (firstShare), and
// the question has an error of its own.
const Statistics = 3

// Analyse computes everything that a report shows.
func Analyse(r *record.Result) (*record.Effects, error) { return analyseWith(r, permutations) }

// SoFar is Analyse for the lines that a run keeps (Kept), without the permutation test and without what only
// whole lines have.
func SoFar(r *record.Result) (*record.Effects, error) { return analyseWith(r, 0) }

// analyseWith is Analyse with another number of shuffles (draws) in the permutation test; 0: no test.
func analyseWith(r *record.Result, draws int) (*record.Effects, error) {
	if len(r.Plan.Workloads) == 0 {
		return nil, fmt.Errorf("%s: the plan has no workload", r.Dir)
	}
	out := &record.Effects{
		Schema: record.EffectsSchema, Statistics: Statistics, Experiment: r.Plan.Experiment, Title: r.Plan.Title, Command: r.Plan.Command, Seed: r.Plan.Seed,
		Margin: r.Plan.Margin, Precision: r.Plan.Precision, Host: r.Manifest.Host, Calibrated: r.Manifest.Calibrated,
		Programs: r.Plan.Programs, Adopted: r.Plan.Adopted, Left: r.Manifest.Left, Ended: unfinished(r), Dropped: record.Dropped{Reasons: map[string]int{}, Said: map[string]string{}},
	}
	if !r.Manifest.Started.IsZero() {
		out.Started = r.Manifest.Started.UTC().Format(time.RFC3339)
	}
	tables, err := readRecord(out, r)
	if err != nil {
		return nil, err
	}
	if r.Manifest.Imported != nil {
		analyseImported(out, r)
		out.Answer = answer.Of(out)
		return out, nil
	}
	if out.Self != (record.Self{}) {
		out.Self.Pods = podSwitches(tables)
	}
	for _, t := range tables {
		out.Dropped.Blocks += t.damaged
		out.Dropped.Of += t.blocks
		for reason, n := range t.lost {
			out.Dropped.Windows += n
			out.Dropped.Reasons[reason] += n
		}
		maps.Copy(out.Dropped.Said, t.said)
		for _, n := range t.taken {
			out.Dropped.WindowsOf += n
		}
	}
	analyseLoads(out, tables, r, draws)
	out.Warnings = append(out.Warnings, adoptedWarnings(r.Plan.Adopted)...)
	out.Answer = answer.Of(out)
	return out, nil
}

// unfinished is the state of a run whose record has no End line: it still runs, or it was killed.
func unfinished(r *record.Result) string {
	if r.Running {
		return record.EndedRunning
	}
	return record.EndedKilled
}

// readRecord reads the record once. It fills in the fields of out that describe the whole run
// (warnings, end, duration) and returns the windows of each workload.
func readRecord(out *record.Effects, r *record.Result) ([]*table, error) {
	var tables []*table
	var windows []*points
	for _, load := range r.Plan.Workloads {
		t := newTable(load, r.Manifest.Host.CPUs)
		tables, windows = append(tables, t), append(windows, &points{table: newTable(load, 0), counted: t, by: map[string][]record.Point{}})
	}
	var first, last time.Time
	var failed record.End
	err := r.Each(func(l *record.Line) {
		if first.IsZero() {
			first = l.Time
		}
		if l.Run != nil && !last.IsZero() { // a run that continues the record: the time between the two is not the runs'
			out.Seconds += last.Sub(first).Seconds()
			first = l.Time
		}
		last = l.Time
		switch {
		case l.Warning != nil:
			out.Warnings = append(out.Warnings, *l.Warning)
		case l.End != nil:
			out.Ended, out.Self, out.Room, failed = l.End.Reason, l.End.Self, l.End.Room, *l.End
		case l.Run != nil:
			out.Ended, failed = unfinished(r), record.End{} // until the End line of this run
		}
		for i, t := range tables {
			t.line(l)
			windows[i].line(l)
		}
	})
	if err != nil {
		return nil, err
	}
	if failed.Detail != "" {
		out.Caveats = append(out.Caveats, caution{record.InProse(failed.Detail), record.InProse(failed.Remedy)}.of("", ""))
	}
	for i, t := range tables {
		out.Series = append(out.Series, windows[i].series()...)
		t.finish()
	}
	out.Seconds += last.Sub(first).Seconds()
	if r.Torn && out.Ended != record.EndedRunning {
		out.Warnings = append(out.Warnings, tornRecord().of("", ""))
	}
	return tables, nil
}

// analyseLoads analyses the loads concurrently and joins their results in the order of
// the plan.
func analyseLoads(out *record.Effects, tables []*table, r *record.Result, draws int) {
	parts, twins := make([]*record.Effects, len(tables)), 0
	for _, t := range tables {
		if t.launchesOf(t.twin()) > 0 {
			twins++
		}
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0)) // bounds memory: further goroutines would only wait for a CPU
	for i, t := range tables {
		parts[i] = &record.Effects{Margin: out.Margin, Precision: out.Precision, Host: out.Host, Ended: out.Ended}
		t.twins = twins
		slots <- struct{}{}
		wait.Go(func() {
			analyseLoad(parts[i], t, r, draws)
			<-slots
		})
	}
	wait.Wait()
	for _, p := range parts {
		out.Workloads = append(out.Workloads, p.Workloads...)
		out.Arms = append(out.Arms, p.Arms...)
		out.Effects = append(out.Effects, p.Effects...)
		out.Steps = append(out.Steps, p.Steps...)
		out.Remainder = append(out.Remainder, p.Remainder...)
		out.Options = append(out.Options, p.Options...)
		out.Twin = append(out.Twin, p.Twin...)
		out.Kernel = append(out.Kernel, p.Kernel...)
		out.Prices = append(out.Prices, p.Prices...)
		out.Modes = append(out.Modes, p.Modes...)
		out.Warnings = append(out.Warnings, p.Warnings...)
	}
}

// analyseLoad analyses one load into out.
func analyseLoad(out *record.Effects, t *table, r *record.Result, draws int) {
	pools := t.pools()
	t.addArms(out, pools, r.Manifest)
	out.Kernel = append(out.Kernel, kernel(t, r.Manifest.Probes)...)
	all, found := t.fitAll(pools), modes(t, out.Margin)
	judged, cpuTime := t.judgedHere()
	base := compared{table: t, margin: out.Margin, losses: t.losses(), unequal: r.Manifest.Unequal, modes: found}
	shares, order := base.shares(judged, all)
	for _, name := range t.metrics() {
		f := all[name]
		if f == nil {
			continue
		}
		c := base
		c.fits, c.share = f, shares[name]
		list, twin := c.effects()
		out.Effects = append(out.Effects, list...)
		out.Twin = append(out.Twin, twin...)
		steps, remainder := c.steps()
		out.Steps = append(out.Steps, steps...)
		out.Remainder = append(out.Remainder, remainder...)
		out.Options = append(out.Options, c.options()...)
	}
	t.parts(out.Effects, pools)
	weigh(out)
	out.Modes = append(out.Modes, found...)
	t.addLaunches(out.Effects, all, found)
	out.Prices = append(out.Prices, prices(base, all, out.Effects)...)
	w := t.workloadResult(out, all, shares, cpuTime)
	w.Judged, w.NotAsked, w.StealSlope, w.Objective = order, t.unasked, stealSlope(all), t.load.Objective
	if primary := all[t.load.Primary]; primary != nil {
		w.Question = primary.question
	}
	w.FalsePositives = t.permutationTest(all[t.load.Primary], shares[t.load.Primary].all, draws)
	out.Workloads = append(out.Workloads, w)
	out.Warnings = append(out.Warnings, unequalWarnings(r.Manifest.Unequal, t.load.Name)...)
	out.Warnings = append(out.Warnings, warnings(t, all[t.load.Primary], out)...)
}

// weigh gives the levels of the arms the weights of their effects: each is the baseline's level times the arm's typical
// effect. The mean over all windows of an arm has others, and may be above the baseline where the effect is a loss.
func weigh(out *record.Effects) {
	for _, x := range slices.Concat(out.Effects, out.Twin) {
		var level, base map[string]record.Value
		for _, a := range out.Arms {
			switch a.Arm {
			case x.Arm:
				level = a.Values
			case x.Baseline:
				base = a.Values
			}
		}
		of, known := base[x.Metric].Get()
		if _, too := level[x.Metric].Get(); known && too && x.Typical != nil {
			level[x.Metric] = record.Number(of * x.Typical.Ratio)
		}
	}
}

// judgedHere returns the metrics that get a verdict on this host, and the check of CPU time
// against steal. If that check fails, the kernel counts stolen time as CPU time of the arm, and
// CPU time per operation gets no verdict.
func (t *table) judgedHere() (judged []string, cpuTime record.Checks) {
	cpuTime = t.cpuTimeCheck()
	for _, name := range t.judged() {
		if name != metric.CPUPerOp.Name || cpuTime.OK {
			judged = append(judged, name)
		}
	}
	return judged, cpuTime
}

// addArms adds the values of each arm to out, in the units of the metrics.
func (t *table) addArms(out *record.Effects, pools []*pooled, m record.Manifest) {
	for i, name := range t.arms {
		ws := t.windowsOf(name)
		a := record.ArmResult{
			Workload: t.load.Name, Arm: name, Title: t.arm(name).Title, RunsAs: t.arm(name).RunsAs, Windows: len(ws),
			Values: t.levels(name, ws, pools[i]), Settings: m.Settings[t.load.Name+"/"+name],
		}
		for _, w := range ws {
			a.Errors += w.errors
			a.Cut += w.cut
			if w.ops == 0 {
				a.Stalled++
			}
		}
		a.Reached, a.Limit = t.reached(name), t.cpuLimit(name)
		out.Arms = append(out.Arms, a)
	}
}

// titleOf is the title of a load; empty if it would repeat the name.
func titleOf(load record.Workload) record.Said {
	if load.Title.IsZero() && load.Kind != load.Name {
		return record.InProse(load.Kind) // a record of an older version
	}
	return load.Title
}

// workloadResult describes the workload as a whole: counts, noise, forecast and checks. all has
// the fits by metric.
func (t *table) workloadResult(out *record.Effects, all map[string]*fits, shares map[string]share, cpuTime record.Checks) record.WorkloadResult {
	w := record.WorkloadResult{
		Name: t.load.Name, Title: titleOf(t.load), Primary: t.load.Primary, Baseline: t.load.Baseline, Values: t.load.Values,
		Blocks: len(t.rows), Generations: t.launches(), Seconds: t.seconds, Pilot: t.pilot,
	}
	for _, n := range t.taken {
		w.WindowsOf += n
	}
	for x := range t.all() {
		w.Windows++
		w.Counted += x.seconds
	}
	primary := all[t.load.Primary]
	if primary != nil {
		if twin := t.twin(); twin != "" {
			if d := t.blocksOf(primary, twin); len(d) > 1 {
				e := stat.Mean(d)
				w.WindowNoise = finite(e.SE * math.Sqrt(float64(e.N))) // standard deviation of one block
			}
		}
		w.Forecast = t.foretell(all, shares)
		if own := t.twinInterval(primary); own.Half() <= widest {
			w.NoiseFloor = record.Ratio{Low: math.Exp(own.Lo), High: math.Exp(own.Hi)}.Most()
		}
	}
	w.Checks = t.allChecks(primary, out.Margin)
	if cpuTime.Kind != "" {
		w.Checks = append(w.Checks, cpuTime)
	}
	return w
}

// finite replaces NaN and infinity by 0, for fields in which 0 means unknown.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
