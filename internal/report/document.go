package report

import (
	"slices"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/record"
)

// tone is what a piece of text means; a renderer decides how it looks.
type tone int

const (
	plain  tone = iota
	strong      // what the eye should find first
	faint       // what may be skipped
	bad
	good
	unsure
	calm   // as it should be
	broken // invalid, failed: not to be used
	code   // to be typed
)

// cell is a piece of text in one tone.
type cell struct {
	text string
	tone tone
}

// sentence is text in pieces; the pieces carry their own spaces.
type sentence []cell

// item is a sentence behind a label.
type item struct {
	label cell
	text  sentence
}

type align int

const (
	left align = iota
	right
	// interval aligns the estimates of figures to the right and their intervals to the left, so that each form a column.
	interval
)

type column struct {
	head  string
	align align
	// flex is the least width to which the column may be cut before anything
	// else is; 0 for a column that is not cut.
	flex int
	wrap int  // the least width of a last column of words, which may take several lines; 0: it takes one
	drop int  // where the table is too wide, columns with 1 go first, then those with 2; 0: stays
	mark mark // of all figures of the column
}

// entry is what a table has in a place: a cell or a figure.
type entry interface{ figure() figure }

// figure is a number of a table: an estimate and what belongs to it. How they are put together is the renderer's.
type figure struct {
	cell        // the estimate: "-29.0 %"
	rest string // its interval: "±1.4", "[-36, -21]"
	mark mark
}

// mark is what a figure is marked as; the legend of its table explains it.
type mark string

const (
	moved   mark = "*" // shown to differ
	inNoise mark = "~" // shown, but not larger than the host's own differences
	unequal mark = "≠" // of an arm of weaker durability
)

func (c cell) figure() figure   { return figure{cell: c} }
func (f figure) figure() figure { return f }

// whole is a figure in one line.
func (f figure) whole() string {
	if f.rest == "" {
		return f.text + string(f.mark)
	}
	return f.text + " " + f.rest + string(f.mark)
}

// fractional is a figure in the tone: an estimate and its interval.
func fractional(r *record.Ratio, t tone) figure {
	if r == nil {
		return cell{none, faint}.figure()
	}
	estimate, bounds := quantity.Parts(r)
	return figure{cell{estimate, t}, bounds, ""}
}

type row []entry

type table struct {
	columns []column
	rows    []row
	tight   bool         // one space between the columns instead of two
	wrapped bool         // answers take several lines
	star    messages.Key // what * means; empty: shown to differ
	// panel is the number of columns behind the first that stay together where the table is cut into
	// several, each with the first column; 0: it is not cut.
	panel int
}

// block is a piece of a section: sentences, then tables, then notes.
type block struct {
	title  string
	items  []item
	tables []table // below each other
	// listings are to be copied: their lines are printed as they are.
	listings []listing
	notes    []sentence
}

// listing is a file or commands under a title.
type listing struct {
	title sentence
	lines []string
}

func (b block) empty() bool {
	return len(b.items) == 0 && len(b.tables) == 0 && len(b.listings) == 0 && len(b.notes) == 0
}

// section is a titled part of the document.
type section struct {
	title string
	about string // the rest of the title line
	// blocks: the first one is what a reader came for, the others may be folded.
	blocks []block
	fold   bool // all of it may be folded
}

// Document is what text and Markdown print alike.
type Document struct {
	in       Language
	title    sentence
	sections []section
}

// add leaves out what is empty.
func (d *Document) add(s section) {
	var kept []block
	for _, b := range s.blocks {
		if !b.empty() {
			kept = append(kept, b)
		}
	}
	if s.blocks = kept; len(kept) > 0 {
		d.sections = append(d.sections, s)
	}
}

// end adds an item below everything else.
func (d *Document) end(it item) {
	if n := len(d.sections); n > 0 {
		blocks := d.sections[n-1].blocks
		if last := &blocks[len(blocks)-1]; len(last.tables) == 0 && len(last.listings) == 0 && len(last.notes) == 0 {
			last.items = append(last.items, it)
			return
		}
	}
	d.add(section{blocks: []block{{items: []item{it}}}})
}

// firstLine is a sentence up to its first line break: without the remedy.
func firstLine(s sentence) sentence {
	if i := slices.Index(s, lineBreak); i >= 0 {
		return s[:i]
	}
	return s
}

// lineBreak ends a line within a sentence.
var lineBreak = cell{text: "\n"}

// mark says that a label is only a bullet.
func (it item) mark() bool { return it.label.text == "!" || it.label.text == "-" }

func say(text string) sentence { return sentence{{text: text}} }
