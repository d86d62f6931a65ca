package report

import (
	"html/template"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// kernelView is what the kernel saw: the table of the text report with the
// strength of every difference as a shade.
type kernelView struct {
	ID    string
	Title string
	Table template.HTML
	Notes []sentence
	Data  template.URL
	File  string
}

func newKernelView(w workload, id string) *kernelView {
	b := kernel(w)
	if b.empty() {
		return nil
	}
	v := &kernelView{ID: id + "-kernel", Title: export.Clean(text("kernel.page", "baseline", w.Baseline)),
		Notes: b.notes, Data: kernelData(w), File: fileName(w, "kernel")}
	if len(b.forms) > 0 {
		v.Table = tableHTML(v.Title, shaded(w, b.forms[0][0]))
	}
	return v
}

// shaded gives a far greater number another tone than a far smaller one: the
// style sheet makes shades of them.
func shaded(w workload, t table) table {
	rows := map[string]record.Kernel{}
	for _, k := range w.Kernel {
		rows[label(k)] = k
	}
	out := table{columns: t.columns}
	for _, r := range t.rows {
		k := rows[r[0].text]
		base, known := k.Values[w.Baseline].Get()
		shadedRow := append(row(nil), r...)
		for i := range shadedRow[min(1, len(shadedRow)):] {
			c := &shadedRow[i+1]
			x, ok := k.Values[t.columns[i+1].head].Get()
			if c.tone == strong && ok && known && k.Per != "" {
				c.tone = more
				if x < base {
					c.tone = fewer
				}
			}
		}
		out.rows = append(out.rows, shadedRow)
	}
	return out
}

// more and fewer are tones of the page only.
const (
	more  tone = 100
	fewer tone = 101
)

func kernelData(w workload) template.URL {
	return dataURL(func(b *csvBuffer) error {
		b.row("workload", "probe", "unit", "per", "arm", "value", "missing_because")
		for _, k := range w.Kernel {
			for _, arm := range w.Arms() {
				v, there := k.Values[arm]
				if !there {
					continue
				}
				why := ""
				if _, ok := v.Get(); !ok {
					why = v.Reason()
				}
				b.row(w.Name, k.Metric, k.Unit, k.Per, arm, export.Field(v), why)
			}
		}
		return nil
	})
}
