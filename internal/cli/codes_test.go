package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// README prints the one table of exit codes, row by row, and no other.
func TestExitCodesAreThoseOfREADME(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
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
		t.Errorf("README has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}
