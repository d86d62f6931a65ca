package ceph

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// testBus is a host with devices of images, whose kernel answers as it is told.
type testBus struct {
	bus
	wrote []string
}

func newTestBus(t *testing.T, answer func(b *testBus, text string) error, ids ...string) *testBus {
	t.Helper()
	b := &testBus{bus: bus{dir: t.TempDir()}}
	for _, id := range ids {
		b.show(t, id, "tare-x", "-")
	}
	b.write = func(text string, _ time.Duration) error {
		b.wrote = append(b.wrote, text)
		return answer(b, text)
	}
	return b
}

// show gives a number to an image.
func (b *testBus) show(t *testing.T, id, name, snap string) {
	t.Helper()
	dir := filepath.Join(b.dir, id)
	err := os.MkdirAll(dir, 0o755)
	for file, text := range map[string]string{"pool": "rbd", "name": name, "current_snap": snap} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *testBus) gone(id string) error { return os.RemoveAll(filepath.Join(b.dir, id)) }

var testImage = Image{Pool{Name: "rbd"}, "tare-x"}

// What a file system holds although it was unmounted goes by force, when it has been in use
// for the bound.
func TestUnmapByForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestBus(t, func(b *testBus, text string) error {
			if text == "0 force" {
				return b.gone("0")
			}
			return unix.EBUSY
		}, "0")
		began := time.Now()
		if err := b.unmap(testImage); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < unmaps || !slices.Contains(b.wrote, "0") || b.wrote[len(b.wrote)-1] != "0 force" {
			t.Errorf("after %v: %q", took, b.wrote)
		}
	})
}

// A write that the kernel is still at is an error, and nothing more is written.
func TestUnmapThatHangs(t *testing.T) {
	b := newTestBus(t, func(*testBus, string) error { return os.ErrDeadlineExceeded }, "0")
	if err := b.unmap(testImage); !errors.Is(err, os.ErrDeadlineExceeded) || !slices.Equal(b.wrote, []string{"0"}) {
		t.Errorf("%q: %v", b.wrote, err)
	}
}

// A number that was given to another image meanwhile is left alone.
func TestNumberOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestBus(t, func(b *testBus, text string) error {
			b.show(t, "0", "somebody", "-")
			return unix.EBUSY
		}, "0")
		if err := b.unmap(testImage); err != nil || !slices.Equal(b.wrote, []string{"0"}) {
			t.Errorf("%q: %v", b.wrote, err)
		}
		b = newTestBus(t, func(b *testBus, text string) error {
			b.show(t, "1", "somebody", "-")
			return b.gone("0")
		}, "0", "1")
		b.show(t, "2", "tare-x", "snapshot")
		if b.abort(testImage); !slices.Equal(b.wrote, []string{"0 force"}) {
			t.Errorf("%q", b.wrote)
		}
	})
}

// One that is on its way is waited for, and none is fine.
func TestUnmapOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestBus(t, func(b *testBus, text string) error {
			if len(b.wrote) < 3 {
				return unix.EINPROGRESS
			}
			return errors.Join(unix.ENOENT, b.gone("0"))
		}, "0")
		if err := b.unmap(testImage); err != nil || !slices.Equal(b.wrote, []string{"0", "0", "0"}) {
			t.Errorf("%q: %v", b.wrote, err)
		}
		if err := (bus{dir: filepath.Join(t.TempDir(), "none")}).unmap(testImage); err != nil {
			t.Error(err)
		}
	})
}
