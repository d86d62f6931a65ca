package cgroup

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
)

// Several runs may have groups with controllers below one group that is not tare's own. Each
// run holds a shared lock of that group's directory (flock, which ends with the process). What
// tare changed in the group is noted in extended attributes of the directory, which end with
// it. A run that finds no other holder of the lock takes back everything noted.

// holdBound is how long a run waits for the exclusive lock of another run, which holds it for
// milliseconds. Any user can hold it longer; then this run works without the lock.
const holdBound = 2 * time.Second

// lockShared takes the shared lock of a directory, until the file is closed; nil: it cannot be had.
func lockShared(dir string) (*os.File, error) {
	for end := time.Now().Add(holdBound); ; time.Sleep(5 * time.Millisecond) {
		f, err := locked(dir, unix.LOCK_SH|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return f, err
		}
		if time.Now().After(end) {
			return nil, nil
		}
	}
}

// lockExclusive takes the exclusive lock without waiting; nil: others lock the directory.
func lockExclusive(dir string) (*os.File, error) {
	f, err := locked(dir, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return f, err
}

func locked(dir string, how int) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := again.Do(func() error { return unix.Flock(int(f.Fd()), how) }); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return f, nil
}

// noteLeaf is noted when processes were moved to the group leafName.
const noteLeaf = "leaf"

// notePrefix begins the names of notes. Other users cannot write root's notes.
func notePrefix() string {
	if os.Geteuid() == 0 {
		return "trusted.tare."
	}
	return "user.tare."
}

// note notes controllers, or noteLeaf. Without such attributes (old kernels, some containers)
// only the run itself takes back what it enabled.
func note(dir string, names []string) {
	for _, name := range names {
		_ = unix.Setxattr(dir, notePrefix()+name, []byte("1"), 0)
	}
}

// noted are the notes at a directory.
func noted(dir string) (names []string) {
	list := make([]byte, 64<<10) // the kernel's limit for all names
	n, err := unix.Listxattr(dir, list)
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if name, ok := strings.CutPrefix(name, notePrefix()); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func unnote(dir string, names []string) {
	for _, name := range names {
		_ = unix.Removexattr(dir, notePrefix()+name)
	}
}

// without are the words of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
