package report

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/report/handover"
	"github.com/tarelab/tare/record"
)

// applying has the lines that apply the proved remedy where the user runs the load or its neighbour, with the
// way back: one item for each target that can have the settings, then the reasons of the others.
func applying(l record.AdviceLoss) block {
	if l.Remedy == nil || l.Standing != record.StandingProved {
		return block{}
	}
	b := block{title: text("advise.apply")}
	c := l.Candidates[*l.Remedy]
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
		apply, undo := settingsOn(on, c.Apply), settingsOn(on, c.Undo)
		if len(apply) == 0 {
			continue
		}
		var without arrange.Grouped[string]
		for _, t := range handover.Targets() {
			s := t.Of(handover.Thing{}, apply, undo)
			if len(s.Lines) > 0 {
				label := cell{text("advise.apply.target", "target", s.Target, "on", on), strong}
				b.items = append(b.items, item{label: label, text: snippet(s)})
				continue
			}
			if i := slices.IndexFunc(s.Skipped, func(k handover.Skipped) bool { return !k.Elsewhere }); i >= 0 {
				without.Add(s.Skipped[i].Reason, s.Target)
			}
		}
		var reasons []string
		for reason, targets := range without.All() {
			reasons = append(reasons, text("advise.apply.reason", "targets", strings.Join(targets, ", "), "reason", reason))
		}
		if len(reasons) > 0 {
			label := cell{text("advise.apply.none", "on", on), strong}
			b.items = append(b.items, item{label: label, text: say(strings.Join(reasons, "; "))})
		}
	}
	return b
}

// lineTargets names the targets that have lines for a remedy.
func lineTargets(c record.Candidate) sentence {
	var names []string
	for _, t := range handover.Targets() {
		for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
			s := t.Of(handover.Thing{}, settingsOn(on, c.Apply), settingsOn(on, c.Undo))
			if len(s.Lines) > 0 && !slices.Contains(names, s.Target) {
				names = append(names, s.Target)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return msg("advise.lines", "targets", strings.Join(names, ", "))
}

func settingsOn(on record.SettingOn, all []record.RemedySetting) []record.RemedySetting {
	return slices.DeleteFunc(slices.Clone(all), func(s record.RemedySetting) bool { return s.On != on })
}

// snippet is a file and commands, what to know before, and how they are undone.
func snippet(s handover.Snippet) sentence {
	var out sentence
	each := func(lines []string) {
		for _, line := range lines {
			out = append(out, lineBreak, cell{"  " + line, typed})
		}
	}
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			out = append(out, lineBreak, cell{title, faint})
			each(lines)
		}
	}
	if len(s.Notes) > 0 {
		out = append(out, cell{strings.Join(s.Notes, "; "), plain})
	}
	if s.File != "" {
		part(text("advise.apply.file", "file", s.File), s.Lines)
	} else {
		each(s.Lines)
	}
	part(text("advise.apply.then"), s.Then)
	part(text("advise.apply.back"), s.Undo)
	if out[0] == lineBreak {
		out = out[1:]
	}
	return out
}
