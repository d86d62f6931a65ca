// Package trust says whether somebody else could have written what tare is about to act
// on: a journal, whose steps root takes back, and data sets, whose servers it starts.
package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
)

// File says why an open file is not to be trusted: it, its directory or one above is of
// another user, or can be written by others. nil: nobody but this user and root can have
// written it.
func File(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("look at %s: %w", f.Name(), err)
	}
	if err := owned(f.Name(), &st); err != nil {
		return err
	}
	return Dir(filepath.Dir(f.Name()))
}

// Dir says the same of a directory, which need not be there yet.
func Dir(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := above(path); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return above(real)
}

// Entry says the same of a file or a directory, by itself: whoever asks trusts what is
// above it. A link is not trusted, nor a file that has another name, for either can be
// what somebody else has put there.
func Entry(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &os.PathError{Op: "look at", Path: path, Err: err}
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind != unix.S_IFREG && kind != unix.S_IFDIR:
		return fmt.Errorf("%s is neither a file nor a directory", path)
	case kind == unix.S_IFREG && st.Nlink > 1:
		return fmt.Errorf("%s has another name, by which it may be another file's", path)
	}
	st.Mode &^= unix.S_ISVTX
	return owned(path, &st)
}

// Read reads a file where others may have put something else in its place: nothing is
// read behind a link, out of a pipe or a device, and no more than most bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a link", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, err
}

// above looks at a path and at everything above it, from the top.
func above(path string) error {
	if up := filepath.Dir(path); up != path {
		if err := above(up); err != nil {
			return err
		}
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); errors.Is(err, unix.ENOENT) {
		return nil
	} else if err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	return owned(path, &st)
}

// owned looks at one file or directory. In a sticky directory nobody replaces what is
// another user's; the mode of a link says nothing.
func owned(path string, st *unix.Stat_t) error {
	kind := st.Mode & unix.S_IFMT
	switch {
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return hint.New(fmt.Errorf("%s is of user %d, who could have put anything there", path, st.Uid),
			"do it as that user, or name a directory of your own (XDG_STATE_HOME, XDG_CACHE_HOME)")
	case kind == unix.S_IFLNK, kind == unix.S_IFDIR && st.Mode&unix.S_ISVTX != 0:
		return nil
	case st.Mode&0o022 != 0:
		return hint.New(fmt.Errorf("%s can be written by others, who could have put anything there", path),
			"look at what it holds; chmod go-w if it is as it was written")
	}
	return nil
}
