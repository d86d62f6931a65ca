package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/analysis/arrange"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// howView is how it was done: enough to repeat it.
type howView struct {
	Repeat     block
	Experiment string // YAML
	Settings   []settingsView
}

// settingsView is the settings of one workload's arms as read back.
type settingsView struct {
	Title  string
	Differ *table // settings that arms have differently
	Alike  *table // settings that all arms share
}

func how(e *record.Effects, s Source) howView {
	v := howView{Repeat: repeat(e), Experiment: s.Plan.Source}
	add := func(label, value string) {
		if value != "" {
			v.Repeat.items = append(v.Repeat.items, item{label: cell{label, plain}, text: say(value)})
		}
	}
	add("tare", s.Manifest.Tare)
	add(text("how.user"), s.Manifest.User)
	for _, name := range slices.Sorted(maps.Keys(s.Manifest.Versions)) {
		add(name, s.Manifest.Versions[name])
	}
	mitigations, unaffected := mitigated(e.Host)
	add(text("how.mitigations"), strings.Join(mitigations, "; "))
	add(text("how.unaffected"), strings.Join(unaffected, ", "))
	for _, w := range workloads(e) {
		if view, ok := settings(w); ok {
			v.Settings = append(v.Settings, view)
		}
	}
	return v
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
func settings(w workload) (settingsView, bool) {
	var names, arms arrange.Ordered
	got := map[arrange.Key]string{}
	for _, arm := range w.Arms() {
		if len(w.Arm[arm].Settings) == 0 {
			continue
		}
		arms.Add(arm)
		for _, s := range w.Arm[arm].Settings {
			names.Add(s.Name)
			got[key(s.Name, arm)] = s.Got
			if s.Wanted != "" && s.Wanted != s.Got {
				got[key(s.Name, arm)] = text("how.wanted", "got", s.Got, "wanted", s.Wanted)
			}
		}
	}
	differ := table{columns: []column{{head: text("how.setting")}}}
	for _, arm := range arms {
		differ.columns = append(differ.columns, column{head: arm})
	}
	alike := table{columns: []column{{head: text("how.setting")}, {head: text("how.every")}}}
	for _, name := range names {
		r := row{{name, plain}}
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
			alike.rows = append(alike.rows, row{{name, plain}, r[1]})
		} else {
			differ.rows = append(differ.rows, r)
		}
	}
	v := settingsView{Title: text("how.kernel", "load", export.Clean(w.Name))}
	if w.Imported {
		v.Title = text("how.outputs", "load", export.Clean(w.Name))
	}
	if len(differ.rows) > 0 {
		v.Differ = &differ
	}
	if len(alike.rows) > 0 {
		v.Alike = &alike
	}
	return v, len(names) > 0
}
