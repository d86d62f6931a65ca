package report

import (
	_ "embed"
	"html/template"
	"io"

	"github.com/tarelab/tare/internal/export"
	"github.com/tarelab/tare/record"
)

// Entry is one result of an index.
type Entry struct {
	Name    string
	Path    string // address of its page
	Effects *record.Effects
	Nodes   *record.Nodes // of a run over several nodes
	Error   string        // why it cannot be read
}

// Started is when the run began, RFC 3339; empty when it is not known.
func (e Entry) Started() string {
	switch {
	case e.Effects != nil:
		return e.Effects.Started
	case e.Nodes != nil && len(e.Nodes.Nodes) > 0:
		return e.Nodes.Nodes[0].Started
	}
	return ""
}

//go:embed index.tmpl
var indexText string

var indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{"sentence": sentenceHTML, "word": func(key string) string { return text(key) }}).Parse(indexText))

// Index prints a page that leads to the pages of results.
func Index(w io.Writer, where string, entries []Entry) error {
	type line struct {
		Name, Path, Error string
		About, Verdict    sentence
	}
	v := struct {
		sheet
		Where string
		Lines []line
	}{sheet: newSheet(text("index.title", "where", where), false), Where: export.Clean(where)}
	for _, e := range entries {
		l := line{Name: export.Clean(e.Name), Path: e.Path, Error: export.Clean(e.Error)}
		if e.Effects != nil {
			l.About, l.Verdict = title(e.Effects), verdictSentence(e.Effects, workloads(e.Effects))
		}
		if e.Nodes != nil {
			l.About, l.Verdict = nodesAbout(e.Nodes), nodesVerdict(e.Nodes)
		}
		v.Lines = append(v.Lines, l)
	}
	return fill(w, indexTemplate, v)
}
