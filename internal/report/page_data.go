package report

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"html/template"
	"strconv"
	"strings"

	"github.com/tarelab/tare/internal/report/export"
)

// csvBuffer collects lines of CSV.
type csvBuffer struct {
	bytes.Buffer
	out *csv.Writer
}

func (b *csvBuffer) row(fields ...string) {
	if b.out == nil {
		b.out = csv.NewWriter(&b.Buffer)
	}
	for i, f := range fields {
		if _, err := strconv.ParseFloat(f, 64); err != nil {
			fields[i] = export.Cell(f)
		}
	}
	b.out.Write(fields)
}

// dataURL is a file within the page; empty when it cannot be written.
func dataURL(fill func(*csvBuffer) error) template.URL {
	var b csvBuffer
	if err := fill(&b); err != nil {
		return ""
	}
	if b.out != nil {
		b.out.Flush()
	}
	return template.URL("data:text/csv;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
}

// slug are the letters, digits and dashes of a name.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s)
}

// fileName is the name of a download: letters, digits and dashes.
func fileName(w workload, what string) string { return "tare-" + slug(w.Name) + "-" + what + ".csv" }
