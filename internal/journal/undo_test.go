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
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testneed"
)

func credential(uid, gid uint32) *syscall.Credential {
	return &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}
}

// dead writes the journal of a run whose process is gone.
func dead(t testing.TB, dir, run string, change func(*Header), steps ...Step) {
	t.Helper()
	h, err := self(run)
	if err != nil {
		t.Fatal(err)
	}
	h.Start++ // this very number, but another process
	if change != nil {
		change(&h)
	}
	lines := []line{{Header: &h}}
	for i, s := range steps {
		lines = append(lines, line{Step: &s, Token: Token(i + 1)})
	}
	if err := os.MkdirAll(journalDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journalFile(dir, run), write(lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// undo undoes a run and expects that nothing fails.
func undone(t testing.TB, dir, run string) Report {
	t.Helper()
	r, err := Undo(dir, run)
	if err != nil {
		t.Error(err)
	}
	for _, f := range r.Failed {
		t.Errorf("%+v: %v", f.Step, f.Err)
	}
	return r
}

func TestUndoDirectory(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	outside := filepath.Join(target, "outside")
	for _, d := range []string{own + "/a/b/c", own + "/closed/work", outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{own + "/a/file", own + "/a/b/c/file", outside + "/file"} {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, own+"/a/link"), os.Symlink("nowhere", own+"/dangling"),
		unix.Mkfifo(own+"/fifo", 0o600), os.Chmod(own+"/closed", 0)); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, Directory(own), Directory(filepath.Join(target, "tare-r1-never-made")),
		Directory(outside+"/file/tare-r1"), Directory(outside+"/file/below/tare-r1"))
	if r := undone(t, dir, "r1"); len(r.Undone) != 4 {
		t.Errorf("%+v", r)
	}
	if !gone(own) || gone(outside+"/file") {
		t.Error("removed too little or too much")
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("journals left: %v", got)
	}
	if _, err := Undo(dir, "r1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("undone twice: %v", err)
	}
}

// As an ordinary user too: the work directory of an overlay has mode 0, and from one that can
// only be read no way leads back.
func TestUndoDirectoryAsOrdinaryUser(t *testing.T) {
	uid, gid := testneed.Ordinary(t)
	top, err := os.MkdirTemp("/tmp", "journal") // t.TempDir has closed parents
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	own := filepath.Join(top, "tare-r1")
	if err := errors.Join(os.MkdirAll(own+"/work/work/x", 0o755), os.Mkdir(own+"/read", 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{top, own, own + "/read", own + "/work", own + "/work/work", own + "/work/work/x"} {
		if err := os.Chown(d, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(own+"/work/work", 0), os.Chmod(own+"/read", 0o400)); err != nil {
		t.Fatal(err)
	}
	dead(t, top, "r1", nil, Directory(own))
	for _, f := range []string{top + "/journal", journalFile(top, "r1")} {
		if err := os.Chown(f, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := helper("undo", top, "r1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(uid, gid)}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if !gone(own) {
		t.Error("not removed")
	}
}

// Nothing is removed across a mount point, and the mount's own step comes
// first where there is one.
func TestUndoMountAndDirectory(t *testing.T) {
	testneed.Root(t)
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	point := filepath.Join(own, "tare-r2-with space")
	precious := filepath.Join(target, "precious")
	if err := errors.Join(os.MkdirAll(point, 0o755), os.MkdirAll(precious, 0o755), os.WriteFile(precious+"/file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	// A bind mount of the same file system: only the mount's mark tells.
	testneed.Feature(t, "bind mount", unix.Mount(precious, point, "", unix.MS_BIND, ""))
	defer unix.Unmount(point, unix.MNT_DETACH)
	dead(t, dir, "r1", nil, Directory(own))
	r, err := Undo(dir, "r1")
	if err != nil || len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Err.Error(), "umount") {
		t.Errorf("%+v %v", r, err)
	}
	above, err := unix.Open(target, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&walker{fd: above}).remove("tare-r1"); err == nil || !strings.Contains(err.Error(), "is a mount point") {
		t.Errorf("the walk itself: %v", err)
	}
	if gone(precious+"/file") || len(files(t, dir)) != 1 {
		t.Fatal("removed across a mount point, or forgot what is left")
	}
	dead(t, dir, "r2", nil, Directory(filepath.Join(target, "tare-r2")), Mount(point), Mount(filepath.Join(own, "tare-r2-never")))
	undone(t, dir, "r2")
	undone(t, dir, "r1")
	if !gone(own) || gone(precious+"/file") {
		t.Error("removed too little or too much")
	}
}

// What ends with the machine is not undone once more on the next one.
func TestUndoRebooted(t *testing.T) {
	dir := t.TempDir()
	dead(t, dir, "r1", func(h *Header) { h.Boot = "another" }, Mount("/x/tare-r1-a"), Process2(1<<21, 5))
	undone(t, dir, "r1")
}

// Process2 is a process step of which nothing lives.
func Process2(pid int, start uint64) Step { return Step{Kind: kindProcess, Pid: pid, Start: start} }

func TestUndoProcess(t *testing.T) {
	dir := t.TempDir()
	var steps []Step
	var cmds []*exec.Cmd
	for range 2 {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
		s, err := Process(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	defer cmds[1].Wait()
	defer cmds[1].Process.Kill()
	steps[1].Start-- // the number now belongs to another process
	died := make(chan error, 1)
	go func() { died <- cmds[0].Wait() }()
	dead(t, dir, "r1", nil, steps...)
	undone(t, dir, "r1")
	select {
	case err := <-died:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the process lives")
	}
	if err := cmds[1].Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("killed a process that only has the number: %v", err)
	}
}

func TestUndoGroup(t *testing.T) {
	testneed.Root(t)
	tree, err := cgroup.Detect("/")
	if err == nil {
		err = tree.Can("cpu", "memory")
	}
	testneed.Feature(t, "cgroup", err)
	run := fmt.Sprintf("j%d", os.Getpid())
	path := "tare-" + run + "/arm"
	plan, err := tree.Plan(path, []string{"cpu", "memory"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := tree.Make(path, []string{"cpu", "memory"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Remove()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	f, err := g.Freezer()
	if err == nil {
		err = errors.Join(f.Freeze(time.Minute), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	dir := t.TempDir()
	dead(t, dir, run, nil, Group(plan))
	undone(t, dir, run)
	if found, err := tree.Find("tare-" + run); err != nil || len(found) > 0 {
		t.Errorf("left: %v %v", found, err)
	}
}

// Steps of a newer version are named and the others undone all the same.
// A group of another run stays, also where a step of this one says that controllers were
// enabled for it.
// A process is killed by a journal that says which start of the machine it is of, and by no
// other: its number and its ticks are another's after the next one.
// The program of a step is run where PATH leads to it or nobody else could have put it there.
// The process that waits in a directory is killed by a later step: what failed
// is tried once more.
func TestUndoTwice(t *testing.T) {
	testneed.Root(t)
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.MkdirAll(own+"/m", 0o755); err != nil {
		t.Fatal(err)
	}
	testneed.Feature(t, "tmpfs", unix.Mount("tmpfs", own+"/m", "tmpfs", 0, ""))
	defer unix.Unmount(own+"/m", unix.MNT_DETACH)
	dead(t, dir, "r1", nil, Mount(own+"/m"), Directory(own)) // the wrong way round
	if r := undone(t, dir, "r1"); len(r.Undone) != 2 {
		t.Errorf("%+v", r)
	}
	if !gone(own) {
		t.Error("left")
	}
}

func TestUndoTornAndHeadless(t *testing.T) {
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dead(t, dir, "r1", nil, Directory(own), Step{Kind: "ebpf"})
	f, err := os.OpenFile(journalFile(dir, "r1"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"step":{"kind":"dir`)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Undo(dir, "r1")
		if err != nil || len(r.Failed) != 1 {
			t.Errorf("%+v %v", r, err)
		}
	}
	if err := os.WriteFile(journalFile(dir, "r2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left, err := Leftovers(dir)
	if err != nil || len(left) != 2 || left[1].Err == nil || left[1].Live || left[1].Header.Run != "r2" {
		t.Errorf("%+v %v", left, err)
	}
	for range 2 {
		if _, err := Undo(dir, "r2"); err == nil || len(files(t, dir)) != 2 {
			t.Errorf("an empty journal: %v, files %v", err, files(t, dir))
		}
	}
}

// A process that is over and was not reaped yet is gone.
func TestZombieIsGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	h, err := self("r1")
	if err != nil {
		t.Fatal(err)
	}
	h.Pid = cmd.Process.Pid
	if h.Start, err = startTicks(h.Pid); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); h.alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a zombie counts as alive")
		}
	}
}

// What another user could have written is not acted on.
