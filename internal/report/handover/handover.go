// Package handover prints the settings of a remedy as the lines that apply them where the user runs the thing: flags of
// an engine, a file of systemd, Compose or Quadlet, a patch of a pod, an option file of a server. It knows how
// each of them is written and undone, and runs nothing. A new target is one file and a line in Targets.
package handover

import (
	"regexp"
	"slices"

	"github.com/tarelab/tare/record"
)

// Thing is what the user runs. An empty field is printed as a placeholder in capitals.
type Thing struct {
	Name   string // of the container, unit, workload of Kubernetes or server
	Pod    string // of the workload
	Image  string
	Data   string // the data directory inside the container
	Socket string // the directory of the server's Unix socket inside the container
	Device string // the block device under the data, for limits of bytes per second
	Cgroup string // v1, v2 or hybrid, as record.Host has it; empty: not known
}

// Snippet has the lines for one target.
type Snippet struct {
	Target  string
	File    string        // to put Lines into; empty: Lines are commands
	Lines   []string      // nothing to set here: none
	Then    []string      // commands when the file is written
	Check   []string      // commands that read the settings back
	Notes   []record.Said // what must be known before
	Undo    []string      // commands
	Skipped []Skipped
}

// Skipped is a setting that a target cannot have, with the reason.
type Skipped struct {
	Key    record.SettingKey
	Reason record.Said
	// Elsewhere: another kind of target sets it, or it follows from other settings.
	Elsewhere bool
}

// Target is one place where settings are applied.
type Target struct {
	Name   string
	on     []record.SettingOn
	forms  map[record.SettingKey]form
	others record.Said // the reason for keys without a form
	// refuses is the reason why these settings cannot be applied together; nil: they always can.
	refuses func(Thing, change) record.Said
	whole   func(Thing, change) Snippet
}

// Targets are all, in the order in which they are printed.
func Targets() []Target {
	return []Target{
		docker(), podman(), compose(), quadlet(), unit(), workload(), resize(), kustomize(), helm(), kubelet(),
		mariadb(), mysql(), postgres(), redis(),
	}
}

// change is what a remedy sets on one subject.
type change struct {
	on          record.SettingOn
	apply, undo []record.RemedySetting
	document
}

// live reports whether all settings are set while the thing runs.
func (c change) live(forms map[record.SettingKey]form) bool {
	return !slices.ContainsFunc(c.apply, func(s record.RemedySetting) bool { return !forms[s.Key].live })
}

// back is the change that sets the values of before.
func (c change) back(x Thing, forms map[record.SettingKey]form) document {
	out := document{tree: map[string]any{}}
	for _, s := range c.undo {
		forms[s.Key].write(&out, x, s.Value)
	}
	return out
}

// was is the value before the remedy; empty: the default.
func (c change) was(key record.SettingKey) string {
	for _, s := range c.undo {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// plain is a value that means the same in a shell, in YAML and in an option file. A record may be another's.
var plain = regexp.MustCompile(`^[A-Za-z0-9._:/,+-]*$`)

// Of is the snippet for the settings of one subject: load, neighbour, or the server of the load. It has lines for
// all of them or none. undo are the settings before.
func (t Target) Of(x Thing, apply, undo []record.RemedySetting) Snippet {
	x = x.named()
	out := Snippet{Target: t.Name}
	c := change{document: document{tree: map[string]any{}}, undo: undo}
	for _, s := range apply {
		if !slices.Contains(t.on, s.On) {
			continue
		}
		f, ok := t.forms[s.Key]
		if !ok {
			f = form{no: t.others, elsewhere: true}
		}
		reason := noValue
		if plain.MatchString(s.Value) && plain.MatchString(c.was(s.Key)) {
			reason = f.write(&c.document, x, s.Value)
		}
		if !reason.IsZero() {
			out.Skipped = append(out.Skipped, Skipped{s.Key, reason, f.elsewhere})
			continue
		}
		c.on, c.apply = s.On, append(c.apply, s)
	}
	if len(c.apply) == 0 {
		return out
	}
	if reason := t.reason(x, c, out.Skipped); !reason.IsZero() {
		for _, s := range c.apply {
			out.Skipped = append(out.Skipped, Skipped{Key: s.Key, Reason: reason})
		}
		return out
	}
	whole := t.whole(x, c)
	whole.Target, whole.Skipped, whole.Notes = t.Name, out.Skipped, append(whole.Notes, c.notes...)
	return whole
}

// reason is why the settings are not applied; zero: they are. A part of a remedy is another one, which is not proved.
func (t Target) reason(x Thing, c change, skipped []Skipped) record.Said {
	for _, s := range skipped {
		if !s.Elsewhere {
			return s.Reason
		}
	}
	if t.refuses != nil {
		return t.refuses(x, c)
	}
	return record.Said{}
}

func (x Thing) named() Thing {
	for _, f := range []struct {
		field *string
		word  string
	}{
		{&x.Name, "NAME"}, {&x.Pod, "POD"}, {&x.Image, "IMAGE"},
		{&x.Data, "/DATA"}, {&x.Socket, "/SOCKET"}, {&x.Device, "/dev/DEVICE"},
	} {
		if *f.field == "" {
			*f.field = f.word
		}
	}
	return x
}

var onThing = []record.SettingOn{record.OnLoad, record.OnNeighbour}
