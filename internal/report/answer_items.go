package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// What stands below the answer: checks, what was not tested, what to do next.

// checksItem is the checks that failed and those that cannot tell, in one line; more
// is where the rest is said.
func checksItem(e *record.Effects, more sentence) []item {
	failed, which := checksOf(e, func(l record.LoadAnswer) []string { return l.Failed })
	untold, open := checksOf(e, func(l record.LoadAnswer) []string { return l.Untold })
	var parts, brief, least []sentence
	if failed > 0 {
		parts = append(parts, msg("checks.failed", "n", failed, "which", strings.Join(which, "; ")))
		brief = append(brief, parts[0])
		least = append(least, msg("checks.failed.brief", "n", failed))
	}
	if untold > 0 {
		parts = append(parts, msg("checks.untold", "n", untold, "which", strings.Join(open, "; ")))
		brief = append(brief, msg("checks.untold.brief", "n", untold))
		least = append(least, brief[len(brief)-1])
	}
	if len(parts) == 0 {
		return nil
	}
	return []item{labelled("label.checks", joined("; ", parts...),
		joined("", joined("; ", brief...), more), joined("", joined("; ", least...), more))}
}

// mostNamed is how many loads of a check are named in the answer.
const mostNamed = 4

// checksOf counts checks over the loads, and names each with its loads. Of more loads than can
// be named, a check counts once.
func checksOf(e *record.Effects, of func(record.LoadAnswer) []string) (n int, words []string) {
	var kinds arrange.Grouped[string]
	all := len(answerOf(e).Loads)
	for _, l := range answerOf(e).Loads {
		for _, kind := range of(l) {
			kinds.Add(kind, l.Workload)
		}
	}
	for kind, loads := range kinds.All() {
		count := len(loads)
		switch {
		case all > mostNamed && len(loads) == all:
			kind, count = text("checks.all", "kind", kind, "n", all), 1
		case len(loads) > mostNamed:
			named := append(slices.Clone(loads[:mostNamed-1]), text("checks.more", "n", len(loads)-mostNamed+1))
			kind, count = text("checks.one", "kind", kind, "loads", list(named)), 1
		case all > 1:
			kind = text("checks.one", "kind", kind, "loads", list(loads))
		}
		n, words = n+count, append(words, kind)
	}
	return n, words
}

func untestedItems(e *record.Effects) (items []item) {
	var told []record.Left
	for _, l := range answerOf(e).Untested {
		if l.Workload = ""; slices.Contains(told, l) {
			continue // the same for several loads
		}
		told = append(told, l)
		s := msg("untested.arm", "arm", l.Arm, "reason", l.Reason)
		if l.Remedy == "" {
			items = append(items, labelled("label.untested", s, msg("untested.why", "arm", l.Arm)))
			continue
		}
		remedy := cell{" → " + l.Remedy, strong}
		items = append(items, labelled("label.untested", append(s, remedy),
			append(say(l.Arm), remedy), msg("untested.why", "arm", l.Arm)))
	}
	return items
}

// nextItems are what more time would buy and what to do; dir is the result
// directory, where it is known.
func nextItems(e *record.Effects, dir string) []item {
	a := answerOf(e)
	items := offers(a)
	var quieter, briefly []sentence
	for _, n := range a.Next {
		switch n.Kind {
		case record.NextContinue:
			if dir == "" {
				dir = "DIR"
			}
			s := text("next.continue", "dir", quote(dir), "budget", fmt.Sprintf("%.0fm", n.Seconds/60))
			items = append(items, labelled("label.next", sentence{{s, code}}))
		case record.NextDedicated:
			quieter = append(quieter, msg("next.dedicated", "high", whole(a.Noise.StealHigh)))
			briefly = append(briefly, msg("next.dedicated.brief", "high", whole(a.Noise.StealHigh)))
		case record.NextQuieter:
			quieter = append(quieter, msg("next.quieter", "high", whole(a.Noise.ForeignHigh)))
			briefly = append(briefly, msg("next.quieter.brief", "high", whole(a.Noise.ForeignHigh)))
		}
	}
	if len(quieter) > 0 {
		items = append(items, labelled("label.quieter", joined("; ", quieter...), joined("; ", briefly...)))
	}
	return items
}

// loose is the factor between the ends of a forecast from which on both are said.
const loose = 2.25

// offers are what more time would buy, the dearest of which may be left out.
func offers(a record.Answers) []item {
	var all []string
	for _, o := range a.Menu {
		if o.Soonest > 0 && o.Latest > loose*o.Soonest {
			all = append(all, text("more.between", "half", quantity.Size(o.Half), "from", quantity.About(o.Soonest), "to", quantity.About(o.Latest)))
		} else {
			all = append(all, text("more.offer", "half", quantity.Size(o.Half), "time", quantity.About(o.Seconds)))
		}
	}
	key := messages.Key("more.all")
	if len(a.Loads) > 1 {
		key = "more.loads"
	}
	var forms []sentence
	for n := len(all); n > 0; n-- {
		forms = append(forms, msg(key, "offers", strings.Join(all[:n], ", "), "n", len(a.Loads)))
	}
	if len(forms) == 0 {
		return nil
	}
	return []item{labelled("label.more", forms[0], forms[1:]...)}
}

// launching is the time in seconds that the subjects of all loads need for the launches that a verdict
// needs; few is false if one of them that was measured does not lack launches.
func launching(e *record.Effects, ws []workload) (more float64, few bool) {
	for _, w := range ws {
		for _, f := range loadAnswer(e, w.Name).Findings {
			if f.Effect.Typical == nil {
				continue
			}
			if !w.FewLaunches(f.Effect) {
				return 0, false
			}
			more, few = more+w.MoreLaunches(f.Effect), true
			break // the arms of a load are launched together
		}
	}
	return more, few
}
