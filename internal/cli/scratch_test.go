package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
)

func TestScratchAt(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("disk", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, given := range []string{"disk", "./disk/", filepath.Join(dir, "disk")} {
		if got, err := scratchAt(given); err != nil || got != filepath.Join(dir, "disk") {
			t.Errorf("%s: %q, %v", given, got, err)
		}
	}
	for given, want := range map[string]string{"dsik": "there is no scratch directory", file: "is a file", file + "/below": "not a directory"} {
		_, err := scratchAt(given)
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
		if _, err := os.Stat("dsik"); err == nil {
			t.Error("it was made")
		}
	}
	if _, err := scratchAt("dsik"); !strings.Contains(hint.Of(err), "mount it") {
		t.Errorf("no remedy: %v", err)
	}
}
