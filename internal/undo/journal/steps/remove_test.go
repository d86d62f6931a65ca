package steps

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file that replaces a directory while that is made readable is not changed.
func TestAllowFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.Mkdir(target, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	parent, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(parent)
	mode := func() os.FileMode {
		i, err := os.Lstat(target)
		if err != nil {
			t.Fatal(err)
		}
		return i.Mode().Perm()
	}
	if err := makeReadable(parent, "link"); err == nil || mode() != 0 {
		t.Errorf("through a link: %v, and its target has mode %s", err, mode())
	}
	if err := makeReadable(parent, "target"); err != nil || mode() != 0o700 {
		t.Errorf("the directory itself: %v, mode %s", err, mode())
	}
}

// inMemory is a directory for thousands of files.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tare-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := RemoveDirectory(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// chain makes a directory in an open one, in that one another, and so on.
func chain(t *testing.T, top string, depth int) {
	t.Helper()
	fd, err := unix.Open(top, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if err := unix.Mkdirat(fd, "deeper", 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, "deeper", unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	defer unix.Close(fd)
	if err := unix.Symlinkat("/etc", fd, "link"); err != nil {
		t.Fatal(err)
	}
}

// A tree may be deeper than a process may have descriptors, and its path longer than the kernel
// accepts.
func TestRemoveADeepTree(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 256
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	top := filepath.Join(inMemory(t), "top")
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	chain(t, top, 3000)
	for i := range 3 {
		side := filepath.Join(top, "side"+strconv.Itoa(i))
		if err := os.Mkdir(side, 0o700); err != nil {
			t.Fatal(err)
		}
		chain(t, side, 300)
	}
	before := descriptors(t)
	if err := RemoveDirectory(top); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(top); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", top, err)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Somebody who can write there swaps directories for links and for foreign directories while
// they are removed: nothing outside is removed.
func TestRemoveInARace(t *testing.T) {
	dir := inMemory(t)
	theirs := filepath.Join(dir, "theirs")
	kept := filepath.Join(theirs, "away", "kept")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		t.Fatal(err)
	}
	files := []string{kept, filepath.Join(theirs, "kept"), filepath.Join(theirs, "deeper")}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	var removing atomic.Value // the directory
	removing.Store("")
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			top := removing.Load().(string)
			if top == "" {
				continue
			}
			time.Sleep(time.Duration(n%40) * 10 * time.Microsecond)
			_ = os.Rename(filepath.Join(top, "a", "b"), filepath.Join(theirs, "moved"+strconv.Itoa(n)))
			_ = os.Symlink(theirs, filepath.Join(top, "a", "b"))
		}
	})
	moved := 0
	for round := range 20 {
		top := filepath.Join(dir, "top"+strconv.Itoa(round))
		for i := range 60 {
			if err := os.MkdirAll(filepath.Join(top, "a", "b", strconv.Itoa(i), "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		removing.Store(top)
		if err := RemoveDirectory(top); errors.Is(err, errMoved) {
			moved++
		}
		removing.Store("")
	}
	close(done)
	wg.Wait()
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || string(b) != "mine" {
			t.Errorf("%s: %q, %v", f, b, err)
		}
	}
	t.Logf("a directory was moved away while the walker was in it %d times", moved)
}

// A directory that is not there is removed, on every file system and below everything that may stand in its place.
func TestRemoveWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	places := []string{dir, filepath.Join(dir, "none"), file, "/proc", "/sys"}
	if os.Geteuid() == 0 {
		for _, options := range []uintptr{unix.MS_RDONLY, 0} {
			disk := t.TempDir()
			if err := unix.Mount("tmpfs", disk, "tmpfs", options, ""); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { unix.Unmount(disk, unix.MNT_DETACH) })
			places = append(places, disk)
		}
	}
	for _, place := range places {
		if err := RemoveDirectory(filepath.Join(place, "tare-r1")); err != nil {
			t.Errorf("below %s: %v", place, err)
		}
	}
}
