package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// trust is the section on the quality of the measurement: how much data, how noisy, which checks
// passed, which windows were dropped, how much CPU and memory tare itself used.
func (in Language) trust(e *record.Effects, ws []workload) []block {
	if len(ws) == 0 {
		return nil
	}
	if e.Imported != nil {
		return in.runs(e, ws)
	}
	return []block{
		{tables: []table{in.amountsTable(ws)}, notes: in.redrawnNote(ws)},
		{tables: in.checkTables(ws), notes: in.trustNotes(ws)},
		{items: in.trustItems(e, ws)},
	}
}

// amountsTable has the amount of data of each load, and how noisy it is.
func (in Language) amountsTable(ws []workload) table {
	t := table{columns: []column{
		{head: in.text("trust.workload"), flex: 12}, {head: in.text("trust.blocks"), align: right}, {head: in.text("trust.launches"), align: right, drop: 1},
		{head: in.text("trust.window"), align: right, drop: 1}, {head: in.text("trust.discard"), align: right, drop: 1}, {head: in.text("matrix.noise"), align: right},
		{head: in.text("trust.redrawn"), align: right}, {head: in.text("trust.by_launch"), align: right},
	}}
	unknown := cell{none, faint}
	for _, w := range ws {
		r := row{cell{w.Name, plain}, cell{fmt.Sprint(w.Blocks), plain}, cell{fmt.Sprint(w.Generations), plain},
			unknown, unknown, unknown, unknown, unknown}
		if w.Pilot != nil {
			r[3], r[4] = cell{quantity.Duration(w.Pilot.Window), plain}, cell{quantity.Duration(w.Pilot.Discard), plain}
		}
		if w.NoiseFloor > 0 {
			r[5] = cell{quantity.PlusMinus(w.NoiseFloor), plain}
		}
		if f := w.FalsePositives; f != nil {
			r[6] = cell{quantity.Share(f.Rate), plain}
			if f.Launches != nil {
				r[7] = cell{quantity.Share(f.Launches.Rate), plain}
			}
		}
		t.rows = append(t.rows, r)
	}
	if len(in.redrawnNote(ws)) == 0 {
		return t.without(6, 7)
	}
	return t
}

// redrawnNote explains the rate of false positives that the permutation test found in this record.
func (in Language) redrawnNote(ws []workload) []sentence {
	for _, w := range ws {
		if w.FalsePositives != nil {
			return []sentence{in.msg("trust.redrawn.note", "head", in.text("trust.redrawn"), "launch", in.text("trust.by_launch"), "draws", w.FalsePositives.Draws)}
		}
	}
	return nil
}

func checkKinds(ws []workload) []string {
	var kinds arrange.Ordered
	for _, w := range ws {
		for _, c := range w.Checks {
			kinds.Add(c.Kind)
		}
	}
	return kinds
}

// checkTables is the table of the checks by load, if there are any.
func (in Language) checkTables(ws []workload) []table {
	t := table{panel: 1, columns: []column{{head: in.text("trust.check")}}}
	for _, w := range ws {
		t.columns = append(t.columns, column{head: w.Name, flex: 12})
	}
	for _, kind := range checkKinds(ws) {
		r := row{cell{in.static(kind), plain}}
		for _, w := range ws {
			r = append(r, w.check(kind))
		}
		t.rows = append(t.rows, r)
	}
	if len(t.rows) == 0 {
		return nil
	}
	return []table{t}
}

// check is the worst outcome of one kind of check, with the smallest deviation that the check would
// have found.
func (w workload) check(kind string) cell {
	worst := cell{none, faint}
	rank := 0
	for _, x := range w.Checks {
		if x.Kind != kind {
			continue
		}
		if n, c := w.in.outcome(x); n > rank {
			worst, rank = c, n
			if x.Detectable > 0 && quantity.Finite(x.Detectable) {
				worst.text = w.in.catalog.Join(worst.text, " "+w.in.text("check.seen", "size", quantity.Share(x.Detectable)))
			}
		}
	}
	return worst
}

// outcome is a check's outcome, and its rank: the worse the outcome, the higher.
func (in Language) outcome(x record.Checks) (rank int, says cell) {
	switch {
	case x.Known && !x.OK:
		return 3, in.msg("check.failed")[0]
	case !x.Known:
		return 2, in.msg("check.untold")[0]
	}
	return 1, in.msg("check.ok")[0]
}

// inWords is the outcome of a check as part of a sentence.
func (in Language) inWords(c record.Checks) cell {
	if rank, says := in.outcome(c); rank < 3 {
		return says
	}
	return in.msg("note.failed")[0]
}

// trustNotes are sentences on the checks that did not pass, and on a run with a single launch.
func (in Language) trustNotes(ws []workload) []sentence {
	var notes []sentence
	if slices.ContainsFunc(ws, func(w workload) bool {
		return slices.ContainsFunc(w.Checks, func(c record.Checks) bool { return c.Detectable > 0 })
	}) {
		notes = append(notes, in.msg("check.seen.note"))
	}
	for _, c := range in.unpassed(ws) {
		notes = append(notes, c.note())
	}
	if slices.ContainsFunc(ws, func(w workload) bool { return w.Generations == 1 }) {
		notes = append(notes, in.msg("trust.single"))
	}
	return notes
}

// doubt is a check that did not pass, with all workloads in which it had the same outcome.
type doubt struct {
	check     record.Checks
	workloads []string
	in        Language
}

// unpassed lists the checks that did not pass: first those that failed, then those without enough data.
func (in Language) unpassed(ws []workload) []doubt {
	var all []doubt
	for _, known := range []bool{true, false} {
		for _, w := range ws {
			for _, c := range w.Checks {
				if c.Known != known || c.Known && c.OK {
					continue
				}
				i := slices.IndexFunc(all, func(d doubt) bool { return d.check == c })
				if i < 0 {
					i = len(all)
					all = append(all, doubt{check: c, in: in})
				}
				all[i].workloads = append(all[i].workloads, w.Name)
			}
		}
	}
	return all
}

func (d doubt) note() sentence {
	return d.in.checkNote(d.in.list(d.workloads), d.check, d.in.inWords(d.check))
}

func (in Language) checkNote(workloads string, c record.Checks, says cell) sentence {
	what, detail, figure := in.static(c.Kind), "", ""
	if c.Subject != "" {
		what = in.text("check.of", "kind", in.static(c.Kind), "subject", c.Subject)
	}
	if !c.Text.IsZero() {
		detail = in.colon("", in.said(c.Text))
	}
	if c.Ratio != nil {
		figure = in.text("join.remark", "subject", "", "what", quantity.Interval(c.Ratio))
	}
	return in.remedied(in.msg("check.note", "loads", workloads, "what", what, "outcome", says, "detail", detail, "figure", figure), c.Remedy)
}

func (in Language) trustItems(e *record.Effects, ws []workload) []item {
	items := []item{{label: cell{in.text("label.dropped"), plain}, text: in.dropped(e.Dropped)}}
	for _, why := range slices.Sorted(maps.Keys(e.Dropped.Said)) {
		lines := strings.Join(strings.Fields(e.Dropped.Said[why]), " ")
		items = append(items, item{text: in.msg("dropped.said", "why", in.catalog.Static(why), "said", export.Clean(lines))})
	}
	items = append(items, in.windows(ws)...)
	if how := in.pauses(ws); how != "" {
		items = append(items, item{label: cell{in.text("label.paused"), plain}, text: say(how)})
	}
	if cut := cuts(ws); cut > 0 {
		items = append(items, item{label: cell{in.text("label.cut"), plain}, text: in.msg("cut", "n", int(cut))})
	}
	if c := e.Calibrated; c != nil {
		items = append(items, item{label: cell{in.text("label.calibrated"), plain}, text: say(in.Calibrated(c, e.Host.Kernel))})
	}
	return append(items, item{label: cell{in.text("label.self"), plain}, text: in.self(e.Self)})
}

// windows are items that say why the pilot chose the window length and the settle time. Workloads with
// the same reason share an item.
func (in Language) windows(ws []workload) []item {
	var reasons arrange.Grouped[record.Said]
	for _, w := range ws {
		if w.Pilot != nil && !w.Pilot.Why.IsZero() {
			reasons.Add(w.Pilot.Why, w.Name)
		}
	}
	var items []item
	for reason, names := range reasons.All() {
		why := in.said(reason)
		if len(names) < len(ws) {
			why = in.colon(in.list(names), why)
		}
		items = append(items, item{label: cell{in.text("trust.window"), plain}, text: say(why)})
	}
	return items
}

func (in Language) dropped(d record.Dropped) sentence {
	if d.Blocks == 0 {
		return in.msg("dropped.none", "of", d.Of)
	}
	whys := slices.Sorted(maps.Keys(d.Reasons))
	slices.SortStableFunc(whys, func(a, b string) int { return d.Reasons[b] - d.Reasons[a] })
	for i, why := range whys {
		whys[i] = in.text("dropped.reason", "reason", in.catalog.Static(why), "n", d.Reasons[why])
	}
	return in.msg("dropped.some", "n", d.Blocks, "of", d.Of, "why", in.commas(whys...))
}

func (in Language) pauses(ws []workload) string {
	var how arrange.Ordered
	for _, w := range ws {
		if w.Pilot == nil || w.Pilot.Pause == "" {
			continue
		}
		switch w.Pilot.Pause {
		case "load":
			how.Add(in.text("paused.load"))
		case "stream":
			how.Add(in.text("paused.stream"))
		default:
			how.Add(in.text("paused.by", "what", w.Pilot.Pause))
		}
	}
	return in.list(how)
}

func cuts(ws []workload) uint64 {
	var n uint64
	for _, w := range ws {
		for _, a := range w.Arm {
			n += a.Cut
		}
	}
	return n
}

func (in Language) self(s record.Self) sentence {
	if s == (record.Self{}) {
		return in.msg("self.unknown")
	}
	out := in.msg("self.cpu", "share", quantity.Share(s.CPURatio))
	if s.MaxRSS > 0 {
		out = append(out, in.msg("self.memory", "bytes", quantity.Bytes(float64(s.MaxRSS)))...)
	}
	if s.Switches > 0 {
		out = append(out, in.msg("self.switches", "median", quantity.Duration(s.SwitchMedian), "tail", quantity.Duration(s.SwitchP99), "n", s.Switches)...)
	}
	if p := s.Pods; p != nil {
		out = append(out, in.msg("self.pods", "median", quantity.Duration(p.Median), "tail", quantity.Duration(p.P99), "n", p.Count)...)
	}
	return out
}
