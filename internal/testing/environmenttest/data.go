package environmenttest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tarelab/tare/internal/arms/environment"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

const tableText = "rows\x00and more"

// entry is a file of the data set.
type entry struct {
	Path string
	Mode fs.FileMode
	Size int64  // of a regular file
	Sum  string // SHA-256 of a regular file, or the target of a link
}

// dataSet makes a data set with all kinds of files that databases have.
func dataSet(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data set")
	write := func(name string, content []byte, mode fs.FileMode) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("table", []byte(tableText), 0o640)
	write("dir/old", nil, 0o600)
	write("dir/ö name", []byte(strings.Repeat("0123456789abcdef", 1<<16)), 0o444)
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dir/old", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(filepath.Join(dir, "sparse"))
	if err == nil {
		_, err = sparse.WriteAt([]byte("end"), 4<<20)
		sparse.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// list lists all files below a directory.
func list(dir string) ([]entry, error) {
	var all []entry
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{Path: strings.TrimPrefix(path, dir+"/"), Mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			e.Size = info.Size()
			e.Sum, err = hashFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			e.Sum, err = os.Readlink(path)
		}
		all = append(all, e)
		return err
	})
	return all, err
}

// data changes the data in the arm, and checks on the host that the arm's copy has changed and the data
// set has not.
func data(t *testing.T, f *fixture) {
	before, err := list(f.spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	place := f.arm.Place()
	f.start(t, "change", place.Volume).expect(t, environment.Exit{})
	after, err := list(f.spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Error("the arm changed the data set it is a copy of:", d)
	}
	secondProcess(t, f)
	if f.opts.Led {
		return // the host has no path to the volume
	}
	setuidUnreachable(t, f)
	for name, want := range map[string]string{"table": "changed", "new": "new"} {
		if b, err := os.ReadFile(filepath.Join(place.HostVolume, name)); err != nil || string(b) != want {
			t.Errorf("the host reads %q %v in %s of the volume, want %q", b, err, name, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(place.HostVolume, "dir/old")); !os.IsNotExist(err) {
		t.Errorf("the host still sees a file that the arm removed: %v", err)
	}
}

// setuidUnreachable checks that other users of the host cannot run a setuid file that an arm's root wrote,
// even if they can enter the scratch directory.
func setuidUnreachable(t *testing.T, f *fixture) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	at := f.arm.Place()
	file := filepath.Join(filepath.Dir(at.HostVolume), "setuid")
	if at.Volume == at.HostVolume { // the arm has no root file system of its own
		file = filepath.Join(at.HostVolume, "setuid")
	}
	text, err := os.ReadFile("/bin/true")
	if err == nil {
		err = errors.Join(os.WriteFile(file, text, 0o755), os.Chmod(file, 0o755|os.ModeSetuid))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	dir, err := os.Open(f.spec.Scratch)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for uid, want := range map[uint32]error{0: nil, 12345: os.ErrPermission} {
		cmd := exec.Command(strings.Replace(file, f.spec.Scratch, "/proc/self/fd/3", 1))
		cmd.ExtraFiles = []*os.File{dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if err := cmd.Run(); !errors.Is(err, want) {
			t.Errorf("user %d runs %s: %v, want %v", uid, file, err, want)
		}
	}
}

// secondProcess checks that a second process of the arm sees the files that the first one wrote.
func secondProcess(t *testing.T, f *fixture) {
	p := f.start(t, "report", f.arm.Place().Volume)
	p.expect(t, environment.Exit{})
	if said := p.said(t); !strings.Contains(said, `"Path":"new"`) || strings.Contains(said, `"Path":"dir/old"`) {
		t.Errorf("the second process does not see what the first one did: %s", said)
	}
}

// twoArms opens two arms of one run at the same time. Neither sees the other's data, and closing one
// does not change the other.
func (s suite) twoArms(t *testing.T) {
	before := TakeSnapshot(t)
	a := s.open(t)
	b := &fixture{suite: s, spec: a.spec, state: a.state, token: a.token}
	b.spec.Arm, b.spec.Port = "second", testneed.Port(t)
	var err error
	if b.arm, err = s.env.Open(t.Context(), b.spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.arm.Close() })
	a.start(t, "change", a.arm.Place().Volume).expect(t, environment.Exit{})
	p := b.start(t, "report", b.arm.Place().Volume)
	p.expect(t, environment.Exit{})
	if strings.Contains(p.said(t), `"Path":"new"`) {
		t.Error("one arm sees what the other wrote")
	}
	counting := b.start(t, "count")
	counting.ready(t)
	if err := a.arm.Close(); err != nil {
		t.Error(err)
	}
	if !counting.moves() {
		await(t, "the second arm to go on after the end of the first", counting.moves)
	}
	if err := b.arm.Close(); err != nil {
		t.Error(err)
	}
	b.release()
	a.close(t)
	before.MustEqual(t, a.spec.Run)
}

// cancelled opens with a context that has ended: Open fails and leaves nothing.
func (s suite) cancelled(t *testing.T) {
	before := TakeSnapshot(t)
	state := t.TempDir()
	j, err := journal.Open(state, "cancelled")
	if err != nil {
		t.Fatal(err)
	}
	spec := newSpec(t, s, j)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if arm, err := s.env.Open(ctx, spec); err == nil {
		t.Log("opened although cancelled: nothing in it takes long")
		if err := arm.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if left, err := journal.Leftovers(state, s.kinds()); err != nil || len(left) > 0 {
		t.Errorf("left: %+v %v", left, err)
	}
	before.MustEqual(t, spec.Run)
}
