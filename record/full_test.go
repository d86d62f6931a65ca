package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// A disk that is full for a while loses only the lines of the failed writes.
func TestARecordOnAFullDisk(t *testing.T) {
	testneed.Root(t)
	dir := filepath.Join(t.TempDir(), "tare-disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=96k"); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 32<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := record.WriteJSON(dir, record.PlanFile, record.Plan{Schema: record.PlanSchema}); err != nil {
		t.Fatal(err)
	}
	said := record.Line{Warning: &record.Warning{Text: record.InProse(strings.Repeat("x", 3000))}}
	kept := 0
	for ; err == nil && kept < 100; kept++ {
		err = w.Append(said)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(record.Line{End: &record.End{Reason: "error"}}); err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(dir)
	if err != nil || r.Torn || len(r.Lines) != kept || r.Lines[kept-1].End == nil {
		t.Errorf("%d lines of %d, torn %v: %v", len(r.Lines), kept, r.Torn, err)
	}
}
