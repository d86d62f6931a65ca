// Package identity compares files that are found by name with the files of the same names when a run began.
// It must not know what the files are for.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
)

// ErrReplaced means that a name stands for another file than at the beginning.
var ErrReplaced = errors.New("was replaced during the run")

// replaced is the error about a file that is another one now.
func replaced(path, how string) error {
	return hint.New(fmt.Errorf("%s %w (%s): package upgrade, or a build?", path, ErrReplaced, how),
		"run again, and install nothing meanwhile: tare run measures anew; tare report shows what was measured before")
}

// Files are files by path, as they were when each was taken. The zero value has none.
type Files struct {
	mu  sync.Mutex
	all map[string]file
}

// file is an open file, so that the kernel does not give its inode number to another one.
type file struct {
	open *os.File
	is   mark
	sum  string // SHA-256 of the content, hexadecimal
}

// mark is what a write, a rename or a link changes in what stat returns for a path.
type mark struct {
	dev, ino     uint64
	size         int64
	mtime, ctime syscall.Timespec
}

func markOf(st *syscall.Stat_t) mark {
	return mark{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim, ctime: st.Ctim}
}

// Take adds the files behind paths. A path that was taken before stays as it was.
func (f *Files) Take(paths ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range paths {
		if _, ok := f.all[path]; ok {
			continue
		}
		taken, err := take(path)
		if err != nil {
			return fmt.Errorf("identify a program of the run: %w", err)
		}
		if f.all == nil {
			f.all = map[string]file{}
		}
		f.all[path] = taken
	}
	return nil
}

func take(path string) (t file, err error) {
	if t.open, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); errors.Is(err, os.ErrPermission) {
		return takeUnreadable(path)
	}
	if err != nil {
		return t, err
	}
	if t.is, t.sum, err = read(t.open); err != nil {
		return t, errors.Join(fmt.Errorf("%s: %w", path, err), t.open.Close())
	}
	return t, nil
}

// takeUnreadable takes a file that the user may execute and not read. It has no sum.
func takeUnreadable(path string) (t file, err error) {
	if t.open, err = os.OpenFile(path, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return t, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(t.open.Fd()), &st); err != nil {
		return t, errors.Join(fmt.Errorf("%s: %w", path, err), t.open.Close())
	}
	t.is = markOf(&st)
	return t, nil
}

// read reads mark and sum of an open regular file. The file must not change while it is read.
func read(open *os.File) (mark, string, error) {
	for range 3 {
		var before, after syscall.Stat_t
		if err := syscall.Fstat(int(open.Fd()), &before); err != nil {
			return mark{}, "", err
		}
		if before.Mode&syscall.S_IFMT != syscall.S_IFREG {
			return mark{}, "", errors.New("not a regular file")
		}
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(open, 0, before.Size)); err != nil {
			return mark{}, "", err
		}
		if err := syscall.Fstat(int(open.Fd()), &after); err != nil {
			return mark{}, "", err
		}
		if markOf(&before) == markOf(&after) {
			return markOf(&after), hex.EncodeToString(h.Sum(nil)), nil
		}
	}
	return mark{}, "", errors.New("it is being written")
}

// Changed returns an error with ErrReplaced for the first path, in the order of the alphabet, that stands for
// another file now, or for a file with another size, time or content.
func (f *Files) Changed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(f.all)) {
		was := f.all[path]
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil {
			return replaced(path, err.Error())
		}
		is := markOf(&st)
		if is == was.is {
			continue
		}
		if how := was.differs(is); how != "" {
			return replaced(path, how)
		}
		was.is = is
		f.all[path] = was
	}
	return nil
}

// differs says in what the file differs from the one that was taken; empty: in nothing. A change of mode, owner
// or number of links changes ctime alone, so then the content decides.
func (t file) differs(is mark) string {
	switch {
	case is.dev != t.is.dev || is.ino != t.is.ino:
		return "it is another file now"
	case is.size != t.is.size:
		return fmt.Sprintf("it had %d bytes and has %d", t.is.size, is.size)
	case is.mtime != t.is.mtime:
		return "it was written"
	case t.sum == "":
		return ""
	}
	if _, sum, err := read(t.open); err != nil || sum != t.sum {
		return "its content is another"
	}
	return ""
}

// Sums are the SHA-256 of the contents by path, hexadecimal. Files that cannot be read are not in it.
func (f *Files) Sums() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	sums := map[string]string{}
	for path, t := range f.all {
		if t.sum != "" {
			sums[path] = t.sum
		}
	}
	return sums
}

// Close closes the files.
func (f *Files) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, t := range f.all {
		errs = append(errs, t.open.Close())
	}
	f.all = nil
	return errors.Join(errs...)
}
