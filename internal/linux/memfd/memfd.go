// Package memfd makes files in memory that no directory names: only a process that has or
// inherits the descriptor can read one.
package memfd

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Create makes a file with a content. It ends with its last descriptor. /proc shows the name
// after "/memfd:".
func Create(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make the file %s in memory: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(content); err != nil {
		return nil, errors.Join(fmt.Errorf("write the file %s in memory: %w", name, err), f.Close())
	}
	return f, nil
}
