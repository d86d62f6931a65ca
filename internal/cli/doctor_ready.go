package cli

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/report"
)

// ready prints what this host is ready for, its loads, and what it lacks with the remedy.
func (p *sheet) ready(a *doctorAnswer, details bool) {
	p.heading("%s", readyLine(a, p.c.translate))
	if !details {
		for _, ch := range a.failed() {
			title := p.c.translate.of(ch.Title)
			p.answer(title, report.Width(title), ch)
		}
	}
	p.arms("loads and databases", a.Loads)
	if details {
		p.arms("arms", a.Arms)
		return
	}
	missing := slices.DeleteFunc(slices.Clone(a.Arms), func(x checkAnswer) bool {
		return x.Answer == "yes" || !slices.ContainsFunc(purposes, func(r readiness) bool { return r.arm == x.Name })
	})
	if len(missing) > 0 {
		p.arms("not ready", missing)
	}
}

// readyLine is "ready for containers and neighbours; not for pods".
func readyLine(a *doctorAnswer, t translation) string {
	if slices.ContainsFunc(a.Checks, func(ch checkAnswer) bool { return ch.Name == "host" && ch.Answer == "no" }) {
		return a.Host.Name + ": not ready for tare run"
	}
	var ready, not []string
	for _, x := range purposes {
		has := slices.ContainsFunc(a.Arms, func(arm checkAnswer) bool {
			return arm.Answer == "yes" && arm.Name == x.arm
		})
		if has {
			ready = append(ready, t.of(x.purpose))
		} else {
			not = append(not, t.of(x.purpose))
		}
	}
	line := a.Host.Name + ": ready for " + strings.Join(append([]string{"tare run"}, ready...), ", ")
	if len(not) > 0 {
		line += "; not for " + strings.Join(not, ", ")
	}
	return line
}

// aboutArms are checks whose consequences the arms show.
var aboutArms = append(facts.Features(), "groups", "controllers", "freezer", "qos")

// failed are the checks that failed, with a remedy, and that no arm shows.
func (a *doctorAnswer) failed() (all []checkAnswer) {
	for _, ch := range a.Checks {
		if ch.Answer == "no" && ch.Remedy != "" && !slices.Contains(aboutArms, ch.Name) {
			all = append(all, ch)
		}
	}
	return all
}
