package record

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A record locked by a run is running, whatever its last line is.
func TestRunning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "result")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, f := range []struct {
		name string
		v    any
	}{{PlanFile, Plan{Schema: PlanSchema}}, {ManifestFile, Manifest{}}} {
		if err := WriteJSON(dir, f.name, f.v); err != nil {
			t.Fatal(err)
		}
	}
	running := func(want bool) {
		t.Helper()
		for how, read := range map[string]func(string) (*Result, error){"Read": Read, "Scan": Scan} {
			if r, err := read(dir); err != nil || r.Running != want {
				t.Errorf("%s: running %v, want %v: %v", how, r.Running, want, err)
			}
		}
	}
	running(false)
	f, err := os.Open(filepath.Join(dir, RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	running(true)
	f.Close()
	running(false)
}
