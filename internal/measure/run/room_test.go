package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/loads/workload"
	"github.com/tarelab/tare/internal/measure/run"
	"github.com/tarelab/tare/internal/planning/experiment"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/record"
)

// disk is a file system in memory, of which a test uses up room.
func disk(t *testing.T, options string) string {
	t.Helper()
	testneed.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tare-test", dir, "tmpfs", 0, options); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("something still uses the file system: %v", err)
			unix.Unmount(dir, unix.MNT_DETACH)
		}
	})
	return dir
}

// whileMeasured calls do once, when windows are measured.
func whileMeasured(t *testing.T, do func() error) func(run.Event) {
	done := false
	return func(e run.Event) {
		if e.Phase == "measure" && e.Block > 0 && !done {
			done = true
			if err := do(); err != nil {
				t.Error(err)
			}
		}
	}
}

// endedFull checks what every run must say that ended for want of room: reason and remedy, and a
// readable record with everything that was measured.
func endedFull(t *testing.T, r *record.Result, out run.Outcome, err error, kind, of string) record.Room {
	t.Helper()
	if out.Reason != record.EndedFull || !errors.Is(err, reserve.ErrShort) || hint.Of(err) == "" || !strings.Contains(err.Error(), of) {
		t.Fatalf("ended by %q: %v (%s)", out.Reason, err, hint.Of(err))
	}
	if out.Unwritten != nil || out.NotRestored != nil {
		t.Errorf("%v, %v", out.Unwritten, out.NotRestored)
	}
	end := r.Lines[len(r.Lines)-1].End
	if end == nil || end.Reason != record.EndedFull || end.Detail == "" {
		t.Fatalf("the record ends with %+v", r.Lines[len(r.Lines)-1])
	}
	for _, room := range end.Room {
		if room.Kind == kind && strings.Contains(room.Of, of) {
			return room
		}
	}
	t.Fatalf("nothing is said of the %s of %s: %+v", kind, of, end.Room)
	return record.Room{}
}

// Another program fills the disk under test: the run ends with what it has measured while a
// gibibyte, or a thousand inodes, is still free, and removes its own files.
func TestEndsBeforeTheDiskIsFull(t *testing.T) {
	for name, c := range map[string]struct {
		options, kind string
		bound         int64
		fill          func(dir string) error
	}{
		"bytes": {"size=1300m", record.RoomBytes, 1 << 30, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "theirs"), make([]byte, 300<<20), 0o600)
		}},
		"inodes": {"size=4g,nr_inodes=4000", record.RoomInodes, 1000, func(dir string) error {
			for i := range 3200 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("theirs", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e, cat := volumes(experiment.ArmSpec{Name: "layer"}, experiment.ArmSpec{Name: "other", Options: record.Options{Volume: "bind"}})
			e.Unequal, e.Budget, e.Scratch = experiment.Mark, 20*time.Second, disk(t, c.options)
			r, out, err := executeShowing(context.Background(), t, e, cat, whileMeasured(t, func() error { return c.fill(e.Scratch) }))
			room := endedFull(t, r, out, err, c.kind, e.Scratch)
			if room.Bound != c.bound || room.Lowest >= c.bound || room.Lowest == 0 {
				t.Errorf("%+v", room)
			}
			if blocksOf(r) == 0 {
				t.Error("what was measured before is not in the record")
			}
			if !strings.Contains(hint.Of(err), "--scratch") {
				t.Errorf("the remedy is %q", hint.Of(err))
			}
			left, _ := filepath.Glob(filepath.Join(e.Scratch, "tare-*"))
			if len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			nothingLeft(t)
		})
	}
}

func blocksOf(r *record.Result) (n int) {
	for _, l := range r.Lines {
		if l.Block != nil && l.Block.Number >= 0 {
			n++
		}
	}
	return n
}

// writing is a load that writes a fixed amount into the data directory of its arm, at most 20 times
// a second.
func writing(volume, amount string, budget time.Duration) *experiment.Experiment {
	e, _ := volumes(experiment.ArmSpec{Name: "disk", Options: record.Options{Volume: volume}}, experiment.ArmSpec{Name: "other", Options: record.Options{Volume: volume}})
	e.Unequal, e.Budget = experiment.Mark, budget
	e.Workloads = []experiment.Workload{{Name: "command", Kind: "command", Share: 1, Baseline: "disk", Params: map[string]string{
		"command": "head -c " + amount + " /dev/zero >>grows && sleep 0.05", "shell": "on",
	}}}
	return e
}

// The load itself fills the disk: a volume on a file system of the host, where the fixed bounds
// hold, and a file system that tare made for the plan, of which a twentieth stays free.
func TestEndsBeforeTheLoadFillsTheDisk(t *testing.T) {
	testneed.Root(t)
	small := disk(t, "size=1500m")
	for name, c := range map[string]struct{ volume, of, amount string }{
		"host": {"dir:" + small, small, "4M"}, "tmpfs": {"tmpfs", ".volume/mnt", "512K"}, "ext4": {"loop:ext4", ".volume/mnt", "512K"},
	} {
		t.Run(name, func(t *testing.T) {
			e := writing(c.volume, c.amount, 90*time.Second)
			_, cat := volumes(e.Named...)
			cat.Workload = func(string) (workload.Workload, bool) { return workload.Command{}, true }
			r, out, err := execute(context.Background(), t, e, cat)
			room := endedFull(t, r, out, err, record.RoomBytes, c.of)
			if room.Lowest < room.Bound/2 {
				t.Errorf("%+v", room)
			}
			for _, l := range r.Lines {
				for _, w := range windowsOf(l) {
					if w.Dropped == record.DropError || w.Dropped == record.DropDied {
						t.Errorf("%s: the load met a full disk: %s", w.Arm, w.Detail)
					}
				}
			}
			nothingLeft(t)
		})
	}
}

func windowsOf(l record.Line) []record.Window {
	if l.Block == nil {
		return nil
	}
	return l.Block.Windows
}
