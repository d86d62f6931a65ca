package faultfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Each kind of operation is counted once and fails with the fault's error, and no other kind
// fails.
func TestOneByNumber(t *testing.T) {
	f := Mount(t)
	path := func(name string) string { return filepath.Join(f.Dir, name) }
	script := map[Kind]func() error{
		Create: func() error { return create(path("c")) },
		Mkdir:  func() error { return os.Mkdir(path("d"), 0o700) },
		Link:   func() error { return os.Link(path("there"), path("l")) },
		Rename: func() error { return os.Rename(path("there"), path("r")) },
		Unlink: func() error { return os.Remove(path("there")) },
		Resize: func() error { return os.Truncate(path("there"), 7) },
		Write: func() error {
			return opened(path("there"), func(o *os.File) error { _, err := o.WriteString("x"); return err })
		},
		Sync: func() error { return opened(path("there"), (*os.File).Sync) },
	}
	for _, kind := range Kinds() {
		for _, want := range []syscall.Errno{0, syscall.ENOSPC, syscall.EIO} {
			if err := os.WriteFile(filepath.Join(f.Backing, "there"), []byte("there"), 0o600); err != nil {
				t.Fatal(err)
			}
			f.Arm(Fault{}, nil)
			if want != 0 {
				f.Arm(Fault{Kind: kind, Number: 1, Error: want}, nil)
			}
			if err := script[kind](); want == 0 && err != nil || want != 0 && !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", kind, err, want)
			}
			if seen := f.Seen(); len(seen) != 1 || seen[0].Kind != kind || seen[0].Number != 1 {
				t.Errorf("%s: counted %v", kind, seen)
			}
			if hit := f.Hit(); (hit != nil) != (want != 0) {
				t.Errorf("%s with %v: hit %v", kind, want, hit)
			}
			f.Disarm()
			names, err := os.ReadDir(f.Backing)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if err := os.Remove(filepath.Join(f.Backing, n.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func create(path string) error {
	o, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return o.Close()
}

func opened(path string, do func(*os.File) error) error {
	o, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(do(o), o.Close())
}

// A full disk has no room for new data; existing files can be removed.
func TestLasting(t *testing.T) {
	f := Mount(t)
	f.Arm(Fault{Kind: Create, Number: 2, Error: syscall.ENOSPC, Lasting: true}, nil)
	for i, want := range []error{nil, syscall.ENOSPC, syscall.ENOSPC} {
		if err := create(filepath.Join(f.Dir, string(rune('a'+i)))); !errors.Is(err, want) {
			t.Errorf("file %d: %v, want %v", i, err, want)
		}
	}
	if err := os.Mkdir(filepath.Join(f.Dir, "d"), 0o700); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a directory: %v", err)
	}
	if err := os.Remove(filepath.Join(f.Dir, "a")); err != nil {
		t.Errorf("removed: %v", err)
	}
	f.Disarm()
	if err := create(filepath.Join(f.Dir, "e")); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

// The content at a sync is kept.
func TestSynced(t *testing.T) {
	f := Mount(t)
	f.KeepSynced("kept")
	o, err := os.Create(filepath.Join(f.Dir, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, step := range []func() error{
		func() error { _, err := o.WriteString("one\n"); return err }, o.Sync,
		func() error { _, err := o.WriteString("two\n"); return err },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(f.Synced("kept")); got != "one\n" {
		t.Errorf("kept %q", got)
	}
}
