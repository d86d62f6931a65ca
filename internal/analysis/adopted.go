package analysis

import (
	"slices"

	"github.com/tarelab/tare/record"
)

// AdoptedLines are the settings of the user's server that are used otherwise or not at all: one line for
// each reason.
func AdoptedLines(all []record.Adopted) (lines []record.Said) {
	var reasons []record.Said
	of := map[record.Said][]any{}
	for _, a := range all {
		var text any = a.Name
		if a.Used != "" {
			text = usedInstead(a)
		}
		if !slices.Contains(reasons, a.Why) {
			reasons = append(reasons, a.Why)
		}
		if !slices.Contains(of[a.Why], text) {
			of[a.Why] = append(of[a.Why], text)
		}
	}
	const most = 12 // names in a line
	for _, why := range reasons {
		names := of[why]
		if more := len(names) - most; more > 0 {
			names = append(slices.Clone(names[:most]), moreAdopted(more))
		}
		lines = append(lines, adopted(names, why))
	}
	return lines
}

// adoptedWarnings say which settings of the user's server the arms do not have.
func adoptedWarnings(all []record.Adopted) (warnings []record.Warning) {
	for _, line := range AdoptedLines(all) {
		warnings = append(warnings, record.Warning{Text: notAsInServer(line)})
	}
	return warnings
}
