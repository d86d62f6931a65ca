package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/ci.md prints the one table of exit codes, row by row, and no other.
func TestExitCodesAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "| exit code | means |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, m := range codeMeanings {
		want = append(want, fmt.Sprintf("| %d | %s |", m.code, m.means))
	}
	if table != strings.Join(want, "\n") {
		t.Errorf("docs/ci.md has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}
