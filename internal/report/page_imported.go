package report

import (
	"strconv"

	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// drawnSeen is the row of an effect that imported figures show without deciding
// anything: a dot, and a line only where the noise inside the runs is known.
func drawnSeen(r chart.Effect, x record.Effect) chart.Effect {
	mid := x.Observed - 1
	r.Known, r.Loose, r.Span = true, true, chart.Span{Mid: mid, Low: mid, High: mid}
	r.Text = export.Clean(seenCell(x).text)
	if x.Within != nil {
		r.Low, r.High = x.Within.Low-1, x.Within.High-1
	}
	r.Tip = export.Clean(r.Label + ": " + r.Text + ", " + r.Word + because(x.Reason))
	return r
}

// forestKeyOf explains the marks that a forest has.
func forestKeyOf(f chart.Forest) string {
	loose, all, total := false, true, ""
	for _, r := range f.Rows {
		loose, all = loose || r.Loose, all && (r.Loose || !r.Known)
		if r.Total != nil {
			total = " " + text("key.total")
		}
	}
	key := text("key.seen")
	switch {
	case !loose:
		return text("key.forest") + total
	case all:
		return key
	}
	return text("key.forest") + total + " " + key
}

// sampleKind is what one point of a series is.
func (w workload) sampleKind() string {
	if w.Imported {
		return "report"
	}
	return "window"
}

// points is a number of points of a series, in words.
func (w workload) points(n int) string {
	if w.Imported {
		return number("count.points.report", n)
	}
	return number("count.points.window", n)
}

// sample is how people call it.
func (w workload) sample() string {
	if w.Imported {
		return text("sample.report")
	}
	return text("sample.window")
}

// sampleNames are what numbers the points of a series.
func (w workload) sampleNames() [2]string {
	if w.Imported {
		return [2]string{text("runs.run"), text("sample.report")}
	}
	return [2]string{text("sample.launch"), text("sample.block")}
}

// importedTimes makes the times of a series those of imported runs: each run
// begins at 0, and where the tool does not say when, reports are counted.
func importedTimes(f *chart.Series, s record.Series, m metric) {
	f.Marks = nil
	if s.Counted {
		f.Time = func(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }
		f.Point = func(at, value float64) string {
			return text("tip.report", "n", strconv.FormatFloat(at+1, 'f', 0, 64), "value", m.show(value))
		}
	}
}

func importedCaption(w workload, s record.Series, reports int) string {
	from := text("series.since")
	if s.Counted {
		from = text("series.counted")
	}
	return text("series.reports", "n", reports, "from", from, "baseline", export.Clean(w.Baseline))
}
