package report

import (
	"io"

	"github.com/tarelab/tare/record"
)

// Options is how a text report looks. Its language is that of the Language that prints it.
type Options struct {
	Color   bool         // ANSI colours; the text says the same without
	Width   int          // columns; 0 means 100, below 40 counts as 40
	Verbose bool         // everything, not only the answer
	Gate    *record.Gate // the answer to the limits of the run; nil: it has none
	Dir     string       // the result directory, for commands to type; empty: not known
	Named   bool         // Dir was named, and may be no result that a command finds without its name
}

const (
	defaultWidth = 100
	leastWidth   = 40
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, leastWidth)
}

// Text prints the report for a terminal or a plain file.
func (in Language) Text(w io.Writer, e *record.Effects, o Options) error {
	if o.Verbose {
		return Print(w, in.full(e, o.Dir, o.Gate), o)
	}
	d := in.screen(e, o.Dir, o.Gate)
	if e.Imported == nil {
		d.end(in.rest(e, o))
	}
	return Print(w, d, o)
}

// Print prints a document for a terminal or a plain file.
func Print(w io.Writer, d Document, o Options) error {
	r := textRenderer{width: o.width(), color: o.Color}
	r.document(d)
	_, err := io.WriteString(w, r.out.String())
	return err
}

// PrintMarkdown prints a document for a pull request.
func PrintMarkdown(w io.Writer, d Document) error {
	var r markdownRenderer
	r.document(d)
	_, err := io.WriteString(w, r.out.String())
	return err
}

// Markdown prints the report for a pull request comment: the answer and the
// ladders open, everything else folded. g is the answer to the limits of the run; nil: it has none.
func (in Language) Markdown(w io.Writer, e *record.Effects, g *record.Gate) error {
	return PrintMarkdown(w, in.full(e, "", g))
}

// full is everything: the screen, then each load, then the quality of the data.
func (in Language) full(e *record.Effects, dir string, g *record.Gate) Document {
	d := in.screen(e, dir, g)
	ws := in.workloads(e)
	for _, w := range ws {
		if w.Unmeasured() {
			continue // the screen says it all
		}
		d.add(section{
			title:  w.Name,
			about:  in.aboutWorkload(w),
			blocks: []block{in.ladder(e, w), in.modes(e, w), in.secondary(w), in.kernel(w)},
		})
		for _, p := range in.priceSections(e, w) {
			d.add(p)
		}
	}
	d.add(section{title: in.text("head.quality"), blocks: in.trust(e, ws), fold: true})
	d.add(section{title: in.text("head.left"), blocks: []block{in.leftOut(e)}, fold: true})
	d.add(section{title: in.text("head.warnings"), blocks: []block{in.warnings(e)}})
	d.add(section{title: in.text("head.repeat"), blocks: []block{in.repeat(e)}, fold: true})
	return d
}
