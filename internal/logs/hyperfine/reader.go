package hyperfine

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const (
	kind      format.Kind = "hyperfine"     // JSON
	tableKind format.Kind = "hyperfine-csv" // and Markdown
)

// declared describes hyperfine's output.
var declared = &format.Tool{
	Name: "hyperfine", Programs: []string{"hyperfine"},
	Kind:   kind,
	Begins: []string{"Benchmark 1: ", "Benchmark #1: ", "Time (mean "},
	Keys:   [][]string{{"results", "command", "mean"}},
	Shapes: []format.Shape{{Kind: tableKind, FirstLine: true, Confidence: format.Likely,
		Line: func(b []byte) bool { return bytes.HasPrefix(b, []byte("command,mean,")) }},
		{Kind: tableKind, Confidence: format.Likely, Line: markdownHeading.Match}},
}

// markdownHeading matches the heading of --export-markdown: | Command | Mean [ms] | Min [ms] | Max [ms] | Relative |.
var markdownHeading = regexp.MustCompile(`^\|\s*Command\s*\|\s*Mean \[(?:ms|s|µs)\]\s*\|`)

// Reader reads what hyperfine exports.
var Reader = observed.Reader{Tool: declared, Versions: "1.5 to 1.20", Kinds: []observed.Kind{
	{Name: kind, Read: importFile}, {Name: tableKind, Read: importCSV}}}
