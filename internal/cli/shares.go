package cli

import (
	"cmp"

	"github.com/tarelab/tare/internal/arms/inspect"
	"github.com/tarelab/tare/internal/host/volume"
	"github.com/tarelab/tare/internal/planning/plan"
	"github.com/tarelab/tare/record"
)

// sharedLines says which volumes of a workload share what their comparison is about.
func sharedLines(p *plan.Plan) (lines []record.Said) {
	if p.PodNode != "" {
		return nil
	}
	seen := map[record.Said]bool{}
	for _, l := range p.Loads {
		var all []volume.Volume
		for _, a := range l.Arms {
			all = append(all, a.Volume)
		}
		for _, line := range volume.Shared("/", cmp.Or(p.Scratch, inspect.DefaultScratch), all) {
			if !seen[line] {
				lines = append(lines, line)
			}
			seen[line] = true
		}
	}
	return lines
}

// withShared adds the lines of sharedLines to the warnings of a run.
func withShared(lines []record.Said, others func() []record.Warning) func() []record.Warning {
	return func() (all []record.Warning) {
		for _, line := range lines {
			all = append(all, record.Warning{Text: line, Remedy: record.Say("name_directory_elsewhere")})
		}
		if others != nil {
			all = append(all, others()...)
		}
		return all
	}
}
