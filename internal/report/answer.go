package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	catalogue "github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// answerOf is the answer in the effects. Effects of older versions have none: it is then
// AnsweredNothing.
func answerOf(e *record.Effects) record.Answers {
	if e.Answer == nil {
		return record.Answers{Standing: record.AnsweredNothing}
	}
	return *e.Answer
}

func loadAnswer(e *record.Effects, name string) record.LoadAnswer {
	for _, l := range answerOf(e).Loads {
		if l.Workload == name {
			return l
		}
	}
	return record.LoadAnswer{Workload: name}
}

// verdictSentence is the answer over all loads, in one sentence or two.
func verdictSentence(e *record.Effects, ws []workload) sentence {
	a := answerOf(e)
	var interrupted sentence
	if word, is := ended(e.Ended); is && len(ws) > 0 {
		interrupted = msg("answer.torn", "how", upper(word))
	}
	switch {
	case len(ws) == 0:
		return msg("answer.nothing")
	case !slices.ContainsFunc(ws, func(w workload) bool { return !w.Alone() }):
		return msg("alone.imported")
	case len(ws) == 1:
		l := loadAnswer(e, ws[0].Name)
		s := ws[0].sentence(e, l)
		if a.Standing == record.AnsweredNone && !ws[0].Imported && len(l.Busy) == 0 && hasFindings(l) {
			s = joined(" ", msg("answer.none", "why", why(e, ws)), capital(s, ""))
		}
		return joined(" ", interrupted, capital(s, firstName(l)))
	case a.Standing == record.AnsweredNone && !ws[0].Imported:
		return joined(" ", interrupted, msg("answer.none", "why", why(e, ws)))
	}
	return joined(" ", interrupted, grouped(e, ws))
}

// hasFindings reports whether a load was measured and has findings, which may be undecided.
func hasFindings(l record.LoadAnswer) bool { return l.Measured && len(l.Findings) > 0 }

// firstName is the name of the arm with which a load's sentence begins, if it begins with one. Names of
// arms get no capital letter.
func firstName(l record.LoadAnswer) string {
	if len(l.Findings) > 0 && l.Findings[0].Subject == record.SubjectArm {
		return l.Findings[0].Effect.Arm
	}
	return ""
}

// why is the reason why no load of a run is decided.
func why(e *record.Effects, ws []workload) sentence {
	if more, few := launching(e, ws); few {
		return msg("none.launches", "least", catalogue.LeastLaunches, "more", quantity.About(more))
	}
	n := answerOf(e).Noise
	var causes []string
	if n.StealHigh >= disturbed {
		low, high := percent100(n.StealLow), whole(n.StealHigh)
		if quantity.WithUnit(low, "%") == high {
			causes = append(causes, text("cause.steal.same", "high", high))
		} else {
			causes = append(causes, text("cause.steal", "low", low, "high", high))
		}
	}
	if n.ForeignHigh >= disturbed {
		causes = append(causes, text("cause.foreign", "high", whole(n.ForeignHigh)))
	}
	time := quantity.Duration(e.Seconds)
	switch {
	case len(causes) > 0:
		if n.Floor > 0 {
			causes = append(causes, text("cause.noise", "noise", quantity.PlusMinus(n.Floor)))
		}
		return msg("none.unsteady", "time", time, "causes", strings.Join(causes, "; "))
	case n.Floor > 0:
		return msg("none.short", "time", time, "noise", quantity.PlusMinus(n.Floor))
	}
	return msg("none.time", "time", time)
}

// disturbed is the share of the CPUs, taken by steal or other processes, from which a report names it as
// a cause.
const disturbed = 0.05

// whole prints a share without decimals ("22 %"), a small share with one.
func whole(x float64) string { return quantity.Share(x) }

// group has the loads that share a clause on one subject.
type group struct {
	subject, kind string
	what          string   // says as text, to compare groups of kind "moved"
	says          sentence // the change, of kind "moved"
	loads         []string
}

// groups are the kinds of clauses, known effects first, with the message of the first
// clause about a subject and of those that follow it.
var groups = []struct {
	kind        string
	first, then messages.Key
}{
	{"moved", "group.moved.first", "group.moved.then"},
	{"equal", "group.equal.first", "group.equal.then"},
	{"equal.work", "group.equal.work.first", "group.equal.work.then"},
	{"noloss", "group.noloss.first", "group.noloss.then"},
	{"open", "group.open.first", "group.open.then"},
	{"doubted", "group.doubted.first", "group.doubted.then"},
	{"nothing", "group.nothing.first", "group.nothing.then"},
}

// grouped is the verdict over several loads, decided ones first. Undecided loads never read as
// "no difference".
func grouped(e *record.Effects, ws []workload) sentence {
	var all []group
	var subjects arrange.Ordered
	var apart []sentence
	for _, w := range ws {
		l := loadAnswer(e, w.Name)
		if len(l.Busy) > 0 || len(l.Findings) > 0 && l.Findings[0].Subject == record.SubjectNeighbour {
			apart = append(apart, append(sentence{{w.Name + ": ", plain}}, w.sentence(e, l)...))
			continue
		}
		g := w.group(e, l)
		subjects.Add(g.subject)
		i := slices.IndexFunc(all, func(x group) bool { return x.subject == g.subject && x.kind == g.kind && x.what == g.what })
		if i < 0 {
			all = append(all, g)
		} else {
			all[i].loads = append(all[i].loads, g.loads...)
		}
	}
	var out []sentence
	for _, subject := range subjects {
		var clauses []sentence
		for _, kind := range groups {
			for _, g := range all {
				if g.subject == subject && g.kind == kind.kind {
					key := kind.then
					if len(clauses) == 0 {
						key = kind.first
					}
					clauses = append(clauses, msg(key, "subject", begin(subject, g.kind), "what", g.says, "loads", list(g.loads), "margin", quantity.Size(e.Margin)))
				}
			}
		}
		out = append(out, append(joined("; ", clauses...), cell{".", plain}))
	}
	return joined(" ", append(out, apart...)...)
}

// begin is the subject at the beginning of a clause: with a capital letter, unless it is a name.
func begin(subject, kind string) string {
	if kind == "moved" || kind == "noloss" || strings.HasPrefix(kind, "equal") {
		if strings.HasPrefix(subject, "the ") || strings.HasPrefix(subject, "everything ") {
			return upper(subject)
		}
	}
	return subject
}

// group is the clause on a load in the verdict over all loads: on the subject, or on the arm with
// the largest effect.
func (w workload) group(e *record.Effects, l record.LoadAnswer) group {
	f, ok := foremost(l)
	g := group{subject: w.subject(f), kind: "nothing", loads: []string{w.Name}}
	x := f.Effect
	switch {
	case !ok:
		g.subject = text("alone.subject")
	case x.Verdict == record.Invalid:
	case f.OtherWork > 0 && !workDecided(f):
		if g.kind = "open"; f.Efficiency.Verdict == record.Negligible {
			g.kind = "equal.work"
		}
	case (x.Verdict == record.Undecided || f.OtherWork > 0) && workDecided(f) && !l.Doubted:
		g.kind, g.says = "moved", msg("does.work")
		if f.Efficiency.Verdict == record.Gain {
			g.says = msg("does.work.less")
		}
		g.what = g.says.String()
		g.loads = []string{text("group.load", "load", w.Name, "change", quantity.Percent(f.CPU.Ratio))}
	case x.Verdict == record.Undecided:
		g.kind = "open"
	case x.Verdict == record.Negligible:
		g.kind = "equal"
	case x.Verdict == record.NoLoss:
		g.kind = "noloss"
	case l.Doubted:
		g.kind = "doubted"
	case (x.Verdict == record.Cost || x.Verdict == record.Gain) && x.Typical != nil:
		g.kind, g.says = "moved", w.does(x)
		if x.Intermittent {
			g.says = msg("group.bursts", "what", g.says)
		}
		g.what = g.says.String()
		key := messages.Key("group.load")
		if w.InNoise(x) {
			key = "group.load.noise"
		}
		g.loads = []string{text(key, "load", w.Name, "change", quantity.Percent(x.Typical.Ratio))}
	}
	return g
}

// workDecided reports whether an operation is shown to need more CPU time, or less.
func workDecided(f record.Finding) bool {
	return f.CPU != nil && (f.Efficiency.Verdict == record.Cost || f.Efficiency.Verdict == record.Gain)
}

// foremost is the finding with the largest cost or gain (LoadAnswer.Foremost); false: there is none.
func foremost(l record.LoadAnswer) (record.Finding, bool) {
	if l.Foremost >= len(l.Findings) {
		return record.Finding{}, false
	}
	return l.Findings[l.Foremost], true
}

// loadItems is a line for each load.
func loadItems(e *record.Effects, ws []workload) []item {
	if e.Imported == nil && answerOf(e).Standing == record.AnsweredNone && len(ws) > 1 {
		return excludedItems(e, ws)
	}
	var items []item
	for _, w := range ws {
		if w.Alone() {
			continue
		}
		l := loadAnswer(e, w.Name)
		s := w.sentence(e, l)
		if len(l.Findings) == 1 && len(l.Busy) == 0 && !arrange.Seen(l.Findings[0].Effect) && l.Findings[0].Subject != record.SubjectNeighbour {
			items = append(items, w.line(e, l))
			continue
		}
		items = append(items, item{label: cell{w.Name, strong}, text: s})
	}
	return items
}

// line is an item with the clauses on the only subject of a load, after the name of the load. Its
// shorter forms (item.less) leave out clauses, but never the verdict and the doubts.
func (w workload) line(e *record.Effects, l record.LoadAnswer) item {
	clauses := w.clauses(l.Findings[0], e.Margin, false)
	it := item{label: cell{w.Name, strong}, text: joined(" ", stopped(clauses), w.doubts(l))}
	first, rest := clauses[:1], clauses[1:]
	if l.Doubted {
		first = append(first[:1:1], msg("doubt.twin.brief"))
	}
	for left := 1<<len(rest) - 1; left >= 0; left-- {
		kept := first
		for i, c := range rest {
			if left>>(len(rest)-1-i)&1 == 1 {
				kept = append(kept[:len(kept):len(kept)], c)
			}
		}
		it.less = append(it.less, stopped(kept))
	}
	return it
}

func stopped(clauses []sentence) sentence {
	return append(joined("; ", clauses...), cell{".", plain})
}

// excludedItems names the losses that are ruled out, and the loads for which no loss is ruled out.
func excludedItems(e *record.Effects, ws []workload) []item {
	var out, none []string
	for _, w := range ws {
		f, ok := foremost(loadAnswer(e, w.Name))
		if !ok || f.Excluded <= 0 || f.Excluded > informative {
			none = append(none, w.Name)
			continue
		}
		out = append(out, text("excluded.load", "load", w.Name, "loss", text("excluded.above", "loss", whole(f.Excluded))))
	}
	var items []item
	if len(out) > 0 {
		items = append(items, item{label: cell{text("label.excluded"), strong}, text: say(list(out))})
	}
	if len(none) > 0 {
		items = append(items, item{label: cell{text("label.noanswer"), strong}, text: say(list(none))})
	}
	return append(items, doubtedItem(ws)...)
}

// doubtedItem names the loads whose twin differs.
func doubtedItem(ws []workload) []item {
	var loads, effects []string
	for _, w := range ws {
		for _, x := range w.Differing() {
			loads, effects = append(loads, w.Name), append(effects, w.Name+" ("+quantity.Interval(x.Typical)+")")
		}
	}
	if len(loads) == 0 {
		return nil
	}
	return []item{labelled("label.doubted", msg("doubt.loads", "loads", list(effects)), msg("doubt.loads", "loads", list(loads)))}
}

// sentence is all sentences on one load.
func (w workload) sentence(e *record.Effects, l record.LoadAnswer) sentence {
	var all []sentence
	switch s := w.allSeen(l); {
	case w.Unmeasured():
		return w.alone(e)
	case len(s) > 0:
		all = append(all, s)
	case len(l.Findings) == 0 && len(l.Busy) == 0:
		all = append(all, w.alone(e))
	default:
		all = w.findings(e, l)
	}
	for _, b := range l.Busy {
		all = append(all, w.busyNode(b))
	}
	for _, f := range l.Besides {
		s := w.finding(f, e.Margin, true)
		all = append(all, msg("besides", "finding", s[:len(s)-1]))
	}
	return joined(" ", append(all, w.doubts(l))...)
}

// findings returns the sentences on the subjects of a load. Subjects that have no interval, for the same
// reason, share one sentence.
func (w workload) findings(e *record.Effects, l record.LoadAnswer) (all []sentence) {
	var unknown arrange.Grouped[string]
	for _, f := range l.Findings {
		x := f.Effect
		if len(l.Findings) > 1 && x.Verdict == record.Undecided && x.Typical == nil && !arrange.Seen(x) {
			unknown.Add(x.Reason, w.subject(f))
			continue
		}
		s := w.finding(f, e.Margin, true)
		if len(all) > 0 {
			s = capital(s, x.Arm)
		}
		all = append(all, s)
		if s := bestIsolation(f); len(s) > 0 {
			all = append(all, s)
		}
	}
	for reason, subjects := range unknown.All() {
		s := append(msg("finding.unknown", "subject", list(subjects), "because", because(reason)), cell{".", plain})
		if len(all) > 0 {
			s = capital(s, "")
		}
		all = append(all, s)
	}
	return all
}

// alone is the sentence on a load of which only the baseline and its twin ran.
func (w workload) alone(e *record.Effects) sentence {
	s := msg("alone.none")
	switch {
	case w.Unmeasured():
		s = msg("alone.unmeasured")
	case len(w.Twins) > 0 && w.NoiseFloor > 0:
		s = msg("alone.twin", "baseline", w.Baseline, "noise", quantity.PlusMinus(w.NoiseFloor))
	}
	if len(e.Left) > 0 {
		s = joined(" ", s, msg("alone.why"))
	}
	return s
}

// doubts returns the sentences that speak against the answer: a differing twin, two modes.
func (w workload) doubts(l record.LoadAnswer) sentence {
	var all []sentence
	for _, x := range w.Differing() {
		all = append(all, msg("doubt.twin", "baseline", w.Baseline, "effect", quantity.Interval(x.Typical)))
	}
	if arms := w.TwoModes; len(arms) > 0 {
		all = append(all, msg("doubt.modes", "metric", w.metricWord(arms[0].Metric).of, "arms", list(l.TwoModes)))
	}
	return joined(" ", all...)
}
