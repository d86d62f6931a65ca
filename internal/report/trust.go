package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tarelab/tare/record"
)

// trust is what a sceptic asks: how much data, how noisy, which checks held,
// what was dropped, what tare itself took.
func trust(e *record.Effects, ws []workload) []block {
	if len(ws) == 0 {
		return nil
	}
	if e.Imported != nil {
		return runs(e, ws)
	}
	full, brief := trustTables(ws)
	least := brief.without(2, 3, 4)
	return []block{
		{forms: [][]table{{full}, {brief}, {least}}, notes: trustNotes(ws)},
		{items: trustItems(e, ws)},
	}
}

func trustTables(ws []workload) (full, brief table) {
	kinds := checkKinds(ws)
	common := []column{
		{head: "workload", flex: 12}, {head: "blocks", align: right}, {head: "gen", align: right},
		{head: "window", align: right}, {head: "discard", align: right}, {head: "noise", align: right},
	}
	full.columns = slices.Clone(common)
	for _, kind := range kinds {
		full.columns = append(full.columns, column{head: kind})
	}
	brief.columns = append(common, column{head: "checks"})
	for _, w := range ws {
		r := row{{w.Name, plain}, {fmt.Sprint(w.Blocks), plain}, {fmt.Sprint(w.Generations), plain},
			{none, faint}, {none, faint}, {none, faint}}
		if w.Pilot != nil {
			r[3], r[4] = cell{Duration(w.Pilot.Window), plain}, cell{Duration(w.Pilot.Discard), plain}
		}
		if w.NoiseFloor > 0 {
			r[5] = cell{PlusMinus(w.NoiseFloor), plain}
		}
		brief.rows = append(brief.rows, append(slices.Clone(r), checkSummary(w)))
		for _, kind := range kinds {
			r = append(r, w.check(kind))
		}
		full.rows = append(full.rows, r)
	}
	return full, brief
}

func checkKinds(ws []workload) []string {
	var kinds ordered
	for _, w := range ws {
		for _, c := range w.Checks {
			kinds.add(c.Kind)
		}
	}
	return kinds
}

// check is the worst outcome of one kind of check.
func (w workload) check(kind string) cell {
	c := cell{none, faint}
	for _, x := range w.Checks {
		switch {
		case x.Kind != kind:
		case x.Known && !x.OK:
			return cell{"FAILED", broken}
		case !x.Known:
			c = cell{"no data", unsure}
		case c.text == none:
			c = cell{"ok", calm}
		}
	}
	return c
}

func checkSummary(w workload) cell {
	var ok, failed, open int
	for _, kind := range checkKinds([]workload{w}) {
		switch w.check(kind).tone {
		case calm:
			ok++
		case broken:
			failed++
		default:
			open++
		}
	}
	switch {
	case failed > 0:
		return cell{fmt.Sprintf("%d of %d FAILED", failed, failed+ok+open), broken}
	case open > 0:
		return cell{fmt.Sprintf("%d ok, %d no data", ok, open), unsure}
	case ok > 0:
		return cell{"all ok", calm}
	}
	return cell{none, faint}
}

// trustNotes spell out the checks that did not pass and the noise.
func trustNotes(ws []workload) []sentence {
	var notes []sentence
	for _, c := range unpassed(ws) {
		outcome := cell{"not enough data", unsure}
		if c.check.Known {
			outcome = cell{"failed", broken}
		}
		notes = append(notes, checkNote(list(c.workloads), c.check, outcome))
	}
	single := slices.ContainsFunc(ws, func(w workload) bool { return w.Generations == 1 })
	if single {
		notes = append(notes, say("One launch only: how an arm happens to be laid out in memory and on disk"+
			" is part of its effect. A longer budget launches anew."))
	}
	return notes
}

// doubt is a check that did not pass, once for all workloads of which the same
// is to be said.
type doubt struct {
	check     record.Checks
	workloads []string
}

// unpassed puts the checks that failed before those that have no data.
func unpassed(ws []workload) []doubt {
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
					all = append(all, doubt{check: c})
				}
				all[i].workloads = append(all[i].workloads, w.Name)
			}
		}
	}
	return all
}

func checkNote(workloads string, c record.Checks, outcome cell) sentence {
	s := sentence{{workloads + ", " + c.Kind, plain}}
	if c.Subject != "" {
		s[0].text += " of " + c.Subject
	}
	s = append(s, cell{": ", plain}, outcome)
	if c.Text != "" {
		s = append(s, cell{": " + c.Text, plain})
	}
	if c.Ratio != nil {
		s = append(s, cell{" (" + Interval(c.Ratio) + ")", plain})
	}
	return remedied(append(s, cell{".", plain}), c.Remedy)
}

func trustItems(e *record.Effects, ws []workload) []item {
	items := []item{{cell{"dropped", plain}, dropped(e.Dropped)}}
	items = append(items, windows(ws)...)
	if how := pauses(ws); how != "" {
		items = append(items, item{cell{"paused by", plain}, say(how)})
	}
	if cut := cuts(ws); cut > 0 {
		items = append(items, item{cell{"cut", plain}, say(
			plural(int(cut), "operation") + " " + verb(int(cut), "was", "were") + " in flight over a pause and " + verb(int(cut), "counts", "count") + " in no latency.")})
	}
	return append(items, item{cell{"tare itself", plain}, self(e.Self)})
}

// windows says why the pilot chose its window and discard, once where several
// workloads have the same reason.
func windows(ws []workload) []item {
	var reasons ordered
	names := map[string][]string{}
	for _, w := range ws {
		if w.Pilot != nil && w.Pilot.Why != "" {
			reasons.add(w.Pilot.Why)
			names[w.Pilot.Why] = append(names[w.Pilot.Why], w.Name)
		}
	}
	var items []item
	for _, why := range reasons {
		text := why
		if len(names[why]) < len(ws) {
			text = list(names[why]) + ": " + why
		}
		items = append(items, item{cell{"window", plain}, say(text)})
	}
	return items
}

func dropped(d record.Dropped) sentence {
	if d.Blocks == 0 {
		return say(fmt.Sprintf("none of %d blocks", d.Of))
	}
	s := say(fmt.Sprintf("%d of %d blocks", d.Blocks, d.Of))
	whys := slices.Sorted(maps.Keys(d.Reasons))
	slices.SortStableFunc(whys, func(a, b string) int { return d.Reasons[b] - d.Reasons[a] })
	for i, why := range whys {
		sep := ": "
		if i > 0 {
			sep = ", "
		}
		s = append(s, cell{fmt.Sprintf("%s%s (%d)", sep, why, d.Reasons[why]), plain})
	}
	return s
}

func pauses(ws []workload) string {
	var how ordered
	for _, w := range ws {
		if w.Pilot == nil || w.Pilot.Pause == "" {
			continue
		}
		word := "the " + w.Pilot.Pause
		switch w.Pilot.Pause {
		case "load":
			word = "the load itself: this host or user cannot freeze processes"
		case "stream":
			word = "the load itself, over a stream: tare is not on the node of the pods"
		}
		how.add(word)
	}
	return list(how)
}

func cuts(ws []workload) uint64 {
	var n uint64
	for _, w := range ws {
		for _, a := range w.arm {
			n += a.Cut
		}
	}
	return n
}

func self(s record.Self) sentence {
	if s == (record.Self{}) {
		return sentence{{"not known: it is written when a run ends", unsure}}
	}
	out := sentence{{share(s.CPURatio) + " of one CPU inside windows", plain}}
	if s.MaxRSS > 0 {
		out = append(out, cell{", " + Bytes(float64(s.MaxRSS)) + " resident", plain})
	}
	if s.Switches > 0 {
		out = append(out, cell{fmt.Sprintf("; a switch between arms took %s in the median, %s at p99 (%d switches)",
			Duration(s.SwitchMedian), Duration(s.SwitchP99), s.Switches), plain})
	}
	if p := s.Pods; p != nil {
		out = append(out, cell{fmt.Sprintf("; of arms in pods %s in the median, %s at p99 (%d switches)",
			Duration(p.Median), Duration(p.P99), p.Count), plain})
	}
	return out
}
