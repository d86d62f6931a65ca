package report

import (
	"slices"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/report/handover"
	"github.com/tarelab/tare/record"
)

// applying has the lines that apply the proved remedy where the user runs the load or its neighbour, with the
// way back: listings for each target that can have the settings, then the reasons of the others.
func (in Language) applying(h record.Host, l record.AdviceLoss) block {
	if l.Remedy == nil || l.Standing != record.StandingProved {
		return block{}
	}
	b := block{title: in.text("advise.apply")}
	c := l.Candidates[*l.Remedy]
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
		var without arrange.Grouped[record.Said]
		for _, s := range snippets(h, c, on) {
			if len(s.Lines) > 0 {
				b.listings = append(b.listings, in.listings(on, s)...)
				continue
			}
			if i := slices.IndexFunc(s.Skipped, func(k handover.Skipped) bool { return !k.Elsewhere }); i >= 0 {
				without.Add(s.Skipped[i].Reason, s.Target)
			}
		}
		for reason, targets := range without.All() {
			b.notes = append(b.notes, in.msg("advise.apply.none", "targets", in.list(targets), "on", string(on), "reason", in.said(reason)))
		}
	}
	if len(b.listings) == 0 && len(b.notes) == 0 {
		return block{}
	}
	return b
}

// snippets are those of all targets for the settings of a remedy on one subject of a host.
func snippets(h record.Host, c record.Candidate, on record.SettingOn) (all []handover.Snippet) {
	other := func(s record.RemedySetting) bool { return s.On != on }
	apply, undo := slices.DeleteFunc(slices.Clone(c.Apply), other), slices.DeleteFunc(slices.Clone(c.Undo), other)
	for _, t := range handover.Targets() {
		all = append(all, t.Of(handover.Thing{Cgroup: h.Cgroup}, apply, undo))
	}
	return all
}

// lineTargets names the targets that have lines for a remedy.
func (in Language) lineTargets(h record.Host, c record.Candidate) sentence {
	var names []string
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
		for _, s := range snippets(h, c, on) {
			if len(s.Lines) > 0 && !slices.Contains(names, s.Target) {
				names = append(names, s.Target)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return in.msg("advise.lines", "targets", in.names(names))
}

// listings are a file and commands, and how they are undone. The title has what must be known before.
func (in Language) listings(on record.SettingOn, s handover.Snippet) []listing {
	subject := string(on)
	title := sentence{{in.text("advise.apply.target", "target", s.Target, "on", subject), strong}}
	if s.File != "" {
		title = in.msg("join.colon", "subject", title, "what", cell{s.File, code})
	}
	if len(s.Notes) > 0 {
		title = in.msg("join.remark", "subject", title, "what", in.semicolons(in.saidAll(s.Notes)...))
	}
	all := []listing{{title, s.Lines}}
	if len(s.Then) > 0 {
		all = append(all, listing{sentence{{in.text("advise.apply.then", "target", s.Target, "on", subject), faint}}, s.Then})
	}
	if len(s.Check) > 0 {
		all = append(all, listing{sentence{{in.text("advise.apply.check", "target", s.Target, "on", subject), faint}}, s.Check})
	}
	return append(all, listing{sentence{{in.text("advise.apply.back", "target", s.Target, "on", subject), faint}}, s.Undo})
}
