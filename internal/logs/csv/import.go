package csv

import (
	"io"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
	"github.com/tarelab/tare/record"
)

// importFile reads a table of which every column is known.
func importFile(name string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	return new(Columns).Import(name, text)
}

// importFile reads a table. Each row is a run of its arm, load and settings; with a column of times it is a report of
// one run. If a column is neither known nor named, the error is an UnknownColumns.
func (c *Columns) Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	p := &importer{Columns: c}
	table, err := Parse(text, func(t *Table, row Row) error {
		if p.t == nil || p.t.number != t.Tables {
			if err := p.end(); err != nil {
				return err
			}
			p.t = p.begin(t)
		}
		return p.row(row)
	})
	if failed := p.end(); err == nil {
		err = failed
	}
	switch {
	case err != nil:
	case len(p.unknown.Tables) > 0:
		err = &p.unknown
	case len(p.passed.Tables) > 0 && !p.found():
		err = &p.passed
	case !p.found() && p.aside > 0:
		err = &format.Error{Line: 1, Text: onlyStatistics, Remedy: keepRuns}
	case !p.found():
		err = &format.Error{Line: 1, Text: noColumn, Remedy: callColumn}
	}
	return p.runs, append(table.Warnings, p.warnings.List()...), err
}

// importer turns the rows of the tables of a file into runs.
type importer struct {
	*Columns
	t        *tableReader // the current table; nil before the first row
	runs     []*observed.Run
	warnings format.Warnings
	unknown  UnknownColumns // of tables with figures
	passed   UnknownColumns // of tables without a figure that is known
	aside    int            // rows of statistics
}

func (p *importer) found() bool {
	return slices.ContainsFunc(p.runs, func(r *observed.Run) bool { return !r.Empty() })
}

// mostRows bounds the rows of a table that are kept. Only a table with a column of times has more.
const mostRows = 20000

// tableReader turns the rows of one table into runs.
type tableReader struct {
	number   int // of the table on its page, from 1; 0: the file is one table
	columns  []Column
	meanings []meaning
	rows     []Row // until the table is settled
	settled  bool
	clock    int // the column with the time of a report; -1: none
	numbers  numbers
	runs     []*observed.Run
	index    map[string]int // index in runs of the series of a key
	spans    map[int]*span  // by index in runs
	aside    rowsAside
}

// span is the first and last time of a series and the number of its rows.
type span struct {
	first, last float64
	rows        int
}

func (p *importer) begin(t *Table) *tableReader {
	r := &tableReader{number: t.Tables, columns: slices.Clone(t.Columns), clock: -1, index: map[string]int{}, spans: map[int]*span{}}
	r.numbers.Warnings = &p.warnings
	return r
}

func (p *importer) row(row Row) error {
	t := p.t
	if !t.settled && len(t.rows) < mostRows {
		t.rows = append(t.rows, Row{Line: row.Line, Text: slices.Clone(row.Text)})
		return nil
	}
	if !t.settled {
		if err := p.settle(); err != nil {
			return err
		}
		if t.clock < 0 {
			return &format.Error{Line: row.Line, Text: manyRows(mostRows), Remedy: splitOrRename}
		}
	}
	return t.add(row)
}

// end finishes the current table.
func (p *importer) end() error {
	if p.t == nil {
		return nil
	}
	if err := p.settle(); err != nil {
		return err
	}
	for i, s := range p.t.spans {
		if r := p.t.runs[i]; s.rows > 1 && s.last > s.first {
			r.Every = (s.last - s.first) / float64(s.rows-1)
			r.Seconds = s.last - s.first + r.Every
		}
	}
	p.t.aside.warn(&p.warnings)
	p.aside += p.t.aside.rows
	p.runs = append(p.runs, p.t.runs...)
	p.t = nil
	return nil
}

// settle decides what the columns are, from the rows so far, and reads these rows.
func (p *importer) settle() error {
	t := p.t
	if t.settled {
		return nil
	}
	t.settled = true
	if turned := p.turn(t); !turned {
		t.meanings = p.meanings(t.columns)
	}
	t.longForm()
	if !p.complete(t) {
		t.rows = nil
		return nil
	}
	if err := t.unique(); err != nil {
		return err
	}
	t.learn()
	rows := t.rows
	t.rows = nil
	for _, row := range rows {
		if err := t.add(row); err != nil {
			return err
		}
	}
	return nil
}

// learn finds the decimal sign, the column with the times of reports, the columns that name rows of statistics,
// and warns about metrics without a unit.
func (t *tableReader) learn() {
	for i := range t.meanings {
		m := &t.meanings[i]
		if m.role == roleClock && t.clock < 0 && t.rises(i) {
			t.clock = i
		}
		if m.metric.Name == "" {
			continue
		}
		if m.unit != nil {
			t.columns[i].Unit, t.columns[i].scale = m.unit.Unit, m.unit.scale
		}
		inCells, figures := false, false
		for _, row := range t.rows {
			t.numbers.see(row.Text[i])
			inCells = inCells || unitIn(row.Text[i]) != ""
			figures = figures || plainNumber.MatchString(strings.TrimSpace(row.Text[i]))
		}
		if m.metric.Unit == "s" && t.columns[i].Unit == "" && !inCells && figures {
			t.numbers.Add(max(t.rows[0].Line-1, 1), noUnit(t.columns[i].Name), writeUnit(t.columns[i].Name))
		}
	}
	t.aside.learn(t)
}

// rises reports whether the numbers of a column rise from row to row within each arm, load, setting and run, as
// the times of reports do.
func (t *tableReader) rises(column int) bool {
	last, seen := map[string]float64{}, false
	for _, row := range t.rows {
		x, ok := format.Whole([]byte(row.Text[column])).Get()
		if !ok {
			return false
		}
		key := t.key(row)
		if before, again := last[key]; again {
			if x <= before {
				return false
			}
			seen = true
		}
		last[key] = x
	}
	return seen
}

// key joins what a row says about itself.
func (t *tableReader) key(row Row) string {
	var key strings.Builder
	for i, m := range t.meanings {
		switch m.role {
		case roleArm, roleLoad, roleSetting, roleRun, roleHost:
			key.WriteString(row.Text[i] + "\n")
		}
	}
	return key.String()
}

// add adds a row to the runs of its arms.
func (t *tableReader) add(row Row) error {
	t.numbers.line = row.Line
	if t.aside.is(t, row) {
		return nil
	}
	runs := map[string]*observed.Run{}
	for i, m := range t.meanings {
		if m.metric.Name == "" {
			continue
		}
		r := runs[m.arm]
		if r == nil {
			r = t.run(row, m.arm)
			runs[m.arm] = r
		}
		t.figure(r, m.metric, row.Text[i], &t.columns[i])
	}
	return nil
}

// figure adds a field to a run.
func (t *tableReader) figure(r *observed.Run, m metric.Metric, field string, c *Column) {
	n := t.numbers.figure(field, c)
	if u := unitIn(field); u != "" && u != m.Unit && u != "ratio" {
		n = format.Num{}
	}
	if m.Unit == "s" {
		n = n.NonZero() // a time of 0 was not measured
	}
	r.Figure(m).Add(n)
	if !n.Known() && field != "" && field != "-" && field != "0" && !fromTo.MatchString(field) {
		t.numbers.Once(t.numbers.line, noNumber(field[:min(len(field), 40)], c.Name), record.Said{})
	}
}

// run returns the run of a row: a new one, or the one of the series to which the row belongs.
func (t *tableReader) run(row Row, arm string) *observed.Run {
	key := arm + "\n" + t.key(row)
	i, ok := t.index[key]
	if t.clock < 0 || !ok {
		i = len(t.runs)
		t.index[key] = i
		t.runs = append(t.runs, t.newRun(row, arm))
		t.spans[i] = &span{}
	}
	s := t.spans[i]
	s.rows++
	if t.clock >= 0 {
		if x, ok := t.numbers.figure(row.Text[t.clock], &Column{scale: 1}).Get(); ok {
			if s.last = x; s.rows == 1 {
				s.first = x
			}
		}
	}
	return t.runs[i]
}

// newRun makes the run of a row, of which the columns tell arm, load, settings and host.
func (t *tableReader) newRun(row Row, arm string) *observed.Run {
	r := &observed.Run{}
	r.Tool, r.Line, r.Arm = ToolName, row.Line, arm
	if t.number == 0 && len(t.runs) == 0 {
		r.Line = 1
	}
	for i, m := range t.meanings {
		name, value := folded(t.columns[i].Name), strings.TrimSpace(row.Text[i])
		switch m.role {
		case roleArm:
			r.Arm = strings.TrimSpace(r.Arm + " " + value)
		case roleLoad:
			r.Sub = strings.TrimSpace(r.Sub + " " + value)
		case roleSetting:
			r.MakesLoad(name, value)
		case roleHost:
			r.Host = strings.TrimSpace(r.Host + " " + value)
		}
	}
	return r
}

// ToolName is the tool of the runs of tables.
const ToolName = "table"

// unique returns an error if two columns are the same metric of one arm: their figures would be averaged. Where tps
// and qps are both in the table, qps becomes a metric of its own.
func (t *tableReader) unique() error {
	t.separateQueries()
	seen := map[string]int{}
	for i, m := range t.meanings {
		if m.metric.Name == "" {
			continue
		}
		key := m.arm + "\n" + m.metric.Name
		if k, twice := seen[key]; twice {
			return &format.Error{Line: t.headLine(), Text: sameColumns(t.columns[k].Name, t.columns[i].Name, m.metric.Name), Remedy: leaveOneOut(t.columns[i].Name)}
		}
		seen[key] = i
	}
	return nil
}

// headLine is the line of the heading.
func (t *tableReader) headLine() int {
	if t.number == 0 || len(t.rows) == 0 {
		return 1
	}
	return max(t.rows[0].Line-2, 1)
}

// separateQueries makes a metric of its own of queries beside transactions.
func (t *tableReader) separateQueries() {
	has := func(words ...string) int {
		return slices.IndexFunc(t.columns, func(c Column) bool {
			return slices.Contains(words, strings.Join(partsOf(folded(c.Name)), " "))
		})
	}
	tps, qps := has("tps", "transactions/s"), has("qps", "queries/s")
	if tps >= 0 && qps >= 0 && t.meanings[qps].metric == metric.Throughput && !slices.ContainsFunc(t.meanings, func(m meaning) bool { return m.metric == metric.Queries }) {
		t.meanings[qps].metric = metric.Queries
	}
}
