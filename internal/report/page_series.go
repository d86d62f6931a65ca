package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// series draws the windows of the baseline and of the chosen arms over time, with their histogram at the
// side. Two modes show as two bands of points and as two peaks of the histogram.
func (r *htmlRenderer) series(e *record.Effects, w workload, chosen []string) {
	all := w.seriesOf(e, append([]string{w.Baseline}, chosen...))
	if len(all) == 0 {
		return
	}
	m := w.metricWord(all[0].Metric)
	f := chart.Series{Tick: m.show, Time: clock}
	f.Low, f.High = bounds(all)
	f.From, f.To, f.Marks = times(all)
	sample := r.in.text("sample.window")
	if w.Imported {
		sample, f.Marks = r.in.text("sample.report"), nil
		if all[0].Counted {
			f.Time = func(at float64) string { return strconv.FormatFloat(quantity.Round(at, 3), 'f', -1, 64) }
		}
	}
	dropped := 0
	for _, s := range all {
		row := w.strip(s, m)
		dropped += len(row.Dropped)
		f.Rows = append(f.Rows, row)
	}
	legend := []string{r.in.text("series.key", "sample", sample, "baseline", w.Baseline)}
	if len(f.Marks) > 0 && len(f.Marks) <= chart.MostMarks {
		legend = append(legend, r.in.text("series.launches"))
	}
	if dropped > 0 {
		legend = append(legend, r.in.text("series.dropped", "n", dropped))
	}
	if kept, of := f.Thin(); kept < of {
		legend = append(legend, r.in.text("series.thinned", "n", kept, "of", of))
	}
	title := messages.Key("series.title")
	if all[0].Counted {
		title = "series.counted"
	}
	r.figure(r.in.heading(r.in.text(title, "metric", m.of, "sample", sample)), f.Draw(), legend...)
}

// seriesOf are the windows of some arms of a workload, one series per arm, in the order of display.
func (w workload) seriesOf(e *record.Effects, arms []string) []record.Series {
	var out []record.Series
	for _, arm := range w.Arms() {
		for _, s := range e.Series {
			if s.Workload == w.Name && s.Arm == arm && len(s.Points) > 0 && slices.Contains(arms, arm) {
				out = append(out, s)
			}
		}
	}
	return out
}

// bounds are the lowest and the highest value that counts.
func bounds(all []record.Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range all {
		for _, p := range s.Points {
			if p.Dropped == "" {
				low, high = min(low, p.Value), max(high, p.Value)
			}
		}
	}
	if low > high {
		return 0, 0
	}
	return low, high
}

func (w workload) strip(s record.Series, m metric) chart.Strip {
	r := chart.Strip{Label: export.Clean(s.Arm), Note: w.value(s.Arm, s.Metric).text}
	for _, p := range s.Points {
		to := &r.Points
		if p.Dropped != "" {
			to = &r.Dropped
		}
		*to = append(*to, chart.Point{At: p.At, Value: p.Value})
	}
	count := w.in.number("count.points.window", len(r.Points))
	if w.Imported {
		count = w.in.number("count.points.report", len(r.Points))
	}
	r.Desc = export.Clean(w.in.colon(s.Arm, w.in.commas(count, r.Note)))
	if x, ok := w.Arm[w.Baseline].Values[s.Metric].Get(); ok {
		r.Level = &x
	}
	return r
}

// times returns the times of the first and the last window, and of the first window of each launch but
// the first.
func times(all []record.Series) (from, to float64, launches []float64) {
	first := map[int]float64{}
	from, to = all[0].Points[0].At, all[0].Points[0].At
	least := all[0].Points[0].Generation
	for _, s := range all {
		for _, p := range s.Points {
			from, to, least = min(from, p.At), max(to, p.At), min(least, p.Generation)
			if at, ok := first[p.Generation]; !ok || p.At < at {
				first[p.Generation] = p.At
			}
		}
	}
	delete(first, least)
	for _, at := range first {
		launches = append(launches, at)
	}
	slices.Sort(launches)
	return from, to, launches
}

// clock prints a time on an axis: "42 s", "3:05", "2:00:00".
func clock(seconds float64) string {
	s := int(seconds + 0.5)
	switch {
	case seconds < 100:
		return strconv.FormatFloat(quantity.Round(seconds, 1), 'f', -1, 64) + " s"
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
