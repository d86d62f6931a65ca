package journal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testneed"
)

func TestUndoUnknownKind(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, Directory(own), Step{Kind: "ebpf", Path: "/x"}, Directory("/etc"))
	for range 2 { // again and again the same
		r, err := Undo(dir, "r1")
		if err != nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[1].Err.Error(), `"ebpf"`) {
			t.Errorf("%+v %v", r, err)
		}
		left, err := Leftovers(dir)
		if err != nil || len(left) != 1 || left[0].Live || len(left[0].Steps) != 2 {
			t.Errorf("%+v %v", left, err)
		}
	}
	if !gone(own) {
		t.Error("one step that cannot be undone kept another from it")
	}
}

func TestUndoGroupOfAnother(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err == nil {
		err = tree.Can()
	}
	testneed.Feature(t, "cgroup", err)
	path := fmt.Sprintf("tare-jo%d/arm", os.Getpid())
	plan, err := tree.Plan(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := tree.Make(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	plan.Enable, plan.EnableAt = []string{"pids"}, filepath.Dir(plan.Dirs[0])
	dir := t.TempDir()
	dead(t, dir, "r1", nil, Group(plan))
	if r, err := Undo(dir, "r1"); err != nil || len(r.Failed) != 1 || gone(plan.Dirs[len(plan.Dirs)-1]) {
		t.Errorf("%+v %v", r, err)
	}
}

func TestUndoProcessOfAnyStart(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	s, err := Process(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	dead(t, dir, "r1", func(h *Header) { h.Boot = "" }, s)
	if r, err := Undo(dir, "r1"); err != nil || len(r.Failed) != 1 || hint.Of(r.Failed[0].Err) == "" {
		t.Errorf("%+v %v", r, err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("it was killed: %v", err)
	}
}

func TestUndoByAnothersProgram(t *testing.T) {
	top := t.TempDir()
	bin, root := filepath.Join(top, "bin"), filepath.Join(top, "tare-r1-arm", "runtime")
	seen, script := filepath.Join(top, "seen"), "#!/bin/sh\nexec >>%s\necho $0 \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.MkdirAll(filepath.Join(root, "tare-r1-arm-1"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"runc", "podman"} {
		if err := os.WriteFile(filepath.Join(bin, name), fmt.Appendf(nil, script, seen), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	steps := map[string]Step{
		"runc":   Container(filepath.Join(bin, "runc"), root, "tare-r1-arm-1"),
		"podman": Engine("podman", filepath.Join(bin, "podman"), "tare-r1-arm"),
	}
	elsewhere := os.Getenv("PATH")
	for name, s := range steps {
		for _, c := range []struct {
			path string
			mode os.FileMode
			runs bool
		}{{elsewhere, 0o777, false}, {elsewhere, 0o755, true}, {bin + ":" + elsewhere, 0o777, true}} {
			t.Setenv("PATH", c.path)
			if err := errors.Join(os.RemoveAll(seen), os.Chmod(bin, c.mode)); err != nil {
				t.Fatal(err)
			}
			err := s.undo("r1", sinceThis, &together{})
			if ran := !gone(seen); ran != c.runs || !c.runs && (err == nil || hint.Of(err) == "") {
				t.Errorf("%s with mode %o and PATH %s: ran %v, %v", name, c.mode, c.path, ran, err)
			}
		}
	}
}

func TestUndoOfOthers(t *testing.T) {
	testneed.Root(t)
	for name, change := range map[string]func(dir string) error{
		"file of another":   func(dir string) error { return os.Chown(journalFile(dir, "r1"), 65534, 65534) },
		"folder of another": func(dir string) error { return os.Chown(journalDir(dir), 65534, 65534) },
		"file for all":      func(dir string) error { return os.Chmod(journalFile(dir, "r1"), 0o666) },
		"folder for all":    func(dir string) error { return os.Chmod(journalDir(dir), 0o777) },
	} {
		dir, own := t.TempDir(), filepath.Join(t.TempDir(), "tare-r1")
		if err := os.Mkdir(own, 0o755); err != nil {
			t.Fatal(err)
		}
		dead(t, dir, "r1", nil, Directory(own))
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if r, err := Undo(dir, "r1"); err == nil || hint.Of(err) == "" || gone(own) || len(files(t, dir)) != 1 {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
}

// A pipe, a link or a file without an end in the place of a journal is named, and neither waited
// for nor followed.
func TestPlantedJournals(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"a pipe":     func(p string) error { return unix.Mkfifo(p, 0o600) },
		"a link":     func(p string) error { return os.Symlink("/dev/zero", p) },
		"a terabyte": func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 1<<40)) },
	} {
		dir := t.TempDir()
		dead(t, dir, "r1", nil)
		if err := errors.Join(os.RemoveAll(journalFile(dir, "r1")), plant(journalFile(dir, "r1"))); err != nil {
			t.Fatal(err)
		}
		if all, err := Leftovers(dir); err != nil || len(all) != 1 || all[0].Err == nil {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if _, err := Undo(dir, "r1"); err == nil {
			t.Errorf("%s was undone", name)
		}
		Collect(dir)
	}
}
