// Package trust says whether other users could have written what tare is about to use: a
// journal, whose steps root undoes, and data sets, whose servers tare starts.
package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
)

// user is the user who is about to use a file.
type user struct {
	uid      int
	accounts string // directory of passwd and group
}

func self() user { return user{os.Geteuid(), "/etc"} }

// File returns an error if users other than this one and root could have written an open file. That
// is so if the file, its directory or one above belongs to another user, or others can write to it.
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

// Dir is File for a directory. If it does not exist, Dir checks the nearest directory above
// that does.
func Dir(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return self().walk(path)
}

// Program returns an error if tare must not run the program at a path that it read from a file. tare
// runs it only if PATH leads to it or if no other user could have put it there. byHand, for the
// remedy, is the command that a person can run instead.
func Program(path, byHand string) error {
	if found, err := exec.LookPath(filepath.Base(path)); err == nil && found == path {
		return nil
	}
	if err := Dir(path); err != nil {
		return hint.New(err, "by hand, with a program that nobody else can have put there: "+byHand)
	}
	return nil
}

// Entry is like File for a file or directory, but does not check the directories above, which the
// caller trusts. A symbolic link and a file with several hard links are errors: another user may
// have put them there.
func Entry(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &os.PathError{Op: "look at", Path: path, Err: err}
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind != unix.S_IFREG && kind != unix.S_IFDIR:
		return fmt.Errorf("%s is neither a file nor a directory", path)
	case kind == unix.S_IFREG && st.Nlink > 1:
		return fmt.Errorf("%s has several hard links, and may be another file's", path)
	}
	st.Mode &^= unix.S_ISVTX
	return self().owned(path, &st)
}

// Read reads a file in a directory that other users can write to. It follows no link, refuses pipes
// and devices, and refuses a file of more than most bytes.
func Read(path string, most int64) ([]byte, error) {
	return read(path, unix.O_NOFOLLOW, most)
}

// mostGiven is larger than any script or job for a client.
const mostGiven = 16 << 20 // bytes

// ReadGiven reads a file that the user named, such as a script or a job. It follows links. It refuses
// pipes and devices, which could block, and a file of more than 16 MiB.
func ReadGiven(path string) ([]byte, error) { return read(path, 0, mostGiven) }

// OpenGiven opens a file that the user named, as ReadGiven does, for a file of any size.
func OpenGiven(path string) (*os.File, error) { return open(path, os.O_RDONLY) }

// Open opens a file in a directory that other users can write to. It follows no link and refuses
// pipes and devices. flags are those of os.OpenFile.
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

// walk visits the elements of an absolute path from the root, as the kernel does, and follows
// links: whoever can replace one of the elements decides what the path leads to.
func (u user) walk(path string) error {
	const mostLinks = 40 // the kernel's limit
	dir, rest, links := "/", elements("."+path), 0
	for len(rest) > 0 {
		at := filepath.Join(dir, rest[0]) // dir has no links, so .. is the directory above
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

// owned returns an error if users other than u and root own or can write to one file or directory.
// A sticky directory passes: nobody can replace another user's entries in it. So does a link, whose
// mode has no effect.
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
	case st.Mode&group != 0 && !u.ownsAlone(path, st.Gid):
		return writable(path, fmt.Sprintf("others, of group %d", st.Gid), "g-w")
	}
	return nil
}

func writable(path, who, mode string) error {
	const remedy = "look at what it holds, and chmod %s %s if it is as it was written; " +
		"or let XDG_STATE_HOME and XDG_CACHE_HOME name directories in which nobody else can write"
	return hint.New(fmt.Errorf("%s can be written by %s, who could have put anything there", path, who), fmt.Sprintf(remedy, mode, path))
}
