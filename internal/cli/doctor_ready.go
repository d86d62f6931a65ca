package cli

import (
	"slices"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/report"
)

// ready prints what this host is ready for, its loads, and what it lacks with the remedy.
func (p *sheet) ready(a *doctorAnswer, details bool) {
	p.heading(p.c.readyLine(a))
	if !details {
		for _, ch := range a.failed() {
			title := p.c.in.Static(ch.Title)
			p.answer(title, report.Width(title), ch)
		}
	}
	p.arms(p.text("doctor.loads"), a.Loads)
	if details {
		p.arms(p.text("doctor.arms"), a.Arms)
		return
	}
	missing := slices.DeleteFunc(slices.Clone(a.Arms), func(x checkAnswer) bool {
		return x.Answer == "yes" || !slices.ContainsFunc(purposes, func(r readiness) bool { return r.arm == x.Name })
	})
	if len(missing) > 0 {
		p.arms(p.text("doctor.missing"), missing)
	}
}

// readyLine is "ready for containers and neighbours; not for pods".
func (c *console) readyLine(a *doctorAnswer) string {
	if slices.ContainsFunc(a.Checks, func(ch checkAnswer) bool { return ch.Name == "host" && ch.Answer == "no" }) {
		return c.text("doctor.notready", "host", a.Host.Name)
	}
	ready, not := []string{"tare run"}, []string(nil)
	for _, x := range purposes {
		has := slices.ContainsFunc(a.Arms, func(arm checkAnswer) bool {
			return arm.Answer == "yes" && arm.Name == x.arm
		})
		if has {
			ready = append(ready, c.in.Static(x.purpose))
		} else {
			not = append(not, c.in.Static(x.purpose))
		}
	}
	if len(not) > 0 {
		return c.text("doctor.ready.not", "host", a.Host.Name, "list", ready, "others", not)
	}
	return c.text("doctor.ready", "host", a.Host.Name, "list", ready)
}

// aboutArms are checks whose consequences the arms show.
var aboutArms = append(facts.Features(), "groups", "controllers", "freezer", "qos")

// failed are the checks that failed, with a remedy, and that no arm shows.
func (a *doctorAnswer) failed() (all []checkAnswer) {
	for _, ch := range a.Checks {
		if ch.Answer == "no" && !ch.Remedy.IsZero() && !slices.Contains(aboutArms, ch.Name) {
			all = append(all, ch)
		}
	}
	return all
}
