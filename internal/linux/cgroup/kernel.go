package cgroup

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// kernel changes directories and files. Tests of layouts that this machine does not have play
// it on a fixture tree.
type kernel interface {
	mkdir(dir string) error
	rmdir(dir string) error
	write(file, value string) error
	// writable returns nil if this user can make entries in dir.
	writable(dir string) error
}

type realKernel struct{}

func (realKernel) mkdir(dir string) error { return os.Mkdir(dir, 0o755) }
func (realKernel) rmdir(dir string) error { return unix.Rmdir(dir) }

// write makes one system call, because control files take a value only whole.
func (realKernel) write(file, value string) error {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_TRUNC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: file, Err: err}
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte(value)); err != nil {
		return &os.PathError{Op: fmt.Sprintf("write %q to", value), Path: file, Err: err}
	}
	return nil
}

func (realKernel) writable(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// readFile reads a control file and trims the text.
func readFile(file string) (string, error) {
	b, err := os.ReadFile(file)
	return strings.TrimSpace(string(b)), err
}

// readFields reads a control file as a list of words.
func readFields(file string) ([]string, error) {
	s, err := readFile(file)
	return strings.Fields(s), err
}
