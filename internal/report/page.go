package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// Source is what a page shows beside the effects; every part may be empty.
type Source struct {
	Plan     record.Plan
	Manifest record.Manifest
	Detail   *record.Detail
}

// HTML prints the report as one page that needs nothing else: no network, no
// file, no script. What it shows comes from the effects and the detail; the
// script in it only shows the words of a point and moves along long series.
func HTML(w io.Writer, e *record.Effects, s Source) error {
	var b bytes.Buffer // a page is printed whole or not at all
	if err := pageTemplate.Execute(&b, newPage(e, s)); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"sentence": sentenceHTML, "glue": glue, "part": blockHTML, "table": tableHTML, "notes": notesHTML, "lines": cleanLines,
	"word": func(key messages.Key) string { return text(key) }, "words": scriptWords,
}).Parse(pageText))

// scriptWord is what the script of a page says.
type scriptWord struct{ Name, Text string }

// scriptWords are attributes of the page, so that the script has no words of its own.
func scriptWords() []scriptWord {
	return []scriptWord{
		{"in", text("script.in")}, {"out", text("script.out")}, {"earlier", text("script.earlier")}, {"later", text("script.later")},
		{"all", text("script.all")}, {"whole", text("script.whole")}, {"keys", text("script.keys")},
	}
}

// policy forbids the browser everything but the style and the script of the page.
func policy() string {
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " + hashed(pageStyle) + "; script-src " + hashed(pageScript)
}

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page is what the template prints.
type page struct {
	Title   string
	Style   template.CSS
	Script  template.JS
	Policy  string
	About   sentence // experiment, host, time
	Verdict sentence
	Top     block // the host, what was not tested, what to do next
	Cite    citation
	Caveats block  // what cannot be known
	Short   *block // nil where the verdict says it all
	Answer  *figure
	Loads   []loadView
	Trust   []block
	Left    block
	Warned  block
	How     howView
}

// loadView is the section of one workload.
type loadView struct {
	ID, Name, About string
	Headline        sentence
	Effects         *figure
	Ladder          block // the table where no effect can be drawn
	Notes           []sentence
	Figures         []figure
	Others          block
	Prices          []priceView
	Kernel          *kernelView
}

// figure is a chart with everything around it.
type figure struct {
	ID, Title string
	Caption   []string
	Drawing   template.HTML
	Tables    []table // the same as numbers
	TableNote string
	Open      bool         // the table is no second thought: shown
	Data      template.URL // CSV; empty for none
	File      string       // name for the download
}

func newPage(e *record.Effects, s Source) page {
	if s.Detail == nil {
		s.Detail = &record.Detail{}
	}
	ws := workloads(e)
	about := title(e)
	p := page{Title: export.Clean(about.String()), Style: template.CSS(pageStyle), Script: template.JS(pageScript), Policy: policy(), About: about, Verdict: verdictSentence(e, ws), Caveats: caveats(e),
		Left: leftOut(e), Warned: warnings(e), How: how(e, s)}
	p.Top, p.Cite = pageTop(e), cite(e, s)
	if len(ws) > 1 {
		short := block{items: loadItems(e, ws)}
		p.Short = &short
		p.Answer = answerFigure(e, ws)
	}
	for i, w := range ws {
		p.Loads = append(p.Loads, newLoadView(e, w, s.Detail, fmt.Sprintf("w%d", i+1), len(ws)))
	}
	for _, b := range trust(e, ws) {
		if !b.empty() {
			p.Trust = append(p.Trust, b)
		}
	}
	return p
}

// newLoadView is the section of one of some workloads, which share the room
// for data within the page.
func newLoadView(e *record.Effects, w workload, d *record.Detail, id string, of int) loadView {
	v := loadView{ID: id, Name: export.Clean(w.Name), About: export.Clean(aboutWorkload(w)), Others: secondary(w),
		Prices: newPriceViews(e, w, id), Kernel: newKernelView(w, id)}
	if of == 1 {
		v.Headline = w.doubts(loadAnswer(e, w.Name)) // the rest is the verdict at the top
	}
	for _, f := range append([]*figure{waterfallFigure(e, w, id), seriesFigure(w, d, id, dataRows/of)}, latencyFigures(w, d, id)...) {
		if f != nil {
			v.Figures = append(v.Figures, *f)
		}
	}
	table := ladder(e, w)
	v.Notes = append(table.notes, modeNotes(e, w)...)
	if v.Effects = forestFigure(e, w, id); v.Effects == nil {
		v.Ladder = block{forms: table.forms}
	}
	return v
}
