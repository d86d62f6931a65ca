package ceph

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// testBus plays the kernel of a host with devices of images.
type testBus struct {
	bus
	wrote []string
}

func newTestBus(t *testing.T, answer func(b *testBus, text string) error, ids ...string) *testBus {
	t.Helper()
	b := &testBus{bus: bus{dir: t.TempDir(), blocks: t.TempDir()}}
	for _, id := range ids {
		b.show(t, id, "tare-x", "-")
	}
	b.write = func(text string, _ time.Duration) error {
		b.wrote = append(b.wrote, text)
		return answer(b, text)
	}
	return b
}

// show maps an image under a number.
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

// ends sets how many writes of a device have ended.
func (b *testBus) ends(t *testing.T, id string, n int) {
	t.Helper()
	dir := filepath.Join(b.blocks, "rbd"+id)
	err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "stat"),
		fmt.Appendf(nil, "%8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d %8d\n", 40, 0, 320, 9, n, 0, 8*n, 0, 1, 9, 9, 0, 0, 0, 0, 0, 0), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

func (b *testBus) gone(id string) error { return os.RemoveAll(filepath.Join(b.dir, id)) }

var testImage = Image{Pool{Name: "rbd"}, "tare-x"}

// A device that is in use for longer than the bound is unmapped by force.
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
		if took := time.Since(began); took < unmapBound || !slices.Contains(b.wrote, "0") || b.wrote[len(b.wrote)-1] != "0 force" {
			t.Errorf("after %v: %q", took, b.wrote)
		}
	})
}

// A write that the kernel does not finish is an error, and no other write follows.
func TestUnmapThatHangs(t *testing.T) {
	b := newTestBus(t, func(*testBus, string) error { return os.ErrDeadlineExceeded }, "0")
	if err := b.unmap(testImage); !errors.Is(err, os.ErrDeadlineExceeded) || !slices.Equal(b.wrote, []string{"0"}) {
		t.Errorf("%q: %v", b.wrote, err)
	}
}

// A number that was reused for another image is not unmapped.
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
		if b.abortStalled(testImage, nil, time.Minute); !slices.Equal(b.wrote, []string{"0 force"}) {
			t.Errorf("%q", b.wrote)
		}
	})
}

// An image whose requests end slowly stays mapped. If none ends for the bound it is unmapped by
// force, and not earlier.
func TestAbortStalled(t *testing.T) {
	const bound, slow, requests = 30 * time.Second, 20500 * time.Millisecond, 10
	synctest.Test(t, func(t *testing.T) {
		b := newTestBus(t, func(b *testBus, _ string) error { return b.gone("0") }, "0")
		began, last := time.Now(), slow*(requests-1)
		go func() {
			for n := range requests { // a slow cluster
				b.ends(t, "0", n)
				time.Sleep(slow)
			}
		}()
		b.abortStalled(testImage, nil, bound)
		if took := time.Since(began); took < last+bound || took > last+bound+2*time.Second || !slices.Equal(b.wrote, []string{"0 force"}) {
			t.Errorf("the last request ended after %v; after %v it wrote %q", last, took, b.wrote)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newTestBus(t, func(*testBus, string) error { return nil }, "0")
		closed := make(chan struct{})
		time.AfterFunc(bound/2, func() { close(closed) })
		if b.abortStalled(testImage, closed, bound); len(b.wrote) > 0 {
			t.Errorf("closed, and it wrote %q", b.wrote)
		}
	})
}

// A device that is being unmapped is waited for; no device is no error.
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

// Every option with a value is read back from the kernel.
func TestTaken(t *testing.T) {
	b := newTestBus(t, nil, "0")
	// As Linux 7.2 had it in make rbd.
	const config = "127.0.0.1:15537 name=admin,osd_request_timeout=60,queue_depth=64 rbd tare-tare-test-arm -\n"
	if err := os.WriteFile(filepath.Join(b.dir, "0", "config_info"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for options, says := range map[string]string{
		"queue_depth=64,osd_request_timeout=60": "", "noudev,osd_request_timeout=60": "",
		"osd_request_timeout=6": "with osd_request_timeout=60", "queue_depth=64,alloc_size=65536": "with alloc_size=",
	} {
		err := b.check("/dev/rbd0", options)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", options, err, says)
		}
	}
	if err := b.check("/dev/rbd1", "osd_request_timeout=60"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a device of which the kernel says nothing: %v", err)
	}
}
