package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/base/messages"
)

// legend explains the marks of tables that are printed one after the other, and what has no figure where no note of
// their block does.
func (in Language) legend(notes []sentence, tables ...table) []sentence {
	used := map[mark]bool{}
	star, noise, missing := messages.Key("mark.moved"), messages.Key("mark.noise"), false
	for _, t := range tables {
		star = cmp.Or(t.star, star)
		for _, c := range t.columns {
			if used[c.mark] = true; c.mark == inNoise {
				noise = "others.noise"
			}
		}
		for _, r := range t.rows {
			for _, e := range r {
				f := e.figure()
				used[f.mark], missing = true, missing || f.text == none
			}
		}
	}
	if slices.ContainsFunc(notes, func(n sentence) bool { return strings.HasPrefix(n.String(), none) }) {
		missing = false
	}
	var said []string
	for _, m := range []struct {
		used bool
		key  messages.Key
	}{{used[moved], star}, {used[inNoise], noise}, {used[unequal], "mark.unequal"}, {missing, "mark.none"}} {
		if m.used {
			said = append(said, in.text(m.key))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []sentence{{{in.semicolons(said...), faint}}}
}
