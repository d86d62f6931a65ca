package importer_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/importer"
)

// Every tool and kind is declared once, and the manual names each reader with its versions.
func TestReadersDeclareThemselves(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tool := range importer.Known() {
		if tool.Name == "" || seen[tool.Name] {
			t.Errorf("%q is declared twice or has no name", tool.Name)
		}
		seen[tool.Name] = true
		if len(tool.Begins)+len(tool.Keys)+len(tool.Shapes) == 0 && tool.IsLine == nil {
			t.Errorf("nothing tells the output of %s", tool.Name)
		}
		if tool.Kind != format.Unknown && !strings.Contains(string(manual), "\n| "+tool.Name) {
			t.Errorf("docs/import.md does not say that %s is read", tool.Name)
		}
	}
	for _, versions := range importer.Versions() {
		if !strings.Contains(string(manual), "| "+versions+" |") {
			t.Errorf("docs/import.md does not say that the versions %s are known", versions)
		}
	}
	kinds := map[string]bool{}
	for _, k := range importer.Kinds() {
		if kinds[k] {
			t.Errorf("the kind %s is declared twice", k)
		}
		kinds[k] = true
	}
}
