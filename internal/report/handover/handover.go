// Package handover prints the settings of a remedy as the lines that apply them where the user runs the thing: flags of
// an engine, a file of systemd, Compose or Quadlet, a patch of a pod, an option file of a server. It knows how
// each of them is written and undone, and runs nothing. A new target is one file and a line in Targets.
package handover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// Thing is what the user runs. An empty field is printed as a placeholder in capitals.
type Thing struct {
	Name   string // of the container, unit, deployment or server
	Image  string
	Data   string // the data directory inside the container
	Device string // the block device under the data, for limits of bytes per second
}

// Snippet has the lines for one target.
type Snippet struct {
	Target  string
	File    string   // to put Lines into; empty: Lines are commands
	Lines   []string // nothing to set here: none
	Undo    []string // commands, or the lines of the file that go
	Skipped []Skipped
}

// Skipped is a setting that a target cannot have, with the reason.
type Skipped struct {
	Key    record.SettingKey
	Reason string
}

// Target is one place where settings are applied.
type Target struct {
	Name string
	on   []record.SettingOn
	// lines of one setting; a reason says why there are none.
	lines func(Thing, record.RemedySetting) (lines []string, reason string)
	// whole puts the lines of all settings together.
	whole func(Thing, []string) Snippet
}

// Targets are all, in the order in which they are printed.
func Targets() []Target {
	return []Target{docker(), podman(), compose(), quadlet(), unit(), pod(), kubelet(), mysql(), postgres()}
}

// Of is the snippet for the settings of one subject: load or neighbour, and the server of the load.
func (t Target) Of(x Thing, settings []record.RemedySetting) Snippet {
	var all []string
	var skipped []Skipped
	for _, s := range settings {
		if !slices.Contains(t.on, s.On) {
			continue
		}
		lines, reason := t.lines(x.named(), s)
		if reason != "" {
			skipped = append(skipped, Skipped{s.Key, reason})
			continue
		}
		all = append(all, lines...)
	}
	out := Snippet{Target: t.Name}
	if len(all) > 0 {
		out = t.whole(x.named(), all)
		out.Target = t.Name
	}
	out.Skipped = skipped
	return out
}

func (x Thing) named() Thing {
	for _, f := range []struct {
		field *string
		word  string
	}{{&x.Name, "NAME"}, {&x.Image, "IMAGE"}, {&x.Data, "/DATA"}, {&x.Device, "/dev/DEVICE"}} {
		if *f.field == "" {
			*f.field = f.word
		}
	}
	return x
}

var onThing = []record.SettingOn{record.OnLoad, record.OnNeighbour}

// form writes the value of one key. A form that begins with no is the reason why the target has none.
type form struct {
	lines func(Thing, string) []string
	no    string
}

func no(reason string) form { return form{no: reason} }

// flat is a line with the value in the place of %s.
func flat(format string, convert func(string) string) form {
	return form{lines: func(_ Thing, value string) []string { return []string{fmt.Sprintf(format, convert(value))} }}
}

// from makes lines from a table; keys that the table lacks are none of the target's.
func from(table map[record.SettingKey]form, others string) func(Thing, record.RemedySetting) ([]string, string) {
	return func(x Thing, s record.RemedySetting) ([]string, string) {
		f, ok := table[s.Key]
		switch {
		case !ok:
			return nil, others
		case f.no != "":
			return nil, f.no
		case s.Value == "":
			return nil, removed
		}
		return f.lines(x, s.Value), ""
	}
}

func asIs(value string) string { return value }

// shares is a weight of version 2 as shares of version 1, in which engines write it. runc and crun turn it back
// into a weight: 1 + (shares - 2) * 9999 / 262142.
func shares(weight string) string {
	n, _ := strconv.Atoi(weight)
	return strconv.Itoa(2 + ((n-1)*262142+9998)/9999)
}

// percent is CPU seconds per second as systemd has it.
func percent(cpus string) string {
	x, _ := strconv.ParseFloat(cpus, 64)
	return strconv.FormatFloat(100*x, 'f', -1, 64) + "%"
}

// hostPath is the directory on the host for a word of tare's --volume.
func hostPath(x Thing, word string) string {
	if dir, ok := strings.CutPrefix(word, "dir:"); ok {
		return dir
	}
	return "/srv/" + strings.ToLower(x.Name)
}

// indent indents lines.
func indent(by string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = by + l
	}
	return out
}
