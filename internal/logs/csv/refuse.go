package csv

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// UnknownColumns is the error about tables with columns that are neither known nor named by the user.
type UnknownColumns struct{ Tables []UnknownTable }

// UnknownTable are the unknown columns of one table.
type UnknownTable struct {
	File    string
	Line    int // of the heading
	Columns []Proposal
}

// Proposal is an unknown column and what it may be.
type Proposal struct {
	Name, Values string
	As           string // the value of --column: "cv=ignore"
}

func (u *UnknownColumns) Error() string {
	var b strings.Builder
	for i, t := range u.Tables {
		if i > 0 {
			b.WriteString("\n")
		}
		if t.File != "" {
			b.WriteString(t.File + ": ")
		}
		b.WriteString(unknownIn(t.Line, len(t.Columns)))
		width := 0
		for _, p := range t.Columns {
			width = max(width, len([]rune(p.Name)))
		}
		for _, p := range t.Columns {
			fmt.Fprintf(&b, "\n  %-*s  %s  -> --column '%s'", width, p.Name, p.Values, p.As)
		}
	}
	return b.String()
}

// Join adds the tables of err, if it is an UnknownColumns, under the name of their file.
func (u *UnknownColumns) Join(file string, err error) bool {
	var more *UnknownColumns
	if !errors.As(err, &more) {
		return false
	}
	for _, t := range more.Tables {
		t.File = file
		u.Tables = append(u.Tables, t)
	}
	return true
}

// Proposals lists the proposals of all tables, each once.
func (u *UnknownColumns) Proposals() (out []string) {
	for _, t := range u.Tables {
		for _, p := range t.Columns {
			if !slices.Contains(out, p.As) {
				out = append(out, p.As)
			}
		}
	}
	return out
}

func (u *UnknownColumns) propose(line int, p Proposal) {
	if n := len(u.Tables); n == 0 || u.Tables[n-1].Line != line {
		u.Tables = append(u.Tables, UnknownTable{Line: line})
	}
	t := &u.Tables[len(u.Tables)-1]
	if !slices.ContainsFunc(t.Columns, func(q Proposal) bool { return q.As == p.As }) {
		t.Columns = append(t.Columns, p)
	}
}

// has reports whether a column of the table is unknown.
func (u *UnknownColumns) has(t *tableReader) bool {
	n := len(u.Tables)
	return n > 0 && u.Tables[n-1].Line == t.headLine()
}

const (
	userArm    = "arm"
	userIgnore = "ignore"
)

// add adds a column of a table.
func (u *UnknownColumns) add(t *tableReader, column int, as string) {
	name := t.columns[column].Name
	u.propose(t.headLine(), Proposal{Name: name, Values: t.sample(column), As: name + "=" + as})
}

// addRow adds a row of a turned table.
func (u *UnknownColumns) addRow(t *tableReader, row Row) {
	u.propose(t.headLine(), Proposal{Name: row.Text[0], Values: strings.Join(row.Text[1:], ", "), As: row.Text[0] + "=" + userIgnore})
}

// sample is the beginning of the values of a column.
func (t *tableReader) sample(column int) string {
	var all []string
	for _, row := range t.rows {
		v := row.Text[column]
		if r := []rune(v); len(r) > 20 {
			v = string(r[:20]) + "..."
		}
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	if len(all) > 4 {
		all = append(all[:4], "...")
	}
	return strings.Join(all, ", ")
}

// complete reports whether every column of a table is known or named. If not, it proposes what the others may be. A
// table without any figure, on a page with others, is not read.
func (p *importer) complete(t *tableReader) bool {
	var unknown []int
	for i := range t.meanings {
		if m := &t.meanings[i]; !m.means() {
			if p.rest || t.empty(i) {
				if m.role = roleRemark; !t.empty(i) {
					p.leftOut(t.columns[i].Name)
				}
				continue
			}
			unknown = append(unknown, i)
		} else if m.said {
			p.leftOut(t.columns[i].Name)
		}
	}
	for i := range t.meanings {
		if m := &t.meanings[i]; m.role == roleMetric || m.role == roleValue || m.role == roleUnit {
			m.role = roleRemark // without the other two they say nothing
		}
	}
	if p.unknown.has(t) { // the turned table
		return false
	}
	figures := slices.ContainsFunc(t.meanings, func(m meaning) bool { return m.metric.Name != "" })
	to := &p.unknown
	if !figures {
		to = &p.passed
		p.warnings.Add(t.headLine(), tablePassed, record.Said{})
	}
	for _, i := range unknown {
		to.add(t, i, t.proposal(i))
	}
	return len(unknown) == 0 && figures
}

// leftOut names a column under *=ignore.
func (p *importer) leftOut(name string) {
	p.warnings.Once(0, columnLeftOut(name), record.Said{})
}

// empty reports that a column has neither a name nor a value.
func (t *tableReader) empty(column int) bool {
	return t.columns[column].Name == "" && !slices.ContainsFunc(t.rows, func(r Row) bool { return r.Text[column] != "" })
}

// proposal says what an unknown column may be, as --column has it.
func (t *tableReader) proposal(column int) string {
	name := t.columns[column].Name
	f := figureOf(name)
	rest := strings.Join(f.rest, " ")
	f.rest = nil
	if m := f.metric(false); m.Name != "" && f.kind != "" && t.numeric(column) && t.measures(f) {
		if t.sharesMetric(m) {
			return rest + ":" + m.Name
		}
		if !t.hasMetric(m) {
			return m.Name
		}
		return userIgnore
	}
	switch {
	case !t.numeric(column) && t.inEveryArm(column):
		return "load"
	case !t.numeric(column):
		if !slices.ContainsFunc(t.meanings, func(m meaning) bool { return m.role == roleArm || m.arm != "" }) && t.differs(column) && t.firstText(column) {
			return userArm
		}
	case f.kind == "" && f.statistic == "" && t.whole(column) && t.paired(column):
		return "setting"
	case f.statistic == wordMean && !slices.ContainsFunc(t.meanings, func(m meaning) bool { return m.metric.Name != "" }):
		return metric.Throughput.Name
	}
	return userIgnore
}

// measures reports that a heading names its metric by a word of its own or by the unit of a rate.
func (t *tableReader) measures(f figure) bool {
	return f.kind != kindTime && f.kind != kindQueries
}

func (t *tableReader) hasMetric(m metric.Metric) bool {
	return slices.ContainsFunc(t.meanings, func(o meaning) bool { return o.metric == m })
}

// sharesMetric reports that several unknown headings differ only in words beside one metric.
func (t *tableReader) sharesMetric(m metric.Metric) bool {
	n := 0
	for i := range t.columns {
		f := figureOf(t.columns[i].Name)
		rest := f.rest
		if f.rest = nil; len(rest) > 0 && f.metric(false) == m && !t.meanings[i].means() {
			n++
		}
	}
	return n > 1
}

// numeric reports that most fields of a column are numbers.
func (t *tableReader) numeric(column int) bool {
	numbers, texts := 0, 0
	for _, row := range t.rows {
		switch s := strings.TrimSpace(row.Text[column]); {
		case s == "" || s == "-" || s == "—":
		case measured.MatchString(s) || fromTo.MatchString(s):
			numbers++
		default:
			texts++
		}
	}
	return numbers > texts
}

// whole reports that all numbers of a column are whole, as those of most settings are.
func (t *tableReader) whole(column int) bool {
	return !slices.ContainsFunc(t.rows, func(r Row) bool { return strings.ContainsAny(r.Text[column], ".%") })
}

// differs reports that the fields of a column are not all the same.
func (t *tableReader) differs(column int) bool {
	return slices.ContainsFunc(t.rows, func(r Row) bool { return r.Text[column] != t.rows[0].Text[column] })
}

// firstText reports that no unknown column of different texts stands before this one.
func (t *tableReader) firstText(column int) bool {
	for i := range column {
		if m := t.meanings[i]; !m.means() && !t.numeric(i) && t.differs(i) {
			return false
		}
	}
	return true
}

// paired reports that a column has the same values in every arm, each once, as a setting does.
func (t *tableReader) paired(column int) bool {
	var first map[string]int
	byArm, hasArms := t.byArm(column)
	for _, values := range byArm {
		if first == nil {
			first = values
		}
		if len(values) < 2 || !maps.Equal(values, first) {
			return false
		}
		for _, n := range values {
			if n > 1 {
				return false
			}
		}
	}
	return first != nil && (len(byArm) > 1 || !hasArms)
}

// inEveryArm reports that the table has a column of arms and that a column has the same values, at least two, in every
// arm, as a load does.
func (t *tableReader) inEveryArm(column int) bool {
	byArm, hasArms := t.byArm(column)
	var first map[string]int
	for _, values := range byArm {
		if first == nil {
			first = values
		}
		if len(values) < 2 || len(values) != len(first) {
			return false
		}
		for v := range values {
			if first[v] == 0 {
				return false
			}
		}
	}
	return hasArms && first != nil
}

// byArm counts the values of a column by arm.
func (t *tableReader) byArm(column int) (counts map[string]map[string]int, hasArms bool) {
	arm := slices.IndexFunc(t.meanings, func(m meaning) bool { return m.role == roleArm })
	counts = map[string]map[string]int{}
	for _, row := range t.rows {
		name := ""
		if arm >= 0 {
			name = row.Text[arm]
		}
		if counts[name] == nil {
			counts[name] = map[string]int{}
		}
		counts[name][row.Text[column]]++
	}
	return counts, arm >= 0
}
