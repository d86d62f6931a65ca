package steps

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

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/testing/journaltest"
	"github.com/tarelab/tare/internal/testing/testneed"
	"github.com/tarelab/tare/internal/undo/journal"
)

// dead writes the journal of a run whose process is gone.
func dead(t testing.TB, dir, run string, steps ...journal.Step) {
	t.Helper()
	journaltest.Write(t, dir, journaltest.Header(t, run), steps...)
}

// undone undoes a run and expects no failure.
func undone(t testing.TB, dir, run string) journal.Report {
	t.Helper()
	return journaltest.Undone(t, dir, run, Kinds())
}

// journals are the names of the journals that are left.
func journals(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(journaltest.File(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
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
	dead(t, dir, "r1", Directory{own}, Directory{filepath.Join(target, "tare-r1-never-made")},
		Directory{outside + "/file/tare-r1"}, Directory{outside + "/file/below/tare-r1"})
	if r := undone(t, dir, "r1"); len(r.Undone) != 4 {
		t.Errorf("%+v", r)
	}
	if !gone(own) || gone(outside+"/file") {
		t.Error("removed too little or too much")
	}
	if got := journals(t, dir); len(got) > 0 {
		t.Errorf("journals left: %v", got)
	}
	if _, err := journal.Undo(dir, "r1", Kinds()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("undone twice: %v", err)
	}
}

// An ordinary user can do it too: the work directory of an overlay has mode 0, and a directory
// that is only readable cannot be left by its "..".
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
	dead(t, top, "r1", Directory{own})
	for _, f := range []string{top + "/journal", journaltest.File(top, "r1")} {
		if err := os.Chown(f, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := helper("undo", top, "r1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid, Groups: []uint32{}}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if !gone(own) {
		t.Error("not removed")
	}
}

// Nothing is removed across a mount point; the step of the mount is undone first.
func TestUndoMountAndDirectory(t *testing.T) {
	testneed.Root(t)
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	point := filepath.Join(own, "tare-r2-with space")
	precious := filepath.Join(target, "precious")
	if err := errors.Join(os.MkdirAll(point, 0o755), os.MkdirAll(precious, 0o755), os.WriteFile(precious+"/file", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	// A bind mount of the same file system is recognised only by STATX_ATTR_MOUNT_ROOT.
	testneed.Feature(t, "bind mount", unix.Mount(precious, point, "", unix.MS_BIND, ""))
	defer unix.Unmount(point, unix.MNT_DETACH)
	dead(t, dir, "r1", Directory{own})
	r, err := journal.Undo(dir, "r1", Kinds())
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
	if gone(precious+"/file") || len(journals(t, dir)) != 1 {
		t.Fatal("removed across a mount point, or forgot what is left")
	}
	dead(t, dir, "r2", Directory{filepath.Join(target, "tare-r2")}, Mount{point}, Mount{filepath.Join(own, "tare-r2-never")})
	undone(t, dir, "r2")
	undone(t, dir, "r1")
	if !gone(own) || gone(precious+"/file") {
		t.Error("removed too little or too much")
	}
}

// After a restart steps of changes that ended with the machine are not undone.
func TestUndoRebooted(t *testing.T) {
	dir := t.TempDir()
	h := journaltest.Header(t, "r1")
	h.Boot = "another"
	journaltest.Write(t, dir, h, Mount{"/x/tare-r1-a"}, Process{1 << 21, 5}, Group{cgroup.Plan{Dirs: []string{"/x/tare-r1"}}})
	undone(t, dir, "r1")
}

func TestUndoProcess(t *testing.T) {
	dir := t.TempDir()
	var all []Process
	var cmds []*exec.Cmd
	for range 2 {
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
		s, err := ProcessOf(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	defer cmds[1].Wait()
	defer cmds[1].Process.Kill()
	all[1].Start-- // the pid is another process's now
	died := make(chan error, 1)
	go func() { died <- cmds[0].Wait() }()
	dead(t, dir, "r1", all[0], all[1])
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
	dead(t, dir, run, Group{plan})
	undone(t, dir, run)
	if found, err := tree.Find("tare-" + run); err != nil || len(found) > 0 {
		t.Errorf("left: %v %v", found, err)
	}
}

// A process keeps the directory busy until a later step kills it: the failed step is tried once
// more.
func TestUndoTwice(t *testing.T) {
	testneed.Root(t)
	dir, target := t.TempDir(), t.TempDir()
	own := filepath.Join(target, "tare-r1")
	if err := os.MkdirAll(own+"/m", 0o755); err != nil {
		t.Fatal(err)
	}
	testneed.Feature(t, "tmpfs", unix.Mount("tmpfs", own+"/m", "tmpfs", 0, ""))
	defer unix.Unmount(own+"/m", unix.MNT_DETACH)
	dead(t, dir, "r1", Mount{own + "/m"}, Directory{own}) // the wrong way round
	if r := undone(t, dir, "r1"); len(r.Undone) != 2 {
		t.Errorf("%+v", r)
	}
	if !gone(own) {
		t.Error("left")
	}
}

// Another run's group stays, also if a step of this run says that controllers were enabled for
// it.
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
	dead(t, dir, "r1", Group{plan})
	if r, err := journal.Undo(dir, "r1", Kinds()); err != nil || len(r.Failed) != 1 || gone(plan.Dirs[len(plan.Dirs)-1]) {
		t.Errorf("%+v %v", r, err)
	}
}

// A process is killed only if the journal says of which boot it is: after the next boot another
// process may have its pid and start.
func TestUndoProcessOfAnyStart(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	s, err := ProcessOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h := journaltest.Header(t, "r1")
	h.Boot = ""
	journaltest.Write(t, dir, h, s)
	if r, err := journal.Undo(dir, "r1", Kinds()); err != nil || len(r.Failed) != 1 || hint.Of(r.Failed[0].Err) == "" {
		t.Errorf("%+v %v", r, err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("it was killed: %v", err)
	}
}
