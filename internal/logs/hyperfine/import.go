package hyperfine

import (
	"io"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/internal/wire/metric"
)

// importFile reads the commands of a JSON export.
func importFile(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	log, err := parse(text)
	runs, warnings := commands(log)
	return runs, warnings, err
}

// importCSV reads the commands of an export as CSV or Markdown.
func importCSV(_ string, text io.Reader) ([]*observed.Run, []format.Warning, error) {
	log, err := parseCSV(text)
	runs, warnings := commands(log)
	return runs, warnings, err
}

// commands makes a run of every command. Its reports are the single times.
func commands(log *content) ([]*observed.Run, []format.Warning) {
	var out []*observed.Run
	warnings := log.Warnings
	for i := range log.Results {
		c := &log.Results[i]
		r := &observed.Run{}
		r.Tool, r.Line, r.Complete = "hyperfine", c.Line, true
		f := r.Figure(metric.Time)
		for _, x := range c.Times {
			f.Add(x)
			s, _ := x.Get()
			r.Seconds += s
		}
		r.Total(metric.Time, c.Mean.NonZero())
		r.MayDiffer("command", c.Command)
		if len(log.Results) > 1 {
			r.Sub, r.SubIsArm = c.Command, true
		}
		if c.Failed > 0 {
			r.Errors = uint64(c.Failed)
			warnings = append(warnings, format.Warning{Line: c.Line, Text: failedRuns(c.Failed, c.Runs, c.Command), Remedy: findFailure})
		}
		out = append(out, r)
	}
	return out, warnings
}
