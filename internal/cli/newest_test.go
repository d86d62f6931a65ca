package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tarelab/tare/record"
)

// A directory with a plan.json of another kind, such as the JSON schemas of this project, is no result.
func TestNewestIsARun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"schema/" + record.PlanFile, "schema/" + record.ManifestFile} {
		empty(t, path)
	}
	if got := newestResult(); got != "" {
		t.Errorf("took %q for a result", got)
	}
	for _, path := range []string{"below/r/" + record.PlanFile, "below/r/" + record.RecordFile} {
		empty(t, path)
	}
	if got := newestResult(); got != "below/r" {
		t.Errorf("the newest result is %q, want below/r", got)
	}
}

func empty(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
}
