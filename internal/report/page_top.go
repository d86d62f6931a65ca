package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/report/export"
	"github.com/tarelab/tare/record"
)

// pageTop is what a reader of a page looks for first, below the verdict.
func pageTop(e *record.Effects) block {
	var b block
	if h := host(e.Host); h != "" {
		b.items = append(b.items, item{label: cell{text("label.host"), plain}, text: say(h)})
	}
	b.items = append(b.items, untestedItems(e)...)
	for _, it := range checksItem(e, msg("more.page")) {
		it.text = it.less[0]
		b.items = append(b.items, it)
	}
	b.items = append(b.items, nextItems(e, "")...)
	return b
}

// citation is how to name a result elsewhere.
type citation struct{ Text, BibTeX string }

func cite(e *record.Effects, s Source) citation {
	day, year := started(e.Started), ""
	if t, err := time.Parse(time.RFC3339Nano, e.Started); err == nil {
		day, year = t.UTC().Format("2006-01-02"), t.UTC().Format("2006")
	}
	version := strings.TrimSpace(s.Manifest.Tare)
	pairs := []any{"experiment", export.Clean(e.Experiment), "version", export.Clean(version), "host", export.Clean(e.Host.Name), "about", export.Clean(host(e.Host)), "day", day, "seed", ""}
	if e.Imported == nil {
		pairs[len(pairs)-1] = text("cite.seed", "seed", e.Seed)
	}
	note := text("cite.note", pairs...)
	return citation{
		Text: text("cite.text", pairs...),
		BibTeX: fmt.Sprintf("@misc{tare-%s-%d,\n  title = {%s},\n  year = {%s},\n  note = {%s}\n}\n",
			slug(export.Clean(e.Experiment)), e.Seed, texed(text("cite.title", pairs...)), year, texed(note)),
	}
}

// texed escapes what BibTeX and TeX read as their own.
func texed(s string) string {
	return strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "%", `\%`, "&", `\&`, "#", `\#`, "_", `\_`, "$", `\$`).Replace(s)
}
