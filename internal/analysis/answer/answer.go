// Package answer finds the answer of a result: a table for each question with the verdict and the
// cause of each row, and what more time would decide. It is pure and works from record.Effects alone.
package answer

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/record"
)

// Of returns the answer of a result.
func Of(e *record.Effects) *record.Answers {
	a := &record.Answers{Tables: []record.AnswerTable{}, Noise: noise(e), Skipped: skipped(e)}
	ws := arrange.Workloads(e)
	for _, w := range ws {
		for _, t := range tables(e, w) {
			a.Tables = merge(a.Tables, t)
		}
	}
	a.Tables = unreached(a.Tables, e, ws)
	a.Standing = standing(a.Tables, ws)
	asked := anyRow(a.Tables, func(s record.Says) bool { return s.Word != "" })
	invalid := anyRow(a.Tables, func(s record.Says) bool { return s.Word == record.SaysInvalid })
	a.Busy = a.Standing == record.AnsweredNone && asked && !invalid && max(a.Noise.StealHigh, a.Noise.ForeignHigh) > competing
	a.Menu = menu(e)
	a.Next = next(a, e)
	return a
}

// tables are the tables of one load: one for each neighbour, then one of the arms without a neighbour.
func tables(e *record.Effects, w arrange.Workload) (out []record.AnswerTable) {
	if w.Unmeasured() {
		return nil
	}
	var told arrange.Ordered
	for _, p := range e.Prices {
		if p.Workload != w.Name || len(p.Rows) == 0 {
			continue
		}
		t := neighbour(w, p)
		if p.OfClasses() {
			t = pods(w, p)
		}
		for _, r := range t.Rows {
			told.Add(r.Arm)
		}
		for _, r := range p.Rows {
			told.Add(r.Arm)
		}
		out = append(out, t)
	}
	if t, ok := plain(e, w, told); ok {
		out = append(out, t)
	}
	return out
}

// plain is the table of a load's arms against its baseline, without the arms that are told already: of
// the subject if there is one, else of all arms.
func plain(e *record.Effects, w arrange.Workload, told []string) (record.AnswerTable, bool) {
	t := record.AnswerTable{Baseline: w.Baseline, Metric: w.Primary}
	if w.Objective != nil {
		return objective(w), true
	}
	if subject := w.Subject(); subject != "" && !slices.Contains(told, subject) {
		t.Question, t.Container = record.AskedLayers, w.Real(subject)
		if t.Container { // else the loads have one table, whatever their highest layers are
			t.Subject = subject
		}
		r := row(w, subject, otherWork(e, w.Name))
		if r.Steps, r.Unshown = steps(w); r.Says.Word == record.SaysSlower && networkShare(r) >= half {
			r.Says.Causes = append(r.Says.Causes, record.CauseNetwork)
		}
		for _, arm := range w.Beside {
			if x, _ := w.PrimaryOf(arm); r.Says.Word != record.SaysInvalid && arrange.Moved(x) && !slices.Contains(told, arm) {
				r.Besides = append(r.Besides, x)
			}
		}
		t.Rows = []record.AnswerRow{r}
		return t, true
	}
	t.Question = record.AskedArms
	switch {
	case w.Imported:
		t.Question = record.AskedLogs
	case w.Arm[w.Baseline].Limit != nil && len(told) == 0:
		return limits(w, otherWork(e, w.Name)), true
	}
	for _, x := range e.Options {
		if x.Workload == w.Name && x.Metric == w.Primary {
			t.Options = append(t.Options, x)
		}
	}
	for _, arm := range slices.Concat(w.Ladder, w.Beside) {
		if _, ok := w.PrimaryOf(arm); ok && !slices.Contains(told, arm) {
			t.Rows = append(t.Rows, byNetwork(row(w, arm, otherWork(e, w.Name)), t.Options))
		}
	}
	if len(t.Rows) > 0 && inPod(w) {
		t.Rows = append(t.Rows, skippedRows(e, w, t.Rows)...)
	}
	if len(t.Rows) == 0 && len(told) == 0 { // only the baseline was measured
		t.Rows = []record.AnswerRow{{Workload: w.Name, Arm: w.Baseline, Level: level(w, w.Baseline)}}
	}
	return t, len(t.Rows) > 0
}

// inPod reports whether a load's baseline is a pod.
func inPod(w arrange.Workload) bool {
	return slices.ContainsFunc(w.Arm[w.Baseline].Settings, func(s record.Setting) bool { return s.Name == "pod.qos" })
}

// skippedRows are the arms of a load that could not be had, without those in rows. The arms of an experiment
// on pods are named one by one (StorageClasses, networks), so a missing one is part of the answer.
func skippedRows(e *record.Effects, w arrange.Workload, rows []record.AnswerRow) (out []record.AnswerRow) {
	for _, l := range e.Left {
		same := func(r record.AnswerRow) bool { return r.Arm == l.Arm }
		if l.Workload != w.Name || l.Arm == "" || l.Arm == w.Baseline || slices.ContainsFunc(rows, same) || slices.ContainsFunc(out, same) {
			continue
		}
		says := record.Says{Word: record.SaysSkipped, Reason: l.Reason, Remedy: l.Remedy}
		out = append(out, record.AnswerRow{Workload: w.Name, Arm: l.Arm, Level: level(w, w.Baseline), Says: says})
	}
	return out
}

// merge adds the rows of a table to those of the same question, subject, baseline and metric.
func merge(all []record.AnswerTable, t record.AnswerTable) []record.AnswerTable {
	for i, x := range all {
		same := x.Question == t.Question && x.Subject == t.Subject && x.Container == t.Container && x.Baseline == t.Baseline && x.Metric == t.Metric
		if same && t.Workload == "" && x.Workload == "" {
			all[i].Rows = append(all[i].Rows, t.Rows...)
			all[i].Options = append(all[i].Options, t.Options...)
			return all
		}
	}
	return append(all, t)
}

// unreached adds a skipped row for each load that was not measured, but not for a run that failed before it measured
// anything: its error is the answer.
func unreached(all []record.AnswerTable, e *record.Effects, ws []arrange.Workload) []record.AnswerTable {
	if len(all) == 0 && e.Ended == record.EndedError {
		return all
	}
	for _, w := range ws {
		if !w.Unmeasured() {
			continue
		}
		r := record.AnswerRow{Workload: w.Name, Arm: w.Question, Says: record.Says{Word: record.SaysSkipped, Reason: record.Say("no_window_measured")}}
		for _, l := range e.Left {
			if l.Workload == w.Name && (l.Arm == "" || l.Arm == w.Baseline) {
				r.Says.Reason, r.Says.Remedy = l.Reason, l.Remedy
			}
		}
		i := slices.IndexFunc(all, func(t record.AnswerTable) bool { return t.Workload == "" })
		if i < 0 {
			i, all = len(all), append(all, record.AnswerTable{Question: questionOf(w), Baseline: w.Baseline, Metric: w.Primary})
		}
		if r.Arm == "" {
			r.Arm = all[i].Subject
		}
		all[i].Rows = append(all[i].Rows, r)
	}
	return all
}

// questionOf is the question of a load without any window.
func questionOf(w arrange.Workload) record.Question {
	if w.Question != "" || len(w.Ladder) > 1 {
		return record.AskedLayers
	}
	return record.AskedArms
}

// standing says how many of the rows with an arm have an answer.
func standing(all []record.AnswerTable, ws []arrange.Workload) record.Answered {
	if !slices.ContainsFunc(ws, func(w arrange.Workload) bool { return !w.Unmeasured() }) {
		return record.AnsweredNothing
	}
	asked, decided := 0, 0
	for _, t := range all {
		for _, r := range t.Rows {
			if r.Says.Word != "" {
				asked++
			}
			if r.Says.Answered() {
				decided++
			}
		}
	}
	switch {
	case decided == 0:
		return record.AnsweredNone
	case decided < asked:
		return record.AnsweredPartly
	}
	return record.AnsweredAll
}

// anyRow reports whether something holds for what a row says.
func anyRow(all []record.AnswerTable, holds func(record.Says) bool) bool {
	return slices.ContainsFunc(all, func(t record.AnswerTable) bool {
		return slices.ContainsFunc(t.Rows, func(r record.AnswerRow) bool { return holds(r.Says) })
	})
}

// skipped returns the real container where it was skipped: most questions are about it.
func skipped(e *record.Effects) (out []record.Left) {
	for _, l := range e.Left {
		if l.Workload = ""; l.Arm == "container" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
