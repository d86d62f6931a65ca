package clickhouse

import (
	"bytes"
	"regexp"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
)

const (
	tool             = "clickhouse-benchmark"
	kind format.Kind = tool // text and JSON
)

// declared describes clickhouse-benchmark's output.
var declared = &format.Tool{
	Name: tool, Programs: []string{tool, "clickhouse benchmark"},
	Kind:   kind,
	Noise:  regexp.MustCompile(`^(?:No difference proven|Difference at|:-\] )`),
	Begins: []string{"Queries executed: ", `"query_time_percentiles"`},
	IsLine: func(b []byte) bool {
		return format.Begins(b, "Loaded ") && bytes.HasSuffix(b, []byte(" queries.")) || format.Has(b, "QPS: ") && format.Has(b, ", RPS: ")
	},
	Keys: [][]string{{"statistics", "QPS"}, {"query_time_percentiles"}},
	Era:  era,
}

// Reader reads what clickhouse-benchmark prints.
var Reader = observed.Reader{Tool: declared, Versions: versions, Kinds: []observed.Kind{{Name: kind, Read: importFile}}}

func era(b []byte) string {
	switch {
	case format.Has(b, ", queries: "):
		return "23.8 or later"
	case format.Has(b, "connection ") && format.Has(b, ", queries "):
		return "19.x"
	case format.Has(b, ", queries "):
		return "20 to 23.7"
	case format.Has(b, "QPS: "):
		return "1.1 to 18.x"
	}
	return ""
}
