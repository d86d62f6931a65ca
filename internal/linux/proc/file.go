package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxText is the most that is read of one file, in bytes. The longest file read here,
// /proc/stat with 4096 CPUs, is shorter.
const maxText = 4 << 20

// wholeBelow is the answer to one read, in bytes, below which the file has ended. The kernel
// cuts an answer short only when the next record does not fit into the page, and except in
// mountStats no record is as long as half a page.
const wholeBelow = 2048

var errLong = errors.New("file is too long")

// mountStats is the file whose records, one for each NFS mount, can be longer than half a page:
// a short read does not mean its end.
const mountStats = "mountstats"

// File is a text file that stays open and is read again and again from its start. It is not
// safe for concurrent use. The caller closes it.
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

// Path is the path as in Open.
func (f *File) Path() string { return f.path }

// FD is the descriptor, for a caller that reads the file itself; negative: the file is closed.
func (f *File) FD() int { return f.fd }

// Read returns the whole text, valid until the next Read, which reuses the buffer. It allocates
// only until the buffer is as large as the file.
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
