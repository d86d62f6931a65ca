package csv

import (
	"slices"
	"strings"
)

// turn reads a table whose rows are metrics and settings and whose columns are arms: it becomes a table with one
// row for each arm. turn returns false for other tables.
func (p *importer) turn(t *tableReader) bool {
	if len(t.columns) < 2 || len(t.rows) == 0 || t.inHeadings(p.Columns) {
		return false
	}
	names := make([]meaning, len(t.rows))
	found := false
	rated := slices.ContainsFunc(t.rows, func(r Row) bool { f := figureOf(r.Text[0]); return f.metric(false).Unit == "1/s" })
	for i, row := range t.rows {
		names[i] = p.rowMeaning(row.Text[0], rated)
		found = found || names[i].metric.Name != ""
	}
	if !found {
		return false
	}
	arms, unit := t.armColumns(p)
	if arms == nil {
		return false
	}
	p.turnInto(t, names, arms, unit)
	return true
}

// rowMeaning is what a row of a turned table is.
func (p *importer) rowMeaning(name string, rated bool) meaning {
	m := p.meaningOf(name, rated)
	if m.role == roleClock { // "time (s)" is a figure here
		m = meaning{metric: figureOf(name).metric(rated)}
	}
	return m
}

// inHeadings reports whether a heading says what the rows are, so that the table is not turned.
func (t *tableReader) inHeadings(c *Columns) bool {
	return slices.ContainsFunc(t.columns[1:], func(h Column) bool {
		m, named := c.find(h.Name)
		f, role := figureOf(h.Name), roleOf(h.Name)
		switch {
		case named:
			return m.metric.Name != "" || m.role != roleArm && m.role != roleRemark
		case role == "" || isArm(h.Name):
			return f.metric(true).Name != ""
		}
		return role != roleRemark && role != roleUnit
	})
}

// armColumns returns the columns of a turned table that are arms, and the one with the units; -1: none. A column that
// is none of them, and is not known to be something else, becomes unknown. nil: no column can be an arm.
func (t *tableReader) armColumns(p *importer) (arms []int, unit int) {
	unit = -1
	for i, c := range t.columns[1:] {
		i++
		m, named := p.find(c.Name)
		role := roleOf(c.Name)
		switch {
		case named && m.role == roleArm, !named && isArm(c.Name):
			arms = append(arms, i)
		case named, role == roleRemark:
		case role == roleUnit:
			unit = i
		case c.Name == "":
		case p.rest:
			p.leftOut(c.Name)
		default:
			p.unknown.add(t, i, userArm)
		}
	}
	if arms == nil && p.unknown.has(t) {
		arms = []int{}
	}
	return arms, unit
}

// isArm reports whether a heading consists of words that name arms.
func isArm(heading string) bool {
	f := figureOf(heading)
	return f.arm != "" && f.kind == "" && f.statistic == "" && f.unit == "" && len(f.rest) == 0
}

// turnInto rewrites a turned table.
func (p *importer) turnInto(t *tableReader, names []meaning, arms []int, unit int) {
	columns, meanings := []Column{{Name: "arm", scale: 1}}, []meaning{{role: roleArm}}
	out := make([]Row, len(arms))
	for k, i := range arms {
		out[k] = Row{Line: t.rows[0].Line, Text: []string{t.columns[i].Name}}
	}
	for n, row := range t.rows {
		m := names[n]
		switch {
		case m.role == roleRemark:
			continue
		case !m.means():
			if p.rest {
				p.leftOut(row.Text[0])
			} else {
				p.unknown.addRow(t, row)
			}
			continue
		}
		c := column(row.Text[0])
		if unit >= 0 {
			if u := column("x (" + row.Text[unit] + ")"); u.Unit != "" {
				c.Unit, c.scale = u.Unit, u.scale
			}
		}
		columns, meanings = append(columns, c), append(meanings, m)
		for k, i := range arms {
			out[k].Text = append(out[k].Text, row.Text[i])
		}
	}
	t.columns, t.meanings, t.rows = columns, meanings, out
}

// longForm rewrites a table with one figure a row, whose metric and unit are in columns of their own: each row
// becomes one with a column for each metric.
func (t *tableReader) longForm() {
	role := func(r string) int { return slices.IndexFunc(t.meanings, func(m meaning) bool { return m.role == r }) }
	name, value, unit := role(roleMetric), role(roleValue), role(roleUnit)
	if name < 0 || value < 0 || slices.ContainsFunc(t.meanings, func(m meaning) bool { return m.metric.Name != "" }) {
		return
	}
	l := &longTable{at: map[string]int{}, rows: map[string]int{}, column: map[string]int{}}
	for i := range t.columns {
		if i != name && i != value && i != unit {
			l.keep = append(l.keep, i)
			l.columns, l.meanings = append(l.columns, t.columns[i]), append(l.meanings, t.meanings[i])
		}
	}
	for _, row := range t.rows {
		heading := row.Text[name]
		if unit >= 0 && row.Text[unit] != "" {
			heading += " (" + row.Text[unit] + ")"
		}
		l.add(t, row, heading, row.Text[value])
	}
	t.columns, t.meanings, t.rows = l.columns, l.meanings, l.out
	for i := range t.rows {
		for len(t.rows[i].Text) < len(t.columns) {
			t.rows[i].Text = append(t.rows[i].Text, "")
		}
	}
}

// longTable is a table with one figure a row while it is rewritten.
type longTable struct {
	keep     []int
	columns  []Column
	meanings []meaning
	out      []Row
	at       map[string]int // by what a row says about itself and its metric: how many rows had it
	rows     map[string]int // by what a row says about itself and the number of its repetition: index in out
	column   map[string]int // by heading: index in columns
}

func (l *longTable) add(t *tableReader, row Row, heading, value string) {
	i, ok := l.column[heading]
	if !ok {
		i = len(l.columns)
		l.column[heading] = i
		l.columns = append(l.columns, column(heading))
		f := figureOf(heading)
		l.meanings = append(l.meanings, meaning{metric: f.metric(true), arm: f.arm})
	}
	key := t.key(row)
	n := l.at[key+"\n"+heading]
	l.at[key+"\n"+heading]++
	key += "\n" + strings.Repeat("+", n)
	k, ok := l.rows[key]
	if !ok {
		k = len(l.out)
		l.rows[key] = k
		r := Row{Line: row.Line}
		for _, c := range l.keep {
			r.Text = append(r.Text, row.Text[c])
		}
		l.out = append(l.out, r)
	}
	for len(l.out[k].Text) <= i {
		l.out[k].Text = append(l.out[k].Text, "")
	}
	l.out[k].Text[i] = value
}
