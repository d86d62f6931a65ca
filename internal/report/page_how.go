package report

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// how is how it was done: enough to repeat it.
func (r *htmlRenderer) how(e *record.Effects, ws []workload, s Source) {
	b := r.in.repeat(e)
	add := func(label, value string) {
		if value != "" {
			b.items = append(b.items, item{label: cell{label, plain}, text: say(value)})
		}
	}
	add("tare", s.Manifest.Tare)
	add(r.in.text("how.user"), s.Manifest.User)
	for _, name := range slices.Sorted(maps.Keys(s.Manifest.Versions)) {
		add(name, s.Manifest.Versions[name])
	}
	mitigations, unaffected := mitigated(e.Host)
	add(r.in.text("how.mitigations"), r.in.semicolons(mitigations...))
	add(r.in.text("how.unaffected"), r.in.names(unaffected))
	r.block(b)
	if s.Plan.Source != "" {
		r.fold(r.in.text("page.experiment"), func() {
			r.put(`<pre tabindex="0">`, template.HTMLEscapeString(cleanLines(s.Plan.Source)), "</pre>")
		})
	}
	for _, w := range ws {
		title := r.in.text("how.kernel", "load", w.Name)
		if w.Imported {
			title = r.in.text("how.outputs", "load", w.Name)
		}
		if b := r.in.settings(w); len(b.tables) > 0 {
			r.fold(title, func() { r.block(b) })
		}
	}
}

// cleanLines is export.Clean for a text of many lines.
func cleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = export.Clean(l)
	}
	return strings.Join(lines, "\n")
}

// mitigated is what the kernel does about flaws of this CPU, and the flaws that
// it does not have.
func mitigated(h record.Host) (does, unaffected []string) {
	for _, flaw := range slices.Sorted(maps.Keys(h.Mitigations)) {
		if text := h.Mitigations[flaw]; strings.EqualFold(text, "not affected") {
			unaffected = append(unaffected, flaw)
		} else {
			does = append(does, flaw+" ("+strings.TrimPrefix(text, "Mitigation: ")+")")
		}
	}
	return does, unaffected
}

// settings puts what differs between arms first: that is what was compared.
func (in Language) settings(w workload) block {
	var names, arms arrange.Ordered
	got := map[arrange.Key]string{}
	for _, arm := range w.Arms() {
		if len(w.Arm[arm].Settings) == 0 {
			continue
		}
		arms.Add(arm)
		for _, s := range w.Arm[arm].Settings {
			names.Add(s.Name)
			got[key(s.Name, arm)] = cmp.Or(in.said(s.Said), in.phrase(s.Got))
			if s.Wanted != "" && s.Wanted != s.Got {
				got[key(s.Name, arm)] = in.text("how.wanted", "got", in.phrase(s.Got), "wanted", s.Wanted)
			}
		}
	}
	differ := table{columns: []column{{head: in.text("how.differ")}}}
	for _, arm := range arms {
		differ.columns = append(differ.columns, column{head: arm})
	}
	alike := table{columns: []column{{head: in.text("how.setting")}, {head: in.text("how.every")}}}
	for _, name := range names {
		r := row{cell{in.phrase(name), plain}}
		same := true
		for _, arm := range arms {
			value, ok := got[key(name, arm)]
			c := cell{value, plain}
			if !ok {
				c = cell{none, faint}
			}
			same = same && c == (cell{got[key(name, arms[0])], plain})
			r = append(r, c)
		}
		if same {
			alike.rows = append(alike.rows, row{r[0], r[1]})
		} else {
			differ.rows = append(differ.rows, r)
		}
	}
	tables := slices.DeleteFunc([]table{differ, alike}, func(t table) bool { return len(t.rows) == 0 })
	if len(tables) == 0 {
		return block{}
	}
	return block{tables: tables}
}
