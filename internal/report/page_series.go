package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/chart"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// Limits on the size of the page of a long record.
const (
	tableBlocks = 200   // rows of a table of windows
	dataRows    = 12000 // windows in the CSV that is embedded in the page, over all workloads
)

// seriesFigure draws the windows of each arm over time, with their histogram at the side. Two modes
// show as two bands of points and as two peaks of the histogram.
func seriesFigure(w workload, d *record.Detail, id string, rows int) *figure {
	all := w.series(d)
	if len(all) == 0 {
		return nil
	}
	m := w.metricWord(all[0].Metric)
	f := chart.Series{Low: all[0].Low, High: all[0].High, Tick: m.show, Time: quantity.Duration,
		Point: func(at, value float64) string { return quantity.Duration(at) + ": " + m.show(value) }}
	f.Frame = chart.Frame{ID: id + "-" + w.sampleKind() + "s", Title: export.Clean(upper(text("series.title", "metric", m.of, "sample", w.sample())))}
	f.From, f.To, f.Marks = times(all)
	f.Time = func(at float64) string { return clock(at) }
	if w.Imported {
		importedTimes(&f, all[0], m)
	}
	windows, dropped := 0, 0
	for _, s := range all {
		r := strip(s, w, m)
		windows, dropped = windows+len(s.Points), dropped+len(r.Dropped)
		f.Rows = append(f.Rows, r)
		f.Desc += export.Clean(s.Arm + ", " + w.points(len(r.Points)) + ": " + r.Note + ". ")
	}
	caption := text("series.windows", "n", windows, "baseline", export.Clean(w.Baseline))
	if w.Imported {
		caption = importedCaption(w, all[0], windows)
	}
	if len(f.Marks) > 0 {
		caption += " " + text("series.launches")
	}
	if dropped > 0 {
		caption += " " + text("series.dropped", "n", dropped)
	}
	out := &figure{ID: f.ID, Title: f.Title, Caption: []string{caption}, Drawing: chart.Both(f.Draw), File: fileName(w, w.sampleKind()+"s")}
	if t := f.Thin(chart.Wide); t.Kept < t.All {
		out.Caption = append(out.Caption, text("series.thinned", "n", t.Kept, "of", t.All))
	}
	every := (windows + rows - 1) / max(rows, 1)
	if every > 1 {
		out.Caption = append(out.Caption, text("series.sampled", "n", every))
	}
	out.Data = windowsData(all, every, w.sampleNames())
	out.Tables, out.TableNote = windowsTable(all, m, w.sampleNames())
	return out
}

// series are the windows of a workload, one series per arm, in the order of display.
func (w workload) series(d *record.Detail) []record.Series {
	var out []record.Series
	for _, arm := range w.Arms() {
		for _, s := range d.Series {
			if s.Workload == w.Name && s.Arm == arm && len(s.Points) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func strip(s record.Series, w workload, m metric) chart.Strip {
	r := chart.Strip{Label: export.Clean(s.Arm), Note: w.value(s.Arm, s.Metric).text, Spread: s.Spread}
	for _, p := range s.Points {
		to := &r.Points
		if p.Dropped != "" {
			to = &r.Dropped
		}
		*to = append(*to, chart.Point{At: p.At, Value: p.Value})
	}
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
	for g := least + 1; len(launches) < len(first)-1 && g <= least+10000; g++ {
		if at, ok := first[g]; ok {
			launches = append(launches, at)
		}
	}
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

// windowsTable has a row per block and a column per arm.
func windowsTable(all []record.Series, m metric, names [2]string) ([]table, string) {
	t := table{columns: []column{{head: names[0] + "." + names[1]}}}
	var blocks arrange.Ordered
	cells := map[arrange.Key]cell{}
	for _, s := range all {
		t.columns = append(t.columns, column{head: s.Arm, align: right})
		for _, p := range s.Points {
			name := fmt.Sprintf("%d.%d", p.Generation, p.Block)
			if _, there := cells[key(name, "")]; !there {
				cells[key(name, "")] = cell{}
				blocks = append(blocks, name)
			}
			c := cell{m.show(p.Value), plain}
			if p.Dropped != "" {
				c = cell{text("series.was.dropped", "value", m.show(p.Value)), faint}
			}
			cells[key(name, s.Arm)] = c
		}
	}
	note := ""
	if len(blocks) > tableBlocks {
		note = text("series.first", "n", tableBlocks, "of", len(blocks), "block", names[1])
		blocks = blocks[:tableBlocks]
	}
	for _, name := range blocks {
		r := row{{name, plain}}
		for _, s := range all {
			c, ok := cells[key(name, s.Arm)]
			if !ok {
				c = cell{none, faint}
			}
			r = append(r, c)
		}
		t.rows = append(t.rows, r)
	}
	return []table{t}, note
}

// windowsData is a CSV of the windows of every n-th block (every), so that the choice does not depend on
// the values and no block is divided.
func windowsData(all []record.Series, every int, names [2]string) template.URL {
	blocks := map[[2]int]int{}
	kept := func(p record.Point) bool {
		name := [2]int{p.Generation, p.Block}
		n, there := blocks[name]
		if !there {
			n = len(blocks)
			blocks[name] = n
		}
		return every < 2 || n%every == 0
	}
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "arm", "metric", "unit", "at_seconds", "value", names[0], names[1], "dropped")
		for _, s := range all {
			for _, p := range s.Points {
				if kept(p) {
					b.row(s.Workload, s.Arm, s.Metric, s.Unit, export.Number(p.At), export.Number(p.Value),
						strconv.Itoa(p.Generation), strconv.Itoa(p.Block), p.Dropped)
				}
			}
		}
		return nil
	})
}

// latencies are the latency distributions of a workload's arms, in the order of display.
func (w workload) latencies(d *record.Detail) (all []record.Distribution) {
	for _, arm := range w.Arms() {
		for _, x := range d.Latency {
			if x.Workload == w.Name && x.Arm == arm && len(x.Shares) > 0 {
				all = append(all, x)
			}
		}
	}
	return all
}

// latencyFigures are two figures of the latencies: the density of each arm, with a table of the
// quantiles of all arms; and the cumulative distribution (CDF) of all arms in one chart.
func latencyFigures(w workload, d *record.Detail, id string) []*figure {
	all := w.latencies(d)
	if len(all) == 0 {
		return nil
	}
	tick := func(x float64) string { return quantity.Trimmed(quantity.Latency(x)) }
	hills := chart.Ridge{Low: all[0].Low, High: all[0].High, Tick: tick}
	hills.Frame = chart.Frame{ID: id + "-latency", Title: text("page.latency")}
	shares := chart.CDF{Low: all[0].Low, High: all[0].High, Tick: tick}
	shares.Frame = chart.Frame{ID: id + "-cdf", Title: text("page.cdf")}
	for _, x := range all {
		h := hill(x)
		hills.Rows = append(hills.Rows, h)
		shares.Rows = append(shares.Rows, chart.Curve{Label: h.Label, Shares: x.Shares, Tip: h.Tip})
		hills.Desc += export.Clean(x.Arm+": "+h.Note) + ". "
	}
	shares.Desc = hills.Desc
	return []*figure{
		{ID: hills.ID, Title: hills.Title, Drawing: chart.Both(hills.Draw), Caption: []string{text("page.latency.key", "arm", export.Clean(all[0].Arm))},
			Tables: []table{quantileTable(all)}, Open: true, Data: latencyData(all), File: fileName(w, "latency")},
		{ID: shares.ID, Title: shares.Title, Drawing: chart.Both(shares.Draw), Caption: []string{text("page.cdf.key")}},
	}
}

// quantileTable has the quantiles of each arm in its own unit.
func quantileTable(all []record.Distribution) table {
	t := table{columns: []column{{head: text("head.arm")}, {head: text("latency.operations"), align: right}}}
	var unknown []int
	for i, q := range all[0].Quantiles {
		t.columns = append(t.columns, column{head: quantileName(q.Q), align: right})
		if q.Q > 0.99 && !slices.ContainsFunc(all, func(x record.Distribution) bool {
			return i < len(x.Quantiles) && quantileCell(x.Quantiles[i]).text != none
		}) {
			unknown = append(unknown, 2+i)
		}
	}
	for _, x := range all {
		r := row{{x.Arm, plain}, {strconv.FormatUint(x.Operations, 10), plain}}
		for _, q := range x.Quantiles[:min(len(x.Quantiles), len(all[0].Quantiles))] {
			r = append(r, quantileCell(q))
		}
		t.rows = append(t.rows, r)
	}
	return t.without(unknown...)
}

func quantileName(q float64) string {
	return "p" + strconv.FormatFloat(quantity.Round(100*q, 3), 'f', -1, 64)
}

func quantileCell(q record.Quantile) cell {
	return levelCell(q.Value, quantity.Latency)
}

func hill(x record.Distribution) chart.Hill {
	h := chart.Hill{Label: export.Clean(x.Arm), Shares: x.Shares}
	for _, q := range x.Quantiles {
		name := quantileName(q.Q)
		at, ok := q.Value.Get()
		h.Tip += name + " " + quantileCell(q).text + ", "
		if ok && (name == "p50" || name == "p95" || name == "p99") {
			h.Marks = append(h.Marks, chart.Mark{At: at, Word: name})
			if name != "p95" {
				h.Note += name + " " + quantity.Latency(at) + "  "
			}
		}
	}
	h.Tip = export.Clean(x.Arm) + ": " + h.Tip + number("count.operations", int(x.Operations))
	return h
}

func latencyData(all []record.Distribution) template.URL {
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "arm", "from_seconds", "to_seconds", "share_of_operations")
		for _, x := range all {
			edge := func(i int) string {
				return strconv.FormatFloat(x.Low*math.Pow(x.High/x.Low, float64(i)/float64(len(x.Shares))), 'g', 6, 64)
			}
			for i, s := range x.Shares {
				b.row(x.Workload, x.Arm, edge(i), edge(i+1), strconv.FormatFloat(s, 'g', 6, 64))
			}
		}
		return nil
	})
}
