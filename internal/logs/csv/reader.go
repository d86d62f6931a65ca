package csv

import (
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// Kind is the kind of tables.
const Kind format.Kind = "csv"

// Reader reads tables. They belong to no tool; their first line has the names of the columns.
var Reader = observed.Reader{Tool: &format.Tool{Name: "CSV", Kind: Kind,
	Shapes: []format.Shape{{Kind: Kind, Line: isRule, Confidence: format.Likely}, {Kind: Kind, Line: header, FirstLine: true, Confidence: format.Guess}}},
	Kinds: []observed.Kind{{Name: Kind, Read: importFile}}}

// header reports that a line looks like the names of columns.
func header(line []byte) bool {
	for _, sep := range []string{",", ";", "\t"} {
		fields := strings.Split(string(line), sep)
		if len(fields) < 2 {
			continue
		}
		names := 0
		for _, f := range fields {
			f = strings.Trim(strings.TrimSpace(f), `"`)
			if f != "" && !format.Whole([]byte(f)).Known() {
				names++
			}
		}
		return names == len(fields)
	}
	return false
}
