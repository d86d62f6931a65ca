package csv

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/observed"
	"github.com/tarelab/tare/internal/metric"
)

// What columns are called, by the metric that they are. Names are compared
// without their unit, in lower case and with one blank between words.
var columnNames = map[string]string{
	"tps": "throughput", "qps": "throughput", "iops": "throughput", "throughput": "throughput", "rate": "throughput",
	"ops": "throughput", "rps": "throughput", "queries": "queries", "transactions/s": "throughput", "queries/s": "throughput",
	"requests/s": "throughput", "operations/s": "throughput", "ops/s": "throughput", "events/s": "throughput",
	"latency": "latency_mean", "mean": "latency_mean", "avg": "latency_mean", "lat": "latency_mean", "mean latency": "latency_mean",
	"latency mean": "latency_mean", "time total": "time", "duration": "time", "elapsed": "time", "latency median": "p50",
	"bandwidth": "bandwidth", "bw": "bandwidth", "p50": "p50", "median": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99.9",
	"read iops": "read_iops", "write iops": "write_iops", "read bandwidth": "read_bandwidth", "write bandwidth": "write_bandwidth",
}

// Metric is the metric that a column of that name is, in lower case; empty for
// none.
func Metric(name string) string {
	words := strings.Fields(strings.ReplaceAll(name, "_", " "))
	for _, drop := range [][]string{nil, {"avg", "average", "mean"}, {"latency", "lat"}} {
		if len(words) > 1 {
			words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(drop, w) })
		}
		if m := columnNames[strings.Join(words, " ")]; m != "" {
			return m
		}
	}
	return ""
}

// clockNames are columns that say when, not how much.
var clockNames = []string{"time", "t", "timestamp", "second", "seconds", "date", "at", "elapsed_s", "#", "n", "i"}

// Columns that say of what a row is: the arm, the load, and settings of the load.
var (
	armNames     = []string{"arm", "config", "configuration", "environment", "env", "variant", "host", "system"}
	loadNames    = []string{"workload", "load", "benchmark", "test", "job", "profile", "mode", "script"}
	settingNames = []string{"clients", "connections", "threads", "concurrency", "jobs", "numjobs", "iodepth", "queue depth",
		"qd", "bs", "block size", "scale", "warehouses"}
)

// importer makes runs of the rows of a table.
type importer struct {
	table    *Table
	metrics  []string // of every column; empty for those that are none
	roles    [][]string
	clock    int
	runs     []*observed.Run
	numbers  map[string]int // of the runs, by what their rows say
	spans    [][3]float64   // of every run: first time, last time, rows
	warnings format.Warnings
}

// Import takes every column whose name says what it is; rows are the reports. Rows
// of several arms, loads or settings are several runs.
func Import(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	p := &importer{clock: -1, numbers: map[string]int{}}
	table, err := Parse(text, func(t *Table, row Row) error {
		if p.table == nil {
			p.begin(t)
		}
		return p.row(row)
	})
	known := false
	for i, r := range p.runs {
		if s := p.spans[i]; s[2] > 1 && s[1] > s[0] {
			r.Every = (s[1] - s[0]) / (s[2] - 1)
			r.Seconds = s[1] - s[0] + r.Every
		}
		known = known || !r.Empty()
	}
	if err == nil && !known {
		err = &format.Error{Line: 1, Text: "no column of the table is one that is known",
			Remedy: "call a column tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)"}
	}
	return p.runs, append(table.Warnings, p.warnings.List()...), err
}

// begin finds what the columns are.
func (p *importer) begin(t *Table) {
	p.table = t
	p.metrics = make([]string, len(t.Columns))
	p.roles = make([][]string, len(t.Columns))
	var skipped []string
	for i, c := range t.Columns {
		name := strings.ReplaceAll(strings.ToLower(c.Name), "_", " ")
		for _, list := range [][]string{armNames, loadNames, settingNames} {
			if slices.Contains(list, name) {
				p.roles[i] = list
			}
		}
		p.metrics[i] = Metric(name)
		switch {
		case p.roles[i] != nil:
			p.metrics[i] = ""
		case slices.Contains(clockNames, strings.ToLower(c.Name)):
			if p.metrics[i] = ""; p.clock < 0 {
				p.clock = i
			}
		case p.metrics[i] == "":
			skipped = append(skipped, c.Name)
		case metric.OfTool(p.metrics[i]).Unit == "s" && c.Unit == "":
			p.warnings.Add(1, fmt.Sprintf("the column %q has no unit; ratios are right, its own figures are shown as seconds", c.Name),
				fmt.Sprintf("write it into the heading: %s (ms)", c.Name))
		}
	}
	if i := slices.Index(p.metrics, "time"); i >= 0 && slices.Contains(p.metrics, "throughput") {
		p.metrics[i] = "" // how long it was to run
	}
	if len(skipped) > 0 {
		p.warnings.Add(1, "columns whose meaning is not known were left out: "+strings.Join(skipped, ", "),
			"call them tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)")
	}
}

// row takes a row as a report of its run.
func (p *importer) row(row Row) error {
	n, err := p.run(row)
	if err != nil {
		return err
	}
	r := p.runs[n]
	for i, name := range p.metrics {
		if name == "" {
			continue
		}
		n := row.Number[i]
		if metric.OfTool(name).Unit == "s" {
			n = n.NonZero() // no time is: it was not measured
		}
		r.Figure(name).Add(n)
		if s := row.Text[i]; !row.Number[i].Known() && s != "" && s != "-" {
			p.warnings.Once(row.Line, fmt.Sprintf("%q in the column %q is no number and was left out, as are others like it",
				s[:min(len(s), 40)], p.table.Columns[i].Name), "")
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

// mostRuns bounds the runs of a table: a column with more values is no setting.
const mostRuns = 200

// run finds the run of a row by its arm, load and settings.
func (p *importer) run(row Row) (int, error) {
	var key strings.Builder
	for i, role := range p.roles {
		if role != nil {
			key.WriteString(row.Text[i] + "\n")
		}
	}
	if i, ok := p.numbers[key.String()]; ok {
		return i, nil
	}
	if len(p.runs) == mostRuns {
		return 0, &format.Error{Line: row.Line, Text: fmt.Sprintf("the table has more than %d arms, loads and settings", mostRuns),
			Remedy: "split it, or rename the column that is none of them"}
	}
	r := &observed.Run{}
	r.Tool, r.Line = "table", row.Line
	if len(p.runs) == 0 {
		r.Line = 1
	}
	for i, role := range p.roles {
		name, value := strings.ToLower(p.table.Columns[i].Name), row.Text[i]
		switch {
		case role == nil:
		case slices.Equal(role, armNames) && !row.Number[i].Known():
			r.Arm = value
		case slices.Equal(role, loadNames):
			r.Sub = strings.TrimSpace(r.Sub + " " + value)
		default:
			r.MakesLoad(name, value)
		}
	}
	p.numbers[key.String()] = len(p.runs)
	p.runs, p.spans = append(p.runs, r), append(p.spans, [3]float64{})
	return len(p.runs) - 1, nil
}
