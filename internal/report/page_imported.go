package report

import (
	"fmt"
	"strconv"

	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/record"
)

// drawnSeen is the row of an effect that imported figures show without deciding
// anything: a dot, and a line only where the noise inside the runs is known.
func drawnSeen(r chart.Effect, x record.Effect) chart.Effect {
	mid := x.Observed - 1
	r.Known, r.Loose, r.Span = true, true, chart.Span{Mid: mid, Low: mid, High: mid}
	r.Text = clean(seenCell(x).text)
	if x.Within != nil {
		r.Low, r.High = x.Within.Low-1, x.Within.High-1
	}
	r.Tip = clean(r.Label + ": " + r.Text + ", " + r.Word + because(x.Reason))
	return r
}

// forestKeyOf explains the marks that a forest has.
func forestKeyOf(f chart.Forest) string {
	loose, all := false, true
	for _, r := range f.Rows {
		loose, all = loose || r.Loose, all && (r.Loose || !r.Known)
	}
	const key = "Hollow dot: what these runs did; there is no interval of the effect. A line through it, and the round brackets, " +
		"show the noise inside the runs, not how the next runs would be."
	switch {
	case !loose:
		return forestKey
	case all:
		return key
	}
	return forestKey + " " + key
}

// sample is what one point of a series is.
func (w workload) sample() string {
	if w.imported {
		return "report"
	}
	return "window"
}

// sampleNames are what numbers the points of a series.
func (w workload) sampleNames() [2]string {
	if w.imported {
		return [2]string{"run", "report"}
	}
	return [2]string{"launch", "block"}
}

// importedTimes makes the times of a series those of imported runs: each run
// begins at 0, and where the tool does not say when, reports are counted.
func importedTimes(f *chart.Series, s record.Series, m metric) {
	f.Marks = nil
	if s.Counted {
		f.Time = func(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }
		f.Point = func(at, value float64) string { return fmt.Sprintf("report %.0f: %s", at+1, m.show(value)) }
	}
}

func importedCaption(w workload, s record.Series, reports int) string {
	from := "time since the beginning of each run"
	if s.Counted {
		from = "reports in their order"
	}
	return fmt.Sprintf("One dot per report (in a log of thousands, per mean of neighbours), %d in all; %s, runs of an arm lie over each other. Every strip has the same scale. "+
		"Dashed: the mean of %s. At the right, how often each value occurred: two hills are two modes.", reports, from, clean(w.Baseline))
}
