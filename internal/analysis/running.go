package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tarelab/tare/internal/stat"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// Progress is where a workload stands between two launches.
type Progress struct {
	// Done says that every interval that is judged is as narrow as asked for, or a
	// tenth of its effect.
	Done bool
	// Opaque says that the transparency check failed, Why how.
	Opaque bool
	Why    string
	Arms   []Standing
}

// Standing is an arm's effect on the primary metric so far.
type Standing struct {
	Arm   string
	Ratio float64 // arm over control
	Half  float64 // half-width of the simultaneous interval, in logs; +Inf when unknown
}

const (
	// leastLaunches is how many launches a run has before it stops on width: with
	// two, what launches do is hardly seen.
	leastLaunches = 3
	// leastBlocks is the same for blocks after a single launch.
	leastBlocks = 24
	// relative is the part of an effect that is narrow enough for its half-width.
	relative = 0.1
)

// Kept is what Running needs of a line. A window in the record is some kilobytes,
// most of them probes; a run of many short ones would grow by all of them.
func Kept(load record.Workload, line record.Line) record.Line {
	if line.Block == nil {
		return line
	}
	judged := metric.Judged(load, true)
	b := *line.Block
	b.Windows = make([]record.Window, len(line.Block.Windows))
	for i := range b.Windows {
		w := &line.Block.Windows[i]
		k := record.Window{Arm: w.Arm, Dropped: w.Dropped, Start: w.Start, Seconds: w.Seconds, Ops: w.Ops}
		if x, ok := w.Probes[CPUMetric]; ok {
			k.Probes = map[string]record.Value{CPUMetric: x}
		}
		for _, name := range judged {
			if m, ok := metric.Find(load.Values, name); ok && m.Quantile > 0 {
				k.Latency = w.Latency
			}
			if x, ok := w.Values[name]; ok {
				k.Values = map[string]record.Value{name: x}
			}
		}
		b.Windows[i] = k
	}
	line.Block = &b
	return line
}

// Running looks at what a workload has so far, as the analysis will at the end if
// the run stops here. precision is the half-width to reach, as a ratio.
func Running(load record.Workload, lines []record.Line, precision float64) Progress {
	t := tabulate(load, lines)
	t.alpha = 1 - stat.Level(true, max(t.runs, 1))
	out := Progress{Done: t.looks()}
	judged := t.judged() // what would tell whether CPU time is net of steal is not kept
	var pools []*pooled
	for _, name := range judged {
		m, ok := t.measureOf(name)
		if !ok {
			return Progress{} // of a later tare
		}
		if m.parts == nil && pools == nil {
			pools = t.pools()
		}
		f := t.fit(m, pools)
		list := t.standings(f, len(judged))
		out.Done = out.Done && len(list) > 0
		for _, s := range list {
			if !(s.Half <= math.Max(math.Log1p(precision), relative*math.Abs(math.Log(s.Ratio)))) {
				out.Done = false
			}
		}
		if name == load.Primary {
			out.Arms = list
		}
	}
	if c := t.transparency(); c.Known && !c.OK && len(t.checks) >= 3 {
		out.Opaque, out.Why = true, c.Text
	}
	return out
}

// standings are the arms that are compared, in the order of the plan.
func (t *table) standings(all *fits, questions int) (out []Standing) {
	f := all.typical
	for _, group := range t.asked(all) {
		cs := t.against(f, group)
		for i, interval := range f.Family(cs, 1-t.alpha, questions) {
			s := Standing{Arm: group[i], Ratio: 1, Half: math.Inf(1)}
			if mean := f.Contrast(cs[i]).Mean; !math.IsNaN(mean) {
				s.Ratio, s.Half = math.Exp(mean), interval.Half()
			}
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Standing) int { return cmp.Compare(t.index[a.Arm], t.index[b.Arm]) })
	return out
}

// looks tells whether a run may stop here.
func (t *table) looks() bool {
	if t.single {
		return len(t.rows) >= leastBlocks
	}
	return t.units >= leastLaunches
}
