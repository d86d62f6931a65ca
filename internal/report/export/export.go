// Package export prints effects for programs: JSON, CSV and OpenMetrics. Names and units are those of the record, in base units; no
// word in them is for people. It computes nothing. What it prints is tested with
// the fixtures of package report.
package export

import (
	"fmt"
	"io"
	"strings"
)

// Clean takes out what would move the cursor or break a line: names and reasons come
// from files, tools and kernels.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unseen(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// Object prints anything of the record as one indented JSON object.
func Object(w io.Writer, v any) error {
	b, err := encode(v)
	if err == nil {
		_, err = w.Write(b)
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
