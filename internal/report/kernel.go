package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// kernel is the table "what the kernel saw": the baseline in absolute numbers,
// the other arms relative to it. Only rows that differ between arms are in it.
func (in Language) kernel(w workload) block {
	if len(w.Kernel) == 0 {
		return block{}
	}
	var shown []record.Kernel
	var alike []string
	quiet := 0
	reasons := footnotes{in: in}
	for _, k := range w.Kernel {
		switch classify(k, w.Baseline) {
		case quietRow:
			quiet++
		case unseenRow:
			reasons.unseen(k)
		case alikeRow:
			x, _ := k.Values[w.Baseline].Get()
			alike = append(alike, in.label(k)+" "+absolute(k, x))
		default:
			shown = append(shown, k)
		}
	}
	b := block{title: in.text("kernel.title")}
	if len(shown) > 0 {
		b.title = in.text("kernel.title.of", "baseline", w.Baseline)
		b.tables = []table{in.kernelTable(w, shown, &reasons)}
	}
	b.notes = reasons.sentences()
	if len(alike) > 0 {
		b.notes = append(b.notes, in.msg("kernel.alike", "probes", in.commas(alike...)))
	}
	if quiet > 0 {
		b.notes = append(b.notes, in.msg("kernel.quiet", "n", quiet))
	}
	return b
}

type rowKind int

const (
	unseenRow rowKind = iota // no arm has a number
	quietRow                 // all numbers are zero
	alikeRow                 // all arms have a number, about the same
	tellingRow
)

func classify(k record.Kernel, baseline string) rowKind {
	kind := unseenRow
	alike := true
	for arm, v := range k.Values {
		x, ok := v.Get()
		switch {
		case !ok:
			alike = false
			continue
		case x != 0:
			kind = tellingRow
		case kind == unseenRow:
			kind = quietRow
		}
		alike = alike && (arm == baseline || kernelCell(k, arm, baseline, nil).text == "=")
	}
	if _, ok := k.Values[baseline].Get(); ok && alike && kind == tellingRow {
		return alikeRow
	}
	return kind
}

func (in Language) label(k record.Kernel) string {
	if k.Per == "operation" {
		return in.text("kernel.per", "metric", k.Metric)
	}
	if k.Per == "request" {
		return in.text("kernel.per.request", "metric", k.Metric)
	}
	return k.Metric
}

// kernelArms are the arms beside the baseline that were observed.
func kernelArms(w workload, rows []record.Kernel) []string {
	var arms arrange.Ordered
	for _, arm := range w.Arms() {
		arms.Add(arm)
	}
	for _, k := range rows {
		var more []string
		for arm := range k.Values {
			more = append(more, arm)
		}
		slices.Sort(more)
		for _, arm := range more {
			arms.Add(arm)
		}
	}
	return slices.DeleteFunc(arms, func(arm string) bool {
		return arm == w.Baseline || !slices.ContainsFunc(rows, func(k record.Kernel) bool {
			_, ok := k.Values[arm]
			return ok
		})
	})
}

// kernelTable is the probes by arm.
func (in Language) kernelTable(w workload, rows []record.Kernel, reasons *footnotes) table {
	t := table{panel: 1, columns: []column{{head: in.text("kernel.probe"), flex: 28}, {head: w.Baseline, align: right}}}
	arms := kernelArms(w, rows)
	for _, arm := range arms {
		t.columns = append(t.columns, column{head: arm, align: right})
	}
	for _, k := range rows {
		r := row{cell{in.label(k), plain}, kernelCell(k, w.Baseline, w.Baseline, reasons)}
		for _, arm := range arms {
			r = append(r, kernelCell(k, arm, w.Baseline, reasons))
		}
		t.rows = append(t.rows, r)
	}
	return t
}

func kernelCell(k record.Kernel, arm, baseline string, reasons *footnotes) cell {
	v, there := k.Values[arm]
	x, ok := v.Get()
	switch {
	case !there:
		return cell{none, faint}
	case !ok:
		return cell{none + reasons.mark(v.Reason()), faint}
	case arm == baseline:
		return cell{absolute(k, x), plain}
	}
	base, known := k.Values[baseline].Get()
	switch {
	case !known && x == 0:
		return cell{absolute(k, x), faint}
	case !known || base < 0 || x < 0:
		return cell{absolute(k, x), plain}
	case k.Per == "": // a level
		if absolute(k, x) == absolute(k, base) {
			return cell{"=", faint}
		}
		return cell{absolute(k, x), strong}
	case base == 0 && x == 0:
		return cell{"=", faint}
	case base == 0:
		return cell{"+" + absolute(k, x), strong}
	}
	return relative(x / base)
}

// relative prints how many times as much: "x1.3".
func relative(ratio float64) cell {
	s := quantity.Short(ratio)
	if ratio >= 0.095 && ratio < 9.95 {
		s = strconv.FormatFloat(ratio, 'f', 1, 64)
	}
	switch {
	case !quantity.Finite(ratio):
		return cell{none, faint}
	case s == "1.0":
		return cell{"=", faint}
	case ratio >= 2 || ratio <= 0.5:
		return cell{"x" + s, strong}
	}
	return cell{"x" + s, plain}
}

// absolute prints a value in its unit, without a space: columns are narrow.
func absolute(k record.Kernel, x float64) string {
	var s string
	switch k.Unit {
	case "s":
		s = quantity.Latency(x)
	case "B":
		s = quantity.Bytes(x)
	case "1", "ratio", "":
		s = quantity.Short(x)
		if x == math.Trunc(x) && math.Abs(x) < 1000 {
			s = strconv.FormatFloat(x, 'f', 0, 64)
		}
	default:
		s = quantity.Short(x) + k.Unit
	}
	switch {
	case x == 0:
		return "0"
	case k.Per == "second":
		s += "/s"
	}
	return strings.ReplaceAll(s, " ", "")
}

// footnotes number the reasons why values are missing, in the order of their
// first use.
type footnotes struct {
	in      Language
	reasons []record.Said
	never   arrange.Grouped[string] // metrics without any value, by reason
}

func (f *footnotes) mark(reason record.Said) string {
	if !slices.Contains(f.reasons, reason) {
		f.reasons = append(f.reasons, reason)
	}
	n := strconv.Itoa(slices.Index(f.reasons, reason) + 1)
	return superscript(n)
}

func superscript(digits string) string {
	return strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
		"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(digits)
}

func (f *footnotes) unseen(k record.Kernel) {
	var why arrange.Ordered
	for _, v := range k.Values {
		why.Add(f.in.said(v.Reason()))
	}
	slices.Sort(why)
	reason := f.in.semicolons(why...)
	if reason == "" {
		reason = f.in.text("kernel.unobserved")
	}
	f.never.Add(reason, k.Metric)
}

func (f *footnotes) sentences() []sentence {
	var out []sentence
	for i, reason := range f.reasons {
		out = append(out, sentence{{superscript(strconv.Itoa(i+1)) + " " + f.in.said(reason), faint}})
	}
	for why, metrics := range f.never.All() {
		out = append(out, sentence{{none + " " + f.in.colon(f.in.list(metrics), why), faint}})
	}
	return out
}
