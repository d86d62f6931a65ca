package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxText bounds what is read of one file. The longest that is read here,
// /proc/stat of a machine with 4096 CPUs, is below it.
const maxText = 4 << 20

// wholeBelow: a file of the kernel that answers a read with less than this has
// no more. It cuts an answer short only where the next record does not fit into
// the rest of a page, and no record is half a page long, but in mountStats.
const wholeBelow = 2048

var errLong = errors.New("file is too long")

// mountStats has half a page and more of each mount of NFS 4, as one record: what comes
// before it may be all that a read gets.
const mountStats = "mountstats"

// File is a text file that is kept open and read again and again from its start.
// It is not for concurrent use; Close it.
type File struct {
	path string
	fd   int
	buf  []byte
	long bool
}

// Open opens a file for reading.
func Open(path string) (*File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			return &File{path: path, fd: fd, long: filepath.Base(path) == mountStats}, nil
		}
		if err != unix.EINTR {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// Path is the path that the file was opened with.
func (f *File) Path() string { return f.path }

// FD is the descriptor, for a caller that reads by itself; negative when the file is closed.
func (f *File) FD() int { return f.fd }

// Read returns the whole text. It is valid until the next Read, which reuses the
// buffer: nothing is allocated once the buffer has the size of the file.
func (f *File) Read() ([]byte, error) { return f.ReadTo(&f.buf) }

// ReadTo is Read with a buffer that several files share.
func (f *File) ReadTo(buf *[]byte) ([]byte, error) {
	return f.whole(buf, unix.Pread)
}

func (f *File) whole(buf *[]byte, pread func(fd int, p []byte, offset int64) (int, error)) ([]byte, error) {
	if len(*buf) == 0 {
		*buf = make([]byte, 2*wholeBelow)
	}
	for n := 0; ; {
		if n == len(*buf) {
			if n >= maxText {
				return nil, fmt.Errorf("read %s: %w", f.path, errLong)
			}
			*buf = append(*buf, make([]byte, n)...)
		}
		got, err := pread(f.fd, (*buf)[n:], int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: f.path, Err: err}
		case got == 0 || n == 0 && got < wholeBelow && !f.long:
			return (*buf)[:n+got], nil
		}
		n += got
	}
}

// Close closes the file; a second Close does nothing.
func (f *File) Close() error {
	if f.fd < 0 {
		return nil
	}
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}
