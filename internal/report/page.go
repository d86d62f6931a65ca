package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/base/quantity"
	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// Source is what a page shows beside the effects; every part may be empty.
type Source struct {
	Plan     record.Plan
	Manifest record.Manifest
	Files    []string     // names of files beside the page, with the data
	Gate     *record.Gate // the answer to the limits of the run; nil: it has none
}

// HTML prints the report as one page that needs nothing else: no network, no
// file, no script. What it shows comes from the effects.
func (in Language) HTML(w io.Writer, e *record.Effects, s Source) error {
	var b bytes.Buffer // a page is printed whole or not at all
	if err := pageTemplate.Execute(&b, in.newPage(e, s)); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	_, err := b.WriteTo(w)
	return err
}

//go:embed page.css
var pageStyle string

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// policy forbids the browser everything but the style of the page.
func policy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page is what the template prints.
type page struct {
	in     Language
	Title  string
	Style  template.CSS
	Policy string
	First  template.HTML // the first screen
	Parts  []pagePart
	Cite   string
	Files  []string
}

// pagePart is a part that can be folded.
type pagePart struct {
	ID, Title string
	Brief     template.HTML // behind the title
	Body      template.HTML
	Load      bool
	Open      bool
}

// pageWarnings is how many warnings the first screen has.
const pageWarnings = 3

func (in Language) newPage(e *record.Effects, s Source) page {
	ws := in.workloads(e)
	d := in.tables(e, answerOf(e))
	if s.Gate != nil {
		d.add(in.limitSection(s.Gate))
	}
	r := &htmlRenderer{in: in, known: in.glossary(), used: map[messages.Key]bool{}}
	p := page{in: in, Title: export.Clean(d.title.String()), Style: template.CSS(pageStyle), Policy: policy(), Cite: in.cite(e, s), Files: s.Files}
	p.First = r.part(func() {
		r.document(d)
		r.overview(e, ws)
		r.atGlance(e)
	})
	for i, w := range ws {
		p.add(r.load(e, w, fmt.Sprintf("w%d", i+1), len(ws) == 1))
	}
	p.fold(r, "trust", in.text("page.quality"), func() { r.quality(e, ws) })
	p.fold(r, "warnings", in.text("page.warnings"), func() { r.block(in.warnings(e)) })
	p.fold(r, "left", in.text("page.left"), func() { r.block(in.leftOut(e)) })
	p.fold(r, "how", in.text("page.how"), func() { r.how(e, ws, s) })
	if len(r.used) > 0 {
		p.fold(r, "words", in.text("page.words"), r.explained)
	}
	return p
}

// Lang is the language of the page for browsers.
func (p page) Lang() string { return string(p.in.catalog.Language()) }

// Word is a message in the language of the page.
func (p page) Word(key messages.Key) string { return p.in.text(key) }

func (p *page) add(part pagePart) {
	if part.Body != "" {
		p.Parts = append(p.Parts, part)
	}
}

func (p *page) fold(r *htmlRenderer, id, title string, fill func()) {
	p.add(pagePart{ID: id, Title: title, Body: r.part(fill)})
}

// atGlance is the end of the first screen: what was skipped or failed, the first warnings about the answer, the
// host, the next step.
func (r *htmlRenderer) atGlance(e *record.Effects) {
	a := answerOf(e)
	r.items(r.in.concerns(e, a))
	all, about := r.in.warnings(e).items, r.in.warnings(aboutAnswer(e, a)).items
	shown := min(len(about), pageWarnings)
	r.items(about[:shown])
	if rest := len(all) - shown; rest > 0 {
		key := messages.Key("page.warnings.all")
		if shown > 0 {
			key = "page.warnings.more"
		}
		r.put(`<p class="marked"><a href="#warnings">`, template.HTMLEscapeString(r.in.text(key, "n", rest)), "</a></p>")
	}
	if h := r.in.host(e.Host); h != "" {
		r.items([]item{{label: cell{r.in.text("label.host"), plain}, text: say(h)}})
	}
	if s := r.in.more(e, a, ""); len(s) > 0 {
		r.items([]item{{text: s}})
	}
}

// quality folds the sentences on undecided checks: the table has them.
func (r *htmlRenderer) quality(e *record.Effects, ws []workload) {
	for _, b := range r.in.trust(e, ws) {
		var untold []sentence
		for _, d := range r.in.unpassed(ws) {
			if i := slices.IndexFunc(b.notes, func(n sentence) bool { return slices.Equal(n, d.note()) }); i >= 0 && !d.check.Known {
				untold = append(untold, b.notes[i])
				b.notes = slices.Delete(b.notes, i, i+1)
			}
		}
		r.block(b)
		if len(untold) > 0 {
			r.fold(r.in.text("page.untold", "n", len(untold)), func() { r.notes(untold) })
		}
	}
}

// prices are the tables of neighbours, folded: their answer is on the first screen.
func (r *htmlRenderer) prices(e *record.Effects, w workload) {
	for _, p := range pricesOf(e, w.Name) {
		r.block(r.in.explained(p))
	}
	for _, s := range r.in.priceSections(e, w) {
		title := s.title
		s.title, s.blocks = "", s.blocks[:len(s.blocks)-1]
		r.fold(title, func() { r.section(s) })
	}
}

// aboutAnswer is the effects with the warnings only that name no arm, or one of the answer.
func aboutAnswer(e *record.Effects, a record.Answers) *record.Effects {
	arms := map[string]bool{"": true}
	for _, t := range a.Tables {
		arms[t.Baseline] = true
		for _, r := range t.Rows {
			arms[r.Arm] = true
			if r.Beside != nil {
				arms[r.Beside.Arm] = true
			}
		}
	}
	few := *e
	few.Warnings = slices.DeleteFunc(slices.Clone(e.Warnings), func(w record.Warning) bool { return !arms[w.Arm] })
	return &few
}

// load is the part of one load. It is open where the load is decided. Where the result has no other
// load, its effects are on the first screen.
func (r *htmlRenderer) load(e *record.Effects, w workload, id string, alone bool) pagePart {
	rows := rowsOf(e, w.Name)
	decided := slices.ContainsFunc(rows, func(r record.AnswerRow) bool { return r.Says.Answered() })
	p := pagePart{ID: id, Title: export.Clean(w.Name), Load: true, Open: decided}
	if w.Unmeasured() {
		return p
	}
	p.Brief = r.part(func() {
		if x, ok := foremost(rows); ok {
			c := r.in.answerCell(x)
			r.element("span", "brief "+toneClass[c.tone], x.Arm+" "+r.in.seenCell(*x.Effect).whole()+" "+c.text)
		}
	})
	p.Body = r.part(func() {
		r.element("p", "faint", r.in.aboutWorkload(w))
		if !alone {
			r.effects(e, w, id+"-effects")
		}
		r.steps(e, w, id+"-steps")
		chosen := w.chosen(rows)
		r.latencies(w, chosen, id+"-latency")
		r.series(e, w, chosen)
		m := r.in.modes(e, w)
		r.items(m.items)
		r.prices(e, w)
		r.fold(r.in.text("page.arms"), func() {
			arms := r.in.ladder(e, w)
			arms.notes = append(arms.notes, m.notes...)
			r.block(arms)
			r.block(r.in.secondary(w))
			r.block(r.in.kernel(w))
		})
	})
	return p
}

// rowsOf are the rows of the answer about a load.
func rowsOf(e *record.Effects, load string) (rows []record.AnswerRow) {
	for _, t := range answerOf(e).Tables {
		for _, r := range t.Rows {
			if r.Workload == load {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// foremost is the row with the largest effect; false: none has an interval.
func foremost(rows []record.AnswerRow) (most record.AnswerRow, ok bool) {
	size := func(r record.AnswerRow) float64 { return math.Abs(math.Log(r.Effect.Typical.Ratio)) }
	for _, r := range rows {
		if r.Effect == nil || r.Effect.Typical == nil {
			continue
		}
		if !ok || size(r) > size(most) {
			most, ok = r, true
		}
	}
	return most, ok
}

// chosen are up to three arms that the answer is about, the one with the largest effect first.
func (w workload) chosen(rows []record.AnswerRow) []string {
	var arms []string
	if r, ok := foremost(rows); ok {
		arms = append(arms, r.Arm)
	}
	for _, r := range rows {
		arms = append(arms, r.Arm)
	}
	if len(arms) == 0 {
		arms = append(arms, w.Top())
	}
	arms = slices.DeleteFunc(distinct(arms, func(arm string) string { return arm }), func(arm string) bool { return arm == w.Baseline || arm == "" })
	return arms[:min(len(arms), 3)]
}

// cite is how to name a result elsewhere.
func (in Language) cite(e *record.Effects, s Source) string {
	day := started(e.Started)
	if t, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		day = t.UTC().Format("2006-01-02")
	}
	pairs := []any{"experiment", e.Experiment, "version", strings.TrimSpace(s.Manifest.Tare), "host", e.Host.Name, "about", in.host(e.Host), "day", day, "seed", e.Seed,
		"home", hint.Home}
	if e.Imported != nil {
		return export.Clean(in.text("cite.imported", pairs...))
	}
	return export.Clean(in.text("cite.text", pairs...))
}

// tickOf prints a change on an axis without needless zeros.
func tickOf(x float64) string {
	s := quantity.Change(1+x, 1)
	if len(s) > 2 && s[len(s)-2:] == ".0" {
		s = s[:len(s)-2]
	}
	if s == "0.0" || s == "" {
		s = "0"
	}
	return quantity.WithUnit(s, "%")
}
