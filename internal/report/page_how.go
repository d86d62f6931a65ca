package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/tarelab/tare/record"
)

// howView is how it was done: enough to repeat it.
type howView struct {
	Repeat     block
	Experiment string // YAML
	Settings   []settingsView
	ReadBack   string // where the settings come from
}

// settingsView is the settings of one workload's arms as read back.
type settingsView struct {
	Workload string
	From     string // where they are known from
	Differ   *table // settings that arms have differently
	Alike    *table // settings that all arms share
}

func how(e *record.Effects, s Source) howView {
	v := howView{Repeat: repeat(e), Experiment: s.Plan.Source, ReadBack: "as read back"}
	if e.Imported != nil {
		v.ReadBack = "as the files say them"
	}
	add := func(label, text string) {
		if text != "" {
			v.Repeat.items = append(v.Repeat.items, item{cell{label, plain}, say(text)})
		}
	}
	add("tare", s.Manifest.Tare)
	add("user", s.Manifest.User)
	for _, name := range slices.Sorted(maps.Keys(s.Manifest.Versions)) {
		add(name, s.Manifest.Versions[name])
	}
	mitigations, unaffected := mitigated(e.Host)
	add("mitigations", strings.Join(mitigations, "; "))
	add("not affected by", strings.Join(unaffected, ", "))
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
	var names, arms ordered
	got := map[key]string{}
	for _, arm := range w.arms() {
		if len(w.arm[arm].Settings) == 0 {
			continue
		}
		arms.add(arm)
		for _, s := range w.arm[arm].Settings {
			names.add(s.Name)
			text := s.Got
			if s.Wanted != "" && s.Wanted != s.Got {
				text += " (asked for " + s.Wanted + ")"
			}
			got[key{s.Name, arm}] = text
		}
	}
	differ := table{columns: []column{{head: "setting"}}}
	for _, arm := range arms {
		differ.columns = append(differ.columns, column{head: arm})
	}
	alike := table{columns: []column{{head: "setting"}, {head: "in every arm"}}}
	for _, name := range names {
		r := row{{name, plain}}
		same := true
		for _, arm := range arms {
			text, ok := got[key{name, arm}]
			c := cell{text, plain}
			if !ok {
				c = cell{none, faint}
			}
			same = same && c == (cell{got[key{name, arms[0]}], plain})
			r = append(r, c)
		}
		if same {
			alike.rows = append(alike.rows, row{{name, plain}, r[1]})
		} else {
			differ.rows = append(differ.rows, r)
		}
	}
	v := settingsView{Workload: clean(w.Name), From: "as read back from the kernel"}
	if w.imported {
		v.From = "as the outputs say"
	}
	if len(differ.rows) > 0 {
		v.Differ = &differ
	}
	if len(alike.rows) > 0 {
		v.Alike = &alike
	}
	return v, len(names) > 0
}
