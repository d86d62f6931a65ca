package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/testing/testneed"
)

func mustOpen(t testing.TB, dir, run string) *Journal {
	t.Helper()
	j, err := Open(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func mustAdd(t testing.TB, j *Journal, s Step) Token {
	t.Helper()
	token, err := j.Add(s)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(journalDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCloseRemovesWhatIsUndone(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, dir, "r1")
	a := mustAdd(t, j, scratch{"/x/tare-r1"})
	if j.Left() != 1 {
		t.Errorf("%d steps left", j.Left())
	}
	for range 2 {
		if err := j.Done(a); err != nil {
			t.Fatal(err)
		}
	}
	if j.Left() != 0 {
		t.Errorf("%d steps left", j.Left())
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
	if _, err := j.Add(scratch{"/x/tare-r1"}); err == nil {
		t.Error("added to a closed journal")
	}
}

func TestCloseKeepsWhatIsNot(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, dir, "r1")
	mustAdd(t, j, scratch{"/x/tare-r1"})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 1 || got[0] != "r1.jsonl" {
		t.Errorf("files: %v", got)
	}
}

// When Add returns, the step is on the disk as a whole line.
func TestAddIsWritten(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, dir, "r1")
	if info, err := os.Stat(journalFile(dir, "r1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	mustAdd(t, j, scratch{"/x/tare-r1-a"})
	b, err := os.ReadFile(journalFile(dir, "r1"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%q", b)
	}
	var l line
	if err := json.Unmarshal([]byte(lines[1]), &l); err != nil || string(l.Step) != `{"kind":"directory","path":"/x/tare-r1-a"}` {
		t.Errorf("%+v %v", l, err)
	}
	if err := json.Unmarshal([]byte(lines[0]), &l); err != nil || l.Header.Pid != os.Getpid() || l.Header.Schema != Schema || l.Header.Boot == "" || l.Header.Start == 0 {
		t.Errorf("%+v %v", l.Header, err)
	}
}

func TestRunsAndSteps(t *testing.T) {
	dir := t.TempDir()
	for _, run := range []string{"", "../x", "A", "a b", "a/b", "ä"} {
		if _, err := Open(dir, run); err == nil {
			t.Errorf("opened run %q", run)
		}
		if _, err := Undo(dir, run, kinds); err == nil {
			t.Errorf("undid run %q", run)
		}
	}
	j := mustOpen(t, dir, "r1")
	if _, err := Open(dir, "r1"); !errors.Is(err, os.ErrExist) {
		t.Errorf("opened twice: %v", err)
	}
	for _, s := range []Step{
		scratch{"relative"}, scratch{"/home/user"}, scratch{"/x/tare-r12"}, scratch{"/x/tare-other"},
	} {
		if _, err := j.Add(s); err == nil {
			t.Errorf("took %+v", s)
		}
	}
	mustAdd(t, j, scratch{"/x/tare-r1-arm"})
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("left: %v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, dir, "r1")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 10 {
				token, err := j.Add(scratch{"/nowhere/tare-r1"})
				if err != nil {
					t.Error(err)
				}
				if (i+k)%2 == 0 {
					if err := j.Done(token); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	left, err := Leftovers(dir, kinds)
	if err != nil || len(left) != 1 || !left[0].Live || len(left[0].Steps) != 40 || left[0].Err != nil {
		t.Errorf("%+v %v", left, err)
	}
	if _, err := Undo(dir, "r1", kinds); !errors.Is(err, ErrLive) {
		t.Errorf("undid a live run: %v", err)
	}
}

func TestStateDir(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/xdg")
	if got := StateDir(); got != "/xdg/tare" {
		t.Error(got)
	}
	t.Setenv("XDG_STATE_HOME", "relative/is/ignored")
	t.Setenv("HOME", "/home/u")
	want := "/home/u/.local/state/tare"
	if os.Geteuid() == 0 {
		want = rootState // whatever HOME is
	}
	if got := StateDir(); got != want {
		t.Error(got)
	}
	t.Setenv("HOME", "")
	if got := StateDir(); got != rootState {
		t.Error(got)
	}
}

func TestNotWritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file, "r1")
	if err == nil || !strings.Contains(hint.Of(err), "XDG_STATE_HOME") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if _, err := Leftovers(filepath.Join(t.TempDir(), "none"), kinds); err != nil {
		t.Errorf("no state directory: %v", err)
	}
}

// Open refuses a journal that Undo would refuse, for the same reason.
func TestOpenUntrusted(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		change     func(dir string) error
		says, help string
	}{
		"of another": {func(dir string) error { return os.Chown(dir, 65534, 65534) }, "is of user 65534", "sudo without -E"},
		"for all":    {func(dir string) error { return os.Chmod(dir, 0o777) }, "can be written by others", "chmod go-w "},
		"a group's":  {func(dir string) error { return os.Chmod(dir, 0o775) }, "can be written by others", "chmod g-w "},
	} {
		dir := t.TempDir()
		state := filepath.Join(dir, "tare")
		if err := c.change(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(state, "r1")
		if err == nil || !strings.Contains(err.Error(), dir+" "+c.says) || !strings.Contains(hint.Of(err), c.help) || !gone(state) {
			t.Errorf("%s: %v (%s)", name, err, hint.Of(err))
		}
		if untrusted := Trusted(state); fmt.Sprint(untrusted) != fmt.Sprint(err) {
			t.Errorf("%s: %v, and %v", name, err, untrusted)
		}
		if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 0, 0)); err != nil {
			t.Fatal(err)
		}
		mustOpen(t, state, "r1")
	}
}

// smallDisk mounts a file system of a few pages.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	testneed.Root(t)
	dir := filepath.Join(t.TempDir(), "tare-disk")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		testneed.Feature(t, "tmpfs", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t, "size=64k")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "r1"); !errors.Is(err, unix.EROFS) {
		t.Errorf("%v", err)
	}
}

// A full disk is an error of Open or of Add, before anything is changed, and the journal can
// still be undone.
func TestDiskFull(t *testing.T) {
	if _, err := Open(smallDisk(t, "size=8k"), "r1"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("opened on a full disk: %v", err)
	}
	dir := smallDisk(t, "size=128k")
	j := mustOpen(t, dir, "r1")
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	added := 0
	for range 10_000 {
		if _, err = j.Add(scratch{"/nowhere/tare-r1"}); err != nil {
			break
		}
		added++
	}
	if !errors.Is(err, unix.ENOSPC) || added == 0 {
		t.Fatalf("added %d steps, then %v", added, err)
	}
	left, err := Leftovers(dir, kinds)
	if err != nil || left[0].Err != nil || len(left[0].Steps) != added {
		t.Errorf("%d steps of %d: %v %v", len(left[0].Steps), added, err, left[0].Err)
	}
}

// Only the owner can read a journal: other users cannot even list the runs.
func TestPrivate(t *testing.T) {
	testneed.Root(t)
	uid, gid := testneed.Ordinary(t)
	dir := t.TempDir()
	mustOpen(t, dir, "r1")
	cmd := exec.Command("cat", journalFile(dir, "r1"))
	cmd.SysProcAttr = &unix.SysProcAttr{Credential: credential(uid, gid)}
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("another user reads %s", out)
	}
}

// A file of a run that was killed before it had a journal is removed by a later run; one of a
// live run stays.
func TestUnborn(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir, "r1")
	old := time.Now().Add(-time.Hour)
	over := exec.Command("true")
	if err := over.Run(); err != nil {
		t.Fatal(err)
	}
	ended, here := fmt.Sprintf("new-%d-x", over.Process.Pid), fmt.Sprintf("new-%d-x", os.Getpid())
	for name, when := range map[string]time.Time{"new-old": old, "new-locked": old, "new-young": time.Now(), ended: time.Now(), here: time.Now()} {
		path := filepath.Join(journalDir(dir), name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(journalDir(dir), "new-locked"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lock(f); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir, "r2")
	if got := files(t, dir); !slices.Equal(got, []string{here, "new-locked", "new-young", "r1.jsonl", "r2.jsonl"}) {
		t.Errorf("there are %v", got)
	}
}
