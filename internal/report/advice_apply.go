package report

import (
	"slices"

	"github.com/tarelab/tare/internal/report/handover"
	"github.com/tarelab/tare/record"
)

// applying has the lines that apply the proved remedy where the user runs the load or its neighbour, with the
// way back: one listing for each target that can have the settings.
func applying(l record.AdviceLoss) block {
	if l.Remedy == nil || l.Standing != record.StandingProved {
		return block{}
	}
	b := block{title: text("advise.apply")}
	settings := l.Candidates[*l.Remedy].Apply
	for _, on := range []record.SettingOn{record.OnLoad, record.OnNeighbour, record.OnServer} {
		own := slices.DeleteFunc(slices.Clone(settings), func(s record.RemedySetting) bool { return s.On != on })
		for _, t := range handover.Targets() {
			if s := t.Of(handover.Thing{}, own); len(s.Lines) > 0 {
				b.listings = append(b.listings, snippet(t.Name, on, s)...)
			}
		}
	}
	if len(b.listings) == 0 {
		return block{}
	}
	return b
}

// snippet is a file or commands, and how they are undone.
func snippet(target string, on record.SettingOn, s handover.Snippet) []listing {
	name := cell{text("advise.apply.target", "target", target, "on", on), strong}
	title := sentence{name}
	if s.File != "" {
		title = append(title, cell{": ", plain}, cell{s.File, code})
	}
	return []listing{{title, s.Lines}, {sentence{{text("advise.apply.back", "target", target, "on", on), faint}}, s.Undo}}
}
