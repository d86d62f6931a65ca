package report

import (
	"math"
	"strings"

	"github.com/tarelab/tare/record"
)

// oneSentence is the verdict over all workloads, for the top of a page.
func oneSentence(e *record.Effects, ws []workload) sentence {
	var s sentence
	if word, torn := ended(e.Ended); torn && len(ws) > 0 {
		s = sentence{{upper(word), broken}, {". ", plain}}
	}
	switch len(ws) {
	case 0:
		return append(s, cell{"No result: nothing was measured.", broken})
	case 1:
		a := answer(e, ws[0])
		if len(a) > 0 {
			a[0].text = upper(a[0].text)
		}
		return append(s, a...)
	}
	var subjects ordered
	found := map[string]*said{}
	var priced []sentence
	for _, w := range ws {
		if p := pricedAll(e, w); w.top() == "" && len(p) > 0 {
			priced = append(priced, append(sentence{{w.Name + ": ", plain}}, p...))
			continue
		}
		if b := busy(e, w); w.top() == "" && len(b) > 0 {
			priced = append(priced, append(sentence{{w.Name + ": ", plain}}, b...))
		}
		subject, x, ok := asked(e, w)
		if found[subject] == nil {
			found[subject] = newSaid()
		}
		subjects.add(subject)
		found[subject].add(w, x, ok)
	}
	for i, subject := range subjects {
		if i > 0 {
			s = append(s, cell{" ", plain})
		}
		s = append(s, found[subject].sentence(subject, e.Margin)...)
	}
	for i, p := range priced {
		if i > 0 || len(subjects) > 0 {
			s = append(s, cell{" ", plain})
		}
		s = append(s, p...)
	}
	return s
}

// asked is the arm that the question is about, and how to call it: the top of
// the ladder; where arms are beside each other, the one that costs or gains most.
func asked(e *record.Effects, w workload) (string, record.Effect, bool) {
	if top := w.top(); top != "" {
		x, _ := w.primary(top)
		if w.real(top) {
			return w.word(top).phrase, x, true
		}
		return "everything up to " + w.word(top).phrase, x, true
	}
	var most record.Effect
	for _, arm := range w.beside {
		x, ok := w.primary(arm)
		if !ok || onBusyNode(e, w, arm) {
			continue
		}
		if most.Arm == "" || moved(x) > moved(most) {
			most = x
		}
	}
	return w.word(most.Arm).phrase, most, most.Arm != ""
}

// moved is how far a decided effect is from none, as a logarithm; an unequal arm
// answers another question.
func moved(x record.Effect) float64 {
	if x.Typical == nil || x.Unequal != "" || x.Verdict != record.Cost && x.Verdict != record.Gain {
		return 0
	}
	return math.Abs(math.Log(x.Typical.Ratio))
}

// said is what holds of one subject in which workloads.
type said struct {
	moved   map[string][]string // "costs … of throughput": in which workloads
	doubted []string            // there the twin differs from its baseline
	order   ordered
	tones   map[string]tone
	equal   []string
	open    []string
	nothing []string
}

func newSaid() *said { return &said{moved: map[string][]string{}, tones: map[string]tone{}} }

func (s *said) add(w workload, x record.Effect, ok bool) {
	switch {
	case !ok, x.Verdict == record.Invalid:
		s.nothing = append(s.nothing, w.Name)
	case x.Verdict == record.Undecided:
		s.open = append(s.open, w.Name)
	case x.Verdict == record.Negligible:
		s.equal = append(s.equal, w.Name)
	case len(w.differingTwins()) > 0:
		s.doubted = append(s.doubted, w.Name)
	case (x.Verdict == record.Cost || x.Verdict == record.Gain) && x.Typical != nil:
		text := w.moves(x)[0].text
		if x.Intermittent {
			text += ", intermittently,"
		}
		s.order.add(text)
		s.moved[text] = append(s.moved[text], w.Name)
		s.tones[text] = verdictTone(x.Verdict)
	default:
		s.nothing = append(s.nothing, w.Name)
	}
}

// sentence puts what is known first. What is undecided is never put in the
// words of "no difference".
func (s *said) sentence(subject string, margin float64) sentence {
	var out sentence
	if subject == "" {
		return sentence{{"No answer", broken}, {" for " + list(s.nothing) + ".", plain}}
	}
	join := func(text string) string {
		if len(out) == 0 {
			return begin(subject) + " "
		}
		return text
	}
	for _, text := range s.order {
		out = append(out, cell{join(", "), plain}, cell{text, s.tones[text]}, cell{" in " + list(s.moved[text]), plain})
	}
	if len(s.equal) > 0 {
		out = append(out, cell{join("; "), plain}, cell{"makes ", plain},
			cell{"no difference larger than " + size(margin), good}, cell{" in " + list(s.equal), plain})
	}
	for _, rest := range []struct {
		word string
		tone tone
		in   []string
	}{{"undecided", unsure, s.open}, {"not to be trusted", broken, s.doubted}, {"no answer", broken, s.nothing}} {
		switch {
		case len(rest.in) == 0:
		case len(out) == 0:
			out = append(out, cell{upper(rest.word), rest.tone}, cell{" for " + subject + " in " + list(rest.in), plain})
		default:
			out = append(out, cell{"; ", plain}, cell{rest.word, rest.tone}, cell{" in " + list(rest.in), plain})
		}
	}
	return append(out, cell{".", plain})
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// begin is how a sentence begins with a subject: a name stays as it was given.
func begin(subject string) string {
	if strings.HasPrefix(subject, "the ") || strings.HasPrefix(subject, "everything ") {
		return upper(subject)
	}
	return subject
}
