package csv

import (
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// columnNames has the metric of each known column name. Names are compared in lower case, without
// unit, and with one blank between words.
var columnNames = byName(map[string]metric.Metric{
	"tps, qps, iops, throughput, rate, ops, rps, transactions/s, queries/s, requests/s, operations/s, ops/s, events/s": metric.Throughput,
	"queries": metric.Queries, "read iops": metric.IOPS.Of("read"), "write iops": metric.IOPS.Of("write"),
	"bandwidth, bw": metric.Bandwidth, "read bandwidth": metric.Bandwidth.Of("read"), "write bandwidth": metric.Bandwidth.Of("write"),
	"time total, duration, elapsed": metric.Time, "latency, mean, avg, lat, mean latency, latency mean": metric.LatencyMean,
	"p50, median, latency median": metric.P50, "p90": metric.Quantile(0.9), "p95": metric.P95, "p99": metric.P99, "p99.9": metric.Quantile(0.999),
})

func byName(names map[string]metric.Metric) map[string]metric.Metric {
	out := map[string]metric.Metric{}
	for list, m := range names {
		for name := range strings.SplitSeq(list, ", ") {
			out[name] = m
		}
	}
	return out
}

// percentile matches "95", "95p", "95th" or "99.9%": names such as "lat95" and "95th percentile" without
// the words that percentileOf removes.
var percentile = regexp.MustCompile(`^p?([0-9]{2}(?:\.[0-9]+)?)(p|th|pct|%)?$`)

// percentileOf returns the metric of a column whose name is a percentile; the zero Metric for others.
func percentileOf(name string) metric.Metric {
	rest := strings.NewReplacer("latency", "", "lat", "", "percentile", "", "_", "", " ", "").Replace(name)
	m := percentile.FindStringSubmatch(rest)
	if m == nil || m[0] == m[1] && rest == name { // a number alone is no percentile
		return metric.Metric{}
	}
	return columnNames["p"+m[1]]
}

// Metric returns the metric of a column by its name in lower case; the zero Metric for unknown names.
func Metric(name string) metric.Metric {
	if p := percentileOf(name); p.Name != "" {
		return p
	}
	words := strings.Fields(strings.ReplaceAll(name, "_", " "))
	for _, drop := range [][]string{nil, {"avg", "average", "mean"}, {"latency", "lat"}} {
		if len(words) > 1 {
			words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(drop, w) })
		}
		if m, ok := columnNames[strings.Join(words, " ")]; ok {
			return m
		}
	}
	return metric.Metric{}
}

// clockNames are names of columns with the time of a row, or its number.
var clockNames = []string{"time", "t", "timestamp", "second", "seconds", "date", "at", "elapsed_s", "#", "n", "i"}

// Names of columns that describe a row: its arm, its load, and settings of the load. Columns with other
// words are in importer.texts.
var (
	armNames  = []string{"arm", "config", "configuration", "environment", "env", "variant", "host", "system"}
	loadNames = []string{"workload", "load", "benchmark", "test", "job", "profile", "mode", "script", "op", "operation", "pattern", "rw", "query",
		"test name", "workload type", "io pattern"}
	settingNames = []string{"clients", "client", "connections", "threads", "thread", "concurrency", "jobs", "numjobs", "iodepth", "queue depth",
		"qd", "bs", "block size", "blocksize", "scale", "warehouses", "payload", "payload size", "value size", "record size", "data size", "io size",
		"size", "pipeline", "replicas", "users", "workers"}
	// runNames are names of columns with the number of a run.
	runNames = []string{"run", "trial", "repeat", "repetition", "rep"}
	// noteNames are names of columns whose text may differ between runs of one arm and load.
	noteNames = []string{"date", "datetime", "timestamp", "time", "start", "end", "started", "ended", "begin", "hostname", "node", "machine",
		"comment", "comments", "note", "notes", "remark", "remarks", "uuid", "run id", "id", "file", "filename", "log", "command", "status", "result"}
)

// importer turns the rows of a table into runs.
type importer struct {
	table    int             // number of the table on a page, from 1; 0: the file is one table
	columns  []Column        // nil before the first row
	first    int             // index in runs of the table's first run
	metrics  []metric.Metric // by column; the zero Metric for other columns
	roles    [][]string      // by column: one of the lists of names above; nil for others
	clock    int             // the column with the time; -1: none
	skipped  []int           // columns of unknown meaning
	texts    []int           // columns of text with unknown names; rows with different texts belong to different arms
	searched bool            // findTexts has filled in texts
	err      error           // the heading is ambiguous
	runs     []*observed.Run
	runTexts [][]string     // by run: the texts of its rows in the columns texts
	runIndex map[string]int // index in runs, by arm, load and settings of the row
	rows     []Row          // the rows of a table without a column of a metric, for transposed
	spans    [][3]float64   // by run: first time, last time, number of rows
	warnings format.Warnings
}

// Import reads a table. Each row is a report of the metrics that the columns name. Rows with the same
// arm, load and settings are reports of one run.
func Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	p := &importer{}
	table, err := Parse(text, func(t *Table, row Row) error {
		if p.columns == nil || p.table != t.Tables {
			p.end()
			p.begin(t)
		}
		return p.addRow(row)
	})
	p.end()
	known := false
	for i, r := range p.runs {
		if s := p.spans[i]; s[2] > 1 && s[1] > s[0] {
			r.Every = (s[1] - s[0]) / (s[2] - 1)
			r.Seconds = s[1] - s[0] + r.Every
		}
		known = known || !r.Empty()
	}
	if err == nil && !known {
		err = &format.Error{Line: 1, Text: noColumn, Remedy: callColumn}
	}
	return p.runs, append(table.Warnings, p.warnings.List()...), err
}

// end names the arms of a table and warns about unused columns.
func (p *importer) end() {
	if p.columns == nil {
		return
	}
	if p.transposed() {
		return
	}
	p.nameByTexts()
	p.warnUnused()
}

// begin begins a table and finds the meaning of its columns.
func (p *importer) begin(t *Table) {
	*p = importer{table: t.Tables, columns: t.Columns, clock: -1, runIndex: map[string]int{}, first: len(p.runs),
		err: p.err, runs: p.runs, runTexts: p.runTexts, spans: p.spans, warnings: p.warnings}
	p.metrics = make([]metric.Metric, len(t.Columns))
	p.roles = make([][]string, len(t.Columns))
	for i, c := range t.Columns {
		name := strings.ReplaceAll(strings.ToLower(c.Name), "_", " ")
		for _, list := range [][]string{armNames, loadNames, settingNames} {
			if slices.Contains(list, name) {
				p.roles[i] = list
			}
		}
		if slices.Contains(runNames, name) {
			p.roles[i] = runNames
		}
		p.metrics[i] = Metric(name)
		switch {
		case p.roles[i] != nil:
			p.metrics[i] = metric.Metric{}
		case slices.Contains(clockNames, strings.ToLower(c.Name)):
			if p.metrics[i] = (metric.Metric{}); p.clock < 0 {
				p.clock = i
			}
		case p.metrics[i].Name == "":
			p.skipped = append(p.skipped, i)
		case p.metrics[i].Unit == "s" && c.Unit == "":
			p.warnings.Add(1, noUnit(c.Name), writeUnit(c.Name))
		}
	}
	p.refuseDuplicates()
	if i := slices.Index(p.metrics, metric.Time); i >= 0 && slices.Contains(p.metrics, metric.Throughput) {
		p.metrics[i] = metric.Metric{} // the time that was asked for
	}
}

// warnUnused warns about columns that were not used.
func (p *importer) warnUnused() {
	var names []string
	for _, i := range p.skipped {
		if !slices.Contains(p.texts, i) {
			names = append(names, p.columns[i].Name)
		}
	}
	if len(names) > 0 {
		p.warnings.Add(1, unknownColumns(names), callColumns)
	}
}

// refuseDuplicates sets err if two columns have the same metric: their figures would be averaged. Where
// tps and qps are both in the table, qps becomes a metric of its own.
func (p *importer) refuseDuplicates() {
	columns := map[string][]int{}
	for i, m := range p.metrics {
		if m.Name != "" {
			columns[m.Name] = append(columns[m.Name], i)
		}
	}
	all := columns[metric.Throughput.Name]
	if tps := slices.IndexFunc(all, func(i int) bool { return p.named(i, "tps", "transactions/s") }); tps >= 0 && len(all) > 1 {
		for _, i := range all {
			if p.named(i, "qps", "queries/s") && len(columns[metric.Queries.Name]) == 0 {
				p.metrics[i] = metric.Queries
				columns[metric.Throughput.Name] = slices.DeleteFunc(all, func(k int) bool { return k == i })
				break
			}
		}
	}
	for _, m := range slices.Sorted(maps.Keys(columns)) {
		if c := columns[m]; len(c) > 1 {
			p.err = &format.Error{Line: 1, Text: sameColumns(p.columns[c[0]].Name, p.columns[c[1]].Name, m), Remedy: keepOneColumn}
			return
		}
	}
}

// named reports whether a column has one of these names.
func (p *importer) named(column int, names ...string) bool {
	return slices.Contains(names, strings.ReplaceAll(strings.ToLower(p.columns[column].Name), "_", " "))
}

// findTexts finds, by the first row, the columns of text with unknown names. Rows with different texts
// in such a column are not repeats of one arm.
func (p *importer) findTexts(row Row) {
	p.searched = true
	for i, c := range p.columns {
		name := strings.ReplaceAll(strings.ToLower(c.Name), "_", " ")
		switch text := row.Text[i]; {
		case p.roles[i] != nil, p.metrics[i].Name != "", i == p.clock, format.Whole([]byte(text)).Known(), text == "", text == "-":
		case slices.Contains(noteNames, name), slices.Contains(clockNames, name), moment.MatchString(text):
		default:
			p.texts = append(p.texts, i)
		}
	}
}

// moment matches a date or a time of day.
var moment = regexp.MustCompile(`^\d{4}[-/.]\d\d?[-/.]\d\d?|^\d\d?:\d\d|^\d\d?[-/.]\d\d?[-/.]\d{4}`)

// nameByTexts adds the texts in which rows differ to the names of the arms, or to the names of the loads
// if the table has a column of arms.
func (p *importer) nameByTexts() {
	arms := slices.ContainsFunc(p.roles, func(role []string) bool { return role != nil && slices.Equal(role, armNames) })
	for k := range p.texts {
		values := map[string]bool{}
		for _, w := range p.runTexts[p.first:] {
			values[w[k]] = true
		}
		if len(values) < 2 {
			continue
		}
		for n, r := range p.runs[p.first:] {
			if w := p.runTexts[p.first+n][k]; arms {
				r.Sub = strings.TrimSpace(r.Sub + " " + w)
			} else {
				r.Arm = strings.TrimSpace(r.Arm + " " + w)
			}
		}
	}
}

// addRow adds a row to its run.
func (p *importer) addRow(row Row) error {
	if !p.searched {
		p.findTexts(row)
	}
	if p.err != nil {
		return p.err
	}
	if !slices.ContainsFunc(p.metrics, func(m metric.Metric) bool { return m.Name != "" }) && len(p.rows) < maxRuns {
		p.rows = append(p.rows, Row{Line: row.Line, Text: slices.Clone(row.Text)})
	}
	n, err := p.runOf(row)
	if err != nil {
		return err
	}
	r := p.runs[n]
	for i, m := range p.metrics {
		if m.Name == "" {
			continue
		}
		n := row.Number[i]
		if m.Unit == "s" {
			n = n.NonZero() // a time of 0 was not measured
		}
		r.Figure(m).Add(n)
		if s := row.Text[i]; !row.Number[i].Known() && s != "" && s != "-" {
			p.warnings.Once(row.Line, noNumber(s[:min(len(s), 40)], p.columns[i].Name), "")
		}
	}
	p.spans[n][2]++
	if p.clock < 0 {
		return nil
	}
	if x, ok := row.Number[p.clock].Get(); ok {
		if p.spans[n][2] == 1 {
			p.spans[n][0] = x
		}
		p.spans[n][1] = x
	}
	return nil
}

// maxRuns bounds the runs of a table. A column with more different values is probably no setting.
const maxRuns = 200

// runOf returns the index of the run with the row's arm, load and settings, and makes the run if needed.
func (p *importer) runOf(row Row) (int, error) {
	var key strings.Builder
	for i, role := range p.roles {
		if role != nil {
			key.WriteString(row.Text[i] + "\n")
		}
	}
	var words []string
	for _, i := range p.texts {
		words = append(words, row.Text[i])
		key.WriteString(row.Text[i] + "\n")
	}
	if i, ok := p.runIndex[key.String()]; ok {
		return i, nil
	}
	if len(p.runs)-p.first == maxRuns {
		return 0, &format.Error{Line: row.Line, Text: manyRuns(maxRuns), Remedy: splitOrRename}
	}
	r := &observed.Run{}
	r.Tool, r.Line = "table", row.Line
	if len(p.runs) == 0 && p.table == 0 {
		r.Line = 1
	}
	for i, role := range p.roles {
		name, value := strings.ToLower(p.columns[i].Name), row.Text[i]
		switch {
		case role == nil, slices.Equal(role, runNames):
		case slices.Equal(role, armNames) && !row.Number[i].Known():
			r.Arm = value
		case slices.Equal(role, loadNames):
			r.Sub = strings.TrimSpace(r.Sub + " " + value)
		default:
			r.MakesLoad(name, value)
		}
	}
	p.runIndex[key.String()] = len(p.runs)
	p.runs, p.spans, p.runTexts = append(p.runs, r), append(p.spans, [3]float64{}), append(p.runTexts, words)
	return len(p.runs) - 1, nil
}
