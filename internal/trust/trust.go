// Package trust says whether somebody else could have written what tare is about to act
// on: a journal, whose steps root takes back, and data sets, whose servers it starts.
package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
)

// user is who is about to act.
type user struct {
	uid      int
	accounts string // the directory of passwd and group
}

func self() user { return user{os.Geteuid(), "/etc"} }

// File says why an open file is not to be trusted: it, its directory or one above is of
// another user, or can be written by others. nil: nobody but this user and root can have
// written it.
func File(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("look at %s: %w", f.Name(), err)
	}
	if err := self().owned(f.Name(), &st); err != nil {
		return err
	}
	return Dir(filepath.Dir(f.Name()))
}

// Dir says the same of a directory. Of one that is not there yet it looks at what it
// would be made in.
func Dir(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return self().walk(path)
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
	return self().owned(path, &st)
}

// Read reads a file where others may have put something else in its place: nothing is
// read behind a link, out of a pipe or a device, and no more than most bytes.
func Read(path string, most int64) ([]byte, error) {
	return read(path, unix.O_NOFOLLOW, most)
}

// mostGiven is more than any script or job that a client runs.
const mostGiven = 16 << 20 // bytes

// ReadGiven reads a file that the user named, a script or a job for example: behind links too,
// but out of no pipe or device, which would be waited for, and at most 16 MiB.
func ReadGiven(path string) ([]byte, error) { return read(path, 0, mostGiven) }

// Open opens a file where others may have put something else in its place: no link is
// followed, and no pipe or device is opened. The flags are those of os.OpenFile.
func Open(path string, flags int) (*os.File, error) { return open(path, flags|unix.O_NOFOLLOW) }

func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a link", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func read(path string, flags int, most int64) ([]byte, error) {
	f, err := open(path, os.O_RDONLY|flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, err
}

// walk goes an absolute path from the top, as the kernel does, also through links: who
// can replace one of the things on the way decides what is at its end.
func (u user) walk(path string) error {
	const mostLinks = 40 // as the kernel's
	dir, rest, links := "/", elements("."+path), 0
	for len(rest) > 0 {
		at := filepath.Join(dir, rest[0]) // no link is in dir, so .. is what is above
		rest = rest[1:]
		var st unix.Stat_t
		err := unix.Lstat(at, &st)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		if err := u.owned(at, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			dir = at
			continue
		}
		to, err := os.Readlink(at)
		if links++; err == nil && links > mostLinks {
			err = &os.PathError{Op: "follow", Path: path, Err: unix.ELOOP}
		}
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			dir = "/"
		}
		rest = append(elements(to), rest...)
	}
	return nil
}

func elements(path string) []string { return strings.Split(path, "/") }

// owned looks at one file or directory. In a sticky directory nobody replaces what is
// another user's; the mode of a link says nothing.
func (u user) owned(path string, st *unix.Stat_t) error {
	const group, others = 0o020, 0o002
	kind := st.Mode & unix.S_IFMT
	switch {
	case int(st.Uid) != u.uid && st.Uid != 0:
		return hint.New(fmt.Errorf("%s is of user %d, who could have put anything there", path, st.Uid),
			"do it as that user, or in a directory of your own: unset XDG_STATE_HOME and XDG_CACHE_HOME (sudo without -E), or let them name one")
	case kind == unix.S_IFLNK, kind == unix.S_IFDIR && st.Mode&unix.S_ISVTX != 0:
		return nil
	case st.Mode&others != 0:
		return writable(path, "others", "go-w")
	case st.Mode&group != 0 && !u.alone(path, st.Gid):
		return writable(path, fmt.Sprintf("others, of group %d", st.Gid), "g-w")
	}
	return nil
}

func writable(path, who, mode string) error {
	const remedy = "look at what it holds, and chmod %s %s if it is as it was written; " +
		"or let XDG_STATE_HOME and XDG_CACHE_HOME name directories in which nobody else can write"
	return hint.New(fmt.Errorf("%s can be written by %s, who could have put anything there", path, who), fmt.Sprintf(remedy, mode, path))
}
