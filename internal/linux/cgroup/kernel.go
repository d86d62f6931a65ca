package cgroup

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// kernel is what changes directories and files. The real one is the kernel;
// tests of layouts that this machine lacks play it on a fixture tree.
type kernel interface {
	mkdir(dir string) error
	rmdir(dir string) error
	write(file, value string) error
	// writable says whether this user can make entries in dir; nil is yes.
	writable(dir string) error
}

type realKernel struct{}

func (realKernel) mkdir(dir string) error { return os.Mkdir(dir, 0o755) }
func (realKernel) rmdir(dir string) error { return unix.Rmdir(dir) }

// write makes one write system call: control files take their value whole.
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

// readFile reads a control file, spaces trimmed.
func readFile(file string) (string, error) {
	b, err := os.ReadFile(file)
	return strings.TrimSpace(string(b)), err
}

// readFields reads a control file that is a list of words.
func readFields(file string) ([]string, error) {
	s, err := readFile(file)
	return strings.Fields(s), err
}
