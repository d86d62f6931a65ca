package importer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/format"
	"github.com/tarelab/tare/internal/format/csv"
	"github.com/tarelab/tare/internal/format/hyperfine"
)

func readHyperfine(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	log, err := hyperfine.Parse(text)
	runs, warnings := commands(log)
	return runs, warnings, err
}

func readHyperfineCSV(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	log, err := hyperfine.ParseCSV(text)
	runs, warnings := commands(log)
	return runs, warnings, err
}

// commands makes a run of every command; its single times are the reports.
func commands(log *hyperfine.Log) ([]*run, []format.Warning) {
	var out []*run
	warnings := log.Warnings
	for i := range log.Results {
		c := &log.Results[i]
		r := &run{}
		r.Tool, r.Line, r.Complete = "hyperfine", c.Line, true
		f := r.figure("time")
		for _, x := range c.Times {
			f.add(x)
			s, _ := x.Get()
			r.Seconds += s
		}
		r.total("time", c.Mean.Positive())
		r.other("command", c.Command)
		if len(log.Results) > 1 {
			r.sub = c.Command
		}
		if n := c.Failed(); n > 0 {
			r.Errors = uint64(n)
			warnings = append(warnings, format.Warning{Line: c.Line, Text: fmt.Sprintf("%d of %d runs of %q failed", n, len(c.ExitCodes), c.Command),
				Remedy: "find out what failed before the figures are used"})
		}
		out = append(out, r)
	}
	return out, warnings
}

// What columns are called, by the metric that they are. Names are compared in
// lower case.
var columnNames = map[string]string{
	"tps": "throughput", "qps": "throughput", "iops": "throughput", "throughput": "throughput", "rate": "throughput",
	"ops": "throughput", "rps": "throughput", "queries": "queries",
	"latency": "latency_mean", "mean": "latency_mean", "avg": "latency_mean", "lat": "latency_mean", "mean latency": "latency_mean",
	"latency_mean": "latency_mean", "time_total": "time", "duration": "time", "elapsed": "time",
	"bandwidth": "bandwidth", "bw": "bandwidth", "p50": "p50", "median": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99.9",
	"read_iops": "read_iops", "write_iops": "write_iops", "read_bandwidth": "read_bandwidth", "write_bandwidth": "write_bandwidth",
}

// clockNames are columns that say when, not how much.
var clockNames = []string{"time", "t", "timestamp", "second", "seconds", "date", "at", "elapsed_s", "#", "n", "i"}

// readCSV takes every column whose name says what it is; rows are the reports.
func readCSV(_ string, text io.Reader) ([]*run, []format.Warning, error) {
	r := &run{}
	r.Tool, r.Line, r.sub = "table", 1, ""
	var into []*figure
	var warnings []format.Warning
	clock, first, last := -1, 0.0, 0.0
	table, err := csv.Parse(text, func(t *csv.Table, row csv.Row) error {
		if into == nil {
			into, warnings = columns(r, t)
			clock = slices.IndexFunc(t.Columns, func(c csv.Column) bool { return slices.Contains(clockNames, strings.ToLower(c.Name)) })
		}
		for i, n := range row.Number {
			if f := into[i]; f != nil {
				f.add(n)
			}
		}
		if clock >= 0 {
			if x, ok := row.Number[clock].Get(); ok {
				if t.Rows == 1 {
					first = x
				}
				last = x
			}
		}
		return nil
	})
	if n := table.Rows; n > 1 && last > first {
		r.every = (last - first) / float64(n-1)
		r.Seconds = last - first + r.every
	}
	if err == nil && len(r.figures) == 0 {
		err = &format.Error{Line: 1, Text: "no column of the table is one that is known",
			Remedy: "call a column tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)"}
	}
	return []*run{r}, append(table.Warnings, warnings...), err
}

// columns finds the metric of every column; nil for those that have none.
func columns(r *run, t *csv.Table) ([]*figure, []format.Warning) {
	out := make([]*figure, len(t.Columns))
	var skipped []string
	var warnings []format.Warning
	for i, c := range t.Columns {
		name := strings.ToLower(c.Name)
		metric := columnNames[name]
		unit := metricNamed(metric + " ").Unit
		if metric != "" {
			unit = metricNamed(metric).Unit
		}
		switch {
		case metric == "" && slices.Contains(clockNames, name):
		case metric == "":
			skipped = append(skipped, c.Name)
		case unit == "s" && c.Unit == "":
			warnings = append(warnings, format.Warning{Line: 1, Text: fmt.Sprintf("the column %q has no unit; ratios are right, its own figures are shown as seconds", c.Name),
				Remedy: fmt.Sprintf("write it into the heading: %s (ms)", c.Name)})
			fallthrough
		default:
			out[i] = r.figure(metric)
		}
	}
	if len(skipped) > 0 {
		warnings = append(warnings, format.Warning{Line: 1, Text: "columns whose meaning is not known were left out: " + strings.Join(skipped, ", "),
			Remedy: "call them tps, throughput, iops, latency (ms), p95 (ms), bandwidth (MiB/s) or time_total (s)"})
	}
	return out, warnings
}
