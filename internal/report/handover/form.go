package handover

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarelab/tare/record"
)

// document is what the settings add up to: lines, or a tree for files that are one.
type document struct {
	lines []string
	tree  map[string]any
	notes []record.Said
}

// branch is the map at a path of the tree.
func (d *document) branch(path ...string) map[string]any {
	at := d.tree
	for _, name := range path {
		below, ok := at[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[name] = below
		}
		at = below
	}
	return at
}

// set sets what is at a path.
func (d *document) set(value any, path ...string) {
	last := len(path) - 1
	d.branch(path[:last]...)[path[last]] = value
}

// also appends to the list at a path.
func (d *document) also(value any, path ...string) {
	last := len(path) - 1
	at := d.branch(path[:last]...)
	list, _ := at[path[last]].([]any)
	at[path[last]] = append(list, value)
}

// note adds a sentence once.
func (d *document) note(s record.Said) {
	if !s.IsZero() && !slices.Contains(d.notes, s) {
		d.notes = append(d.notes, s)
	}
}

// form writes the value of one key.
type form struct {
	add       func(*document, Thing, string)
	unset     func(*document) // writes that the default holds; nil: the user takes the setting out
	note      record.Said
	differs   func(string) record.Said // the note on what reading back may show instead of a value; nil: it shows the value
	live      bool                     // it is set while the thing runs
	no        record.Said              // the reason why the target has none of this
	no1       record.Said              // the reason why it has none with control groups of version 1
	elsewhere bool                     // no is because another target or setting does it
}

// write returns the reason why the setting is not written.
func (f form) write(d *document, x Thing, value string) record.Said {
	switch {
	case !f.no.IsZero():
		return f.no
	case !f.no1.IsZero() && x.version1():
		return f.no1
	case value != "":
		f.add(d, x, value)
	case f.unset != nil:
		f.unset(d)
	default:
		return removed
	}
	d.note(f.note)
	if f.differs != nil && value != "" {
		d.note(f.differs(value))
	}
	return record.Said{}
}

func no(reason record.Said) form { return form{no: reason} }

func elsewhere(reason record.Said) form { return form{no: reason, elsewhere: true} }

// flat is a line with the value in the place of %s.
func flat(format string, convert func(string) string) form {
	return form{add: func(d *document, _ Thing, value string) {
		d.lines = append(d.lines, fmt.Sprintf(format, convert(value)))
	}}
}

// lines are made from the thing and the value.
func lines(make func(Thing, string) []string) form {
	return form{add: func(d *document, x Thing, value string) { d.lines = append(d.lines, make(x, value)...) }}
}

// or are the lines that write that the default holds.
func (f form) or(unset ...string) form {
	f.unset = func(d *document) { d.lines = append(d.lines, unset...) }
	return f
}

func (f form) noting(note record.Said) form {
	f.note = note
	return f
}

// showing is the note on what reading back may show.
func (f form) showing(differs func(string) record.Said) form {
	f.differs = differs
	return f
}

// whileItRuns is a form that needs no new process.
func (f form) whileItRuns() form {
	f.live = true
	return f
}

// version2 is a form for hosts with control groups of version 2.
func (f form) version2() form {
	f.no1 = needsVersion2
	return f
}

func asIs(value string) string { return value }

// shares is a weight of version 2 as shares of version 1: the kernel's defaults are 100 and 1024. With version 2 a
// runtime makes a weight of the shares, each version of a runtime by its own rule.
func shares(weight string) string {
	n, _ := strconv.ParseFloat(weight, 64)
	return strconv.FormatFloat(max(2, math.Round(n*1024/100)), 'f', 0, 64)
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

// onto is hostPath, with what must be known of the data.
func onto(d *document, x Thing, word string) string {
	dir := hostPath(x, word)
	d.note(oldData)
	if fs, ok := strings.CutPrefix(word, "loop:"); ok {
		d.note(onFileSystem(dir, fs))
	}
	return dir
}
