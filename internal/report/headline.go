package report

import (
	"math"
	"strings"

	"github.com/tarelab/tare/record"
)

// headlines is the answer: one or two sentences per workload.
func headlines(e *record.Effects, ws []workload) block {
	var b block
	if _, torn := ended(e.Ended); torn && len(ws) > 0 {
		word, _ := ended(e.Ended)
		b.items = append(b.items, item{text: sentence{
			{word, broken}, {". What was measured until then:", plain}}})
	}
	for _, w := range ws {
		b.items = append(b.items, item{cell{w.Name, strong}, headline(e, w)})
	}
	if len(ws) == 0 {
		b.items = []item{{text: sentence{{"No result: nothing was measured.", broken}}}}
	}
	return b
}

func headline(e *record.Effects, w workload) sentence {
	s := answer(e, w)
	if w.top() == "" && len(w.beside) == 0 && len(e.Left) > 0 {
		s = append(s, cell{" Why, see “left out”.", plain})
	}
	for _, arm := range w.beside {
		x, _ := w.primary(arm)
		if w.top() != "" && (x.Verdict == record.Cost || x.Verdict == record.Gain) && x.Typical != nil {
			s = append(s, cell{" Beside the ladder, ", plain})
			s = append(s, verdict(e, w, w.word(arm).phrase, x)...)
		}
	}
	return append(s, doubts(w)...)
}

// answer is the verdict on the arm that the question is about: the real
// container, else the top of the ladder, else the arms one by one.
func answer(e *record.Effects, w workload) sentence {
	if w.unmeasured() {
		return alone(w)
	}
	if top := w.top(); top != "" {
		subject := "everything up to " + w.word(top).phrase
		if w.real(top) {
			subject = w.word(top).phrase
		}
		x, _ := w.primary(top)
		s := verdict(e, w, subject, x)
		return append(s, parts(w, x)...)
	}
	if s := pricedAll(e, w); len(s) > 0 {
		return s
	}
	if s := w.allSeen(); len(s) > 0 {
		return s
	}
	var s sentence
	unknown := grouped{}
	for _, arm := range w.beside {
		x, ok := w.primary(arm)
		switch {
		case !ok || onBusyNode(e, w, arm):
			continue
		case x.Verdict == record.Undecided && x.Typical == nil && !seen(x):
			unknown.add(x.Reason, w.word(arm).phrase, x.Unequal != "")
			continue
		}
		next := verdict(e, w, w.word(arm).phrase, x)
		if len(s) > 0 {
			s = append(s, cell{" ", plain})
			if !strings.HasPrefix(next[0].text, arm) { // a name stays as it was given
				next[0].text = upper(next[0].text)
			}
		}
		s = append(s, next...)
	}
	s = append(s, unknown.sentences(len(s) > 0)...)
	if b := busy(e, w); len(b) > 0 {
		if len(s) > 0 {
			s = append(s, cell{" ", plain})
		}
		s = append(s, b...)
	}
	if len(s) > 0 {
		return s
	}
	return alone(w)
}

// grouped are arms of which nothing is known for the same reason, in their order.
type grouped struct {
	reasons []string
	arms    map[string][]string
}

func (g *grouped) add(reason, arm string, isUnequal bool) {
	if g.arms == nil {
		g.arms = map[string][]string{}
	}
	if len(g.arms[reason]) == 0 {
		g.reasons = append(g.reasons, reason)
	}
	if isUnequal {
		arm += " (" + unequal + ")"
	}
	g.arms[reason] = append(g.arms[reason], arm)
}

// sentences is one for each reason; more says that something stands before.
func (g *grouped) sentences(more bool) (s sentence) {
	for _, reason := range g.reasons {
		word := "undecided"
		if more {
			s = append(s, cell{" ", plain})
			word = upper(word)
		}
		s = append(s, cell{word, unsure}, cell{" for " + list(g.arms[reason]) + because(reason) + ".", plain})
		more = true
	}
	return s
}

// alone is what can be said when nothing but the baseline and its twin ran.
func alone(w workload) sentence {
	switch {
	case w.unmeasured():
		return sentence{{"not measured", broken}, {": no block of it was finished.", plain}}
	case len(w.twins) > 0 && w.NoiseFloor > 0:
		return sentence{{"nothing to compare", unsure}, {": only " + w.Baseline +
			" and its twin ran. The noise floor here is " + PlusMinus(w.NoiseFloor) + ".", plain}}
	}
	return sentence{{"nothing to compare", unsure}, {": no arm beside the baseline was measured.", plain}}
}

// verdict says what an effect means for a subject, as a whole sentence.
func verdict(e *record.Effects, w workload, subject string, x record.Effect) sentence {
	if x.Unequal != "" {
		subject += " (" + unequal + ")"
	}
	switch {
	case x.Verdict == record.Undecided:
		return undecided(e, w, subject, x)
	case x.Verdict != record.Cost && x.Verdict != record.Gain && x.Verdict != record.Negligible:
		return sentence{{"invalid", broken}, {": no answer for " + subject + because(x.Reason) + ".", plain}}
	case x.Typical == nil:
		return sentence{{x.Verdict.String(), verdictTone(x.Verdict)},
			{": " + subject + ", by an amount that is not known" + because(x.Reason) + ".", plain}}
	case x.Verdict == record.Negligible && x.Intermittent:
		s := sentence{{subject + " makes no difference larger than " + size(e.Margin), plain}}
		return append(s, intermittent(x)...)
	case x.Verdict == record.Negligible:
		return sentence{{subject + " makes ", plain}, {"no difference larger than " + size(e.Margin), good},
			{" (" + Interval(x.Typical) + ").", plain}}
	}
	s := sentence{{subject + " ", plain}}
	s = append(s, w.moves(x)...)
	if x.Intermittent {
		return append(s, intermittent(x)...)
	}
	return append(s, cell{".", plain})
}

// moves is the predicate of a cost or a gain: "costs 3.1 % of throughput
// [2.4, 3.8]".
func (w workload) moves(x record.Effect) sentence {
	m := w.metricWord(x.Metric)
	gain := x.Verdict == record.Gain
	verb := "costs"
	switch {
	case m.more && gain:
		verb = "gains"
	case !m.more && gain:
		verb = "lowers"
	case !m.more:
		verb = "raises"
	}
	amount, interval := loss(x.Typical, m.more == gain)
	if m.more {
		return sentence{{verb + " " + amount + " of " + m.of, verdictTone(x.Verdict)}, {" " + interval, plain}}
	}
	return sentence{{verb + " " + m.of + " by " + amount, verdictTone(x.Verdict)}, {" " + interval, plain}}
}

// intermittent goes on after the typical effect where the total disagrees.
func intermittent(x record.Effect) sentence {
	s := sentence{{" in a typical window, but it is ", plain}, {"intermittent", verdictTone(x.Verdict)}, {": ", plain}}
	if x.Slow > 0 {
		s = append(s, cell{share(x.Slow) + " of the windows are slow", plain})
	} else {
		s = append(s, cell{"some windows are far slower", plain})
	}
	if x.Total != nil {
		s = append(s, cell{"; all windows together: " + Interval(x.Total), plain})
	}
	return append(s, cell{".", plain})
}

// undecided says how wide the interval is, after how long, and what would
// narrow it. It never says that there is no difference.
func undecided(e *record.Effects, w workload, subject string, x record.Effect) sentence {
	if seen(x) {
		return inTheseRuns(w, subject, x)
	}
	s := sentence{{"undecided", unsure}, {" for " + subject, plain}}
	if x.Typical == nil {
		return append(s, cell{because(x.Reason) + ".", plain})
	}
	s = append(s, cell{": " + Interval(x.Typical), plain})
	if w.Seconds > 0 {
		s = append(s, cell{" after " + Duration(w.Seconds), plain})
	}
	if x.Needed > 0 {
		s = append(s, cell{"; about " + about(x.Needed) + " more would decide " + size(e.Margin), plain})
	}
	if x.Reason != "" {
		s = append(s, cell{" (" + x.Reason + ")", plain})
	}
	return append(s, cell{".", plain})
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + strings.TrimRight(reason, ".")
}

// parts names the step that a cost comes from; for an undecided total, a step
// that is decided all the same.
func parts(w workload, x record.Effect) sentence {
	if x.Verdict != record.Cost && x.Verdict != record.Undecided || x.Typical == nil || len(w.ladder) <= 2 {
		return nil // with one step there are no parts
	}
	step, ok := largest(w)
	if !ok {
		if x.Verdict == record.Cost {
			return say(" No single step stands out.")
		}
		return nil
	}
	phrase := w.word(step.Arm).phrase
	if w.real(step.Arm) {
		phrase = "the remainder beyond " + step.Baseline
	}
	amount, interval := loss(step.Typical, !w.metricWord(step.Metric).more)
	switch {
	case x.Verdict == record.Undecided,
		// Other steps win some of it back.
		step.Typical.Ratio < x.Typical.Ratio == w.metricWord(step.Metric).more:
		return say(" By itself " + phrase + " costs " + amount + " " + interval + ".")
	case math.Log(step.Typical.Ratio)/math.Log(x.Typical.Ratio) >= 0.5:
		return say(" Most of it is " + phrase + " (" + amount + ").")
	}
	return say(" The largest part is " + phrase + " (" + amount + ").")
}

// largest is the step with the largest decided cost in the primary metric.
func largest(w workload) (record.Effect, bool) {
	var most record.Effect
	found := false
	for _, arm := range w.ladder {
		x, ok := w.remainder[key{w.Primary, arm}]
		if !ok {
			x, ok = w.step[key{w.Primary, arm}]
		}
		if !ok || x.Verdict != record.Cost || x.Typical == nil {
			continue
		}
		if !found || math.Abs(math.Log(x.Typical.Ratio)) > math.Abs(math.Log(most.Typical.Ratio)) {
			most, found = x, true
		}
	}
	return most, found
}

// differingTwins are the twins that differ from the baseline that they are.
func (w workload) differingTwins() (out []record.Effect) {
	for _, arm := range w.twins {
		x, _ := w.primary(arm)
		if (x.Verdict == record.Cost || x.Verdict == record.Gain) && x.Typical != nil {
			out = append(out, x)
		}
	}
	return out
}

// doubts are what a reader must know before believing the answer.
func doubts(w workload) sentence {
	var s sentence
	for _, x := range w.differingTwins() {
		s = append(s, cell{" Do not trust this", broken},
			cell{": the twin, which is " + w.Baseline + " again, differs by " + Interval(x.Typical) + ".", plain})
	}
	if arms := w.twoModes; len(arms) > 0 {
		s = append(s, cell{" The " + w.metricWord(arms[0].Metric).of + " of " + list(namesOfModes(arms)) + " has ", plain},
			cell{"two modes", unsure}, cell{" over time.", plain})
	}
	failed := 0
	for _, c := range w.Checks {
		if c.Known && !c.OK {
			failed++
		}
	}
	if failed > 0 {
		s = append(s, cell{" " + plural(failed, "check") + " failed", broken}, cell{", see “can it be trusted”.", plain})
	}
	return s
}
