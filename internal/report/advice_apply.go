package report

import (
	"slices"

	"github.com/tarelab/tare/internal/report/handover"
	"github.com/tarelab/tare/record"
)

// applying has the lines that apply the proved remedy where the user runs the load or its neighbour, with the
// way back: one item for each target that can have the settings.
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
				b.items = append(b.items, item{label: cell{text("advise.apply.target", "target", s.Target, "on", on), strong}, text: snippet(s)})
			}
		}
	}
	if len(b.items) == 0 {
		return block{}
	}
	return b
}

// snippet is a file or commands, and how they are undone.
func snippet(s handover.Snippet) sentence {
	var out sentence
	if s.File != "" {
		out = append(out, cell{s.File + ":", plain}, lineBreak)
	}
	for _, line := range s.Lines {
		out = append(out, cell{"\u00a0\u00a0", plain}, cell{line, code}, lineBreak)
	}
	out = append(out, cell{text("advise.apply.back"), faint})
	for _, line := range s.Undo {
		out = append(out, lineBreak, cell{"\u00a0\u00a0", plain}, cell{line, code})
	}
	return out
}
