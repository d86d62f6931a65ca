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

// columnNames are the names of columns by metric. Names are compared without their unit, in lower
// case and with one blank between words.
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

// percentile matches what remains of "lat95", "latency 95p", "95th percentile" or "lat 99.9%" without the
// words.
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

// clockNames are names of columns with the time or the number of a row.
var clockNames = []string{"time", "t", "timestamp", "second", "seconds", "date", "at", "elapsed_s", "#", "n", "i"}

// Names of columns that describe a row: arm, load, and settings of the load. importer.texts has columns with
// other words.
var (
	armNames  = []string{"arm", "config", "configuration", "environment", "env", "variant", "host", "system"}
	loadNames = []string{"workload", "load", "benchmark", "test", "job", "profile", "mode", "script", "op", "operation", "pattern", "rw", "query",
		"test name", "workload type", "io pattern"}
	settingNames = []string{"clients", "client", "connections", "threads", "thread", "concurrency", "jobs", "numjobs", "iodepth", "queue depth",
		"qd", "bs", "block size", "blocksize", "scale", "warehouses", "payload", "payload size", "value size", "record size", "data size", "io size",
		"size", "pipeline", "replicas", "users", "workers"}
	// runNames are names of columns with the number of a run.
	runNames = []string{"run", "trial", "repeat", "repetition", "rep"}
	// wordNames are names of columns whose text may differ between runs of one arm and load.
	wordNames = []string{"date", "datetime", "timestamp", "time", "start", "end", "started", "ended", "begin", "hostname", "node", "machine",
		"comment", "comments", "note", "notes", "remark", "remarks", "uuid", "run id", "id", "file", "filename", "log", "command", "status", "result"}
)

// importer makes runs of the rows of a table.
type importer struct {
	table    int             // number of the table on a page, from 1; 0: the file is one table
	columns  []Column        // nil before the first row
	first    int             // index of the table's first run
	metrics  []metric.Metric // by column; the zero Metric for other columns
	roles    [][]string      // by column: one of the lists of names above; nil for others
	clock    int             // the column with the time; -1: none
	skipped  []int           // columns of unknown meaning
	texts    []int           // other columns of text; if their texts differ between rows, the rows belong to different arms
	asked    bool            // texts is filled in
	err      error           // the heading is ambiguous
	runs     []*observed.Run
	words    [][]string     // by run: the text of its row in each column of texts
	numbers  map[string]int // index of a run, by the key of its rows
	rows     []Row          // rows, if no column is a metric
	spans    [][3]float64   // by run: first time, last time, number of rows
	warnings format.Warnings
}

// Import reads a table. Its rows are reports of the metrics that its columns name. Rows with different arms,
// loads or settings are different runs.
func Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	p := &importer{}
	table, err := Parse(text, func(t *Table, row Row) error {
		if p.columns == nil || p.table != t.Tables {
			p.end()
			p.begin(t)
		}
		return p.row(row)
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

// end ends a table.
func (p *importer) end() {
	if p.columns == nil {
		return
	}
	if p.turned() {
		return
	}
	p.tellApart()
	p.leftOut()
}

// begin begins a table and finds the meaning of its columns.
func (p *importer) begin(t *Table) {
	*p = importer{table: t.Tables, columns: t.Columns, clock: -1, numbers: map[string]int{}, first: len(p.runs),
		err: p.err, runs: p.runs, words: p.words, spans: p.spans, warnings: p.warnings}
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

// leftOut warns about columns that were not used.
func (p *importer) leftOut() {
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

// refuseDuplicates refuses two columns of one metric, whose figures would be averaged. Transactions and queries per
// second in one table are two metrics.
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

func (p *importer) named(column int, names ...string) bool {
	return slices.Contains(names, strings.ReplaceAll(strings.ToLower(p.columns[column].Name), "_", " "))
}

// findTexts finds columns of text with unknown names in the first row. Rows that differ in such a word are no
// repeats of one arm.
func (p *importer) findTexts(row Row) {
	p.asked = true
	for i, c := range p.columns {
		name := strings.ReplaceAll(strings.ToLower(c.Name), "_", " ")
		switch text := row.Text[i]; {
		case p.roles[i] != nil, p.metrics[i].Name != "", i == p.clock, format.Whole([]byte(text)).Known(), text == "", text == "-":
		case slices.Contains(wordNames, name), slices.Contains(clockNames, name), moment.MatchString(text):
		default:
			p.texts = append(p.texts, i)
		}
	}
}

// moment matches a date or a time of day.
var moment = regexp.MustCompile(`^\d{4}[-/.]\d\d?[-/.]\d\d?|^\d\d?:\d\d|^\d\d?[-/.]\d\d?[-/.]\d{4}`)

// tellApart names arms after the texts in which rows differ; if the table has a column of arms, it names
// loads.
func (p *importer) tellApart() {
	arms := slices.ContainsFunc(p.roles, func(role []string) bool { return role != nil && slices.Equal(role, armNames) })
	for k := range p.texts {
		values := map[string]bool{}
		for _, w := range p.words[p.first:] {
			values[w[k]] = true
		}
		if len(values) < 2 {
			continue
		}
		for n, r := range p.runs[p.first:] {
			if w := p.words[p.first+n][k]; arms {
				r.Sub = strings.TrimSpace(r.Sub + " " + w)
			} else {
				r.Arm = strings.TrimSpace(r.Arm + " " + w)
			}
		}
	}
}

// row adds a row to its run.
func (p *importer) row(row Row) error {
	if !p.asked {
		p.findTexts(row)
	}
	if p.err != nil {
		return p.err
	}
	if !slices.ContainsFunc(p.metrics, func(m metric.Metric) bool { return m.Name != "" }) && len(p.rows) < mostRuns {
		p.rows = append(p.rows, Row{Line: row.Line, Text: slices.Clone(row.Text)})
	}
	n, err := p.run(row)
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

// mostRuns bounds the runs of a table. A column with more values is no setting.
const mostRuns = 200

// run finds or makes the run of a row by its arm, load and settings.
func (p *importer) run(row Row) (int, error) {
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
	if i, ok := p.numbers[key.String()]; ok {
		return i, nil
	}
	if len(p.runs)-p.first == mostRuns {
		return 0, &format.Error{Line: row.Line, Text: manyRuns(mostRuns), Remedy: splitOrRename}
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
	p.numbers[key.String()] = len(p.runs)
	p.runs, p.spans, p.words = append(p.runs, r), append(p.spans, [3]float64{}), append(p.words, words)
	return len(p.runs) - 1, nil
}
