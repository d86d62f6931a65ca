package csv

import (
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

// notArms are names of columns that are no arms, in a table whose rows are metrics.
var notArms = []string{"difference", "diff", "change", "delta", "ratio", "overhead", "loss", "unit", "units", "%", "percent", "slowdown", "relative", "δ", "comment", "note", "notes"}

// transposed reads a table whose rows are metrics and whose columns are arms. It returns false for
// another table: one in which a column names a metric, or no field of the first column does.
func (p *importer) transposed() bool {
	read := &parser{Scan: format.NewScan(strings.NewReader(""), nil)}
	runs := make([]*observed.Run, len(p.columns))
	found := false
	for _, row := range p.rows {
		c := column(row.Text[0])
		name := strings.ToLower(c.Name)
		m, setting := Metric(name), slices.Contains(settingNames, strings.ReplaceAll(name, "_", " "))
		if m.Name == "" && !setting {
			continue
		}
		for i := 1; i < len(row.Text); i++ {
			if name := p.columns[i].Name; name == "" || slices.Contains(notArms, strings.ToLower(name)) {
				continue
			}
			if runs[i] == nil {
				runs[i] = &observed.Run{}
				runs[i].Tool, runs[i].Line, runs[i].Arm = "table", row.Line, p.columns[i].Name
			}
			if setting {
				runs[i].MakesLoad(name, row.Text[i])
				continue
			}
			x := read.figure(row.Text[i], &c, false)
			if runs[i].Figure(m).N() == 0 { // only the first row of a metric counts
				runs[i].Figure(m).Add(x)
				found = found || x.Known()
			}
		}
	}
	if !found {
		return false
	}
	p.runs, p.runTexts, p.spans = p.runs[:p.first], p.runTexts[:p.first], p.spans[:p.first]
	for _, r := range runs {
		if r != nil {
			p.runs, p.runTexts, p.spans = append(p.runs, r), append(p.runTexts, nil), append(p.spans, [3]float64{})
		}
	}
	return true
}
