package image_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/outside/image"
	"github.com/tarelab/tare/internal/testing/imagebuild"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, filepath.Join(dir, "none")} {
		if _, err := image.Open(file); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestForeign: an image for another architecture is refused before an engine is asked.
func TestForeign(t *testing.T) {
	i, err := image.Open(imagebuild.Foreign(t, "localhost/foreign:1"))
	if err != nil {
		t.Fatal(err)
	}
	err = i.Load(t.Context(), nil)
	if !errors.Is(err, image.ErrForeign) || hint.Of(err) == "" || !strings.Contains(err.Error(), "linux/riscv64") {
		t.Errorf("%v, want that it is for another architecture", err)
	}
}
