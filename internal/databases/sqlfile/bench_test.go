package sqlfile

import (
	"strings"
	"testing"
)

// BenchmarkReader reads the rows of a dump, which are nearly all of it.
func BenchmarkReader(b *testing.B) {
	text := "INSERT INTO t VALUES " + strings.Repeat("(12345,'a text of some words, as rows have',NULL,4.99),", 100_000) + "(1,'',NULL,1);\n"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := Each(NewReader(strings.NewReader(text), MySQL, Longest), func(Statement) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
