// Package memfd makes files in memory, without a name in any directory: only who has the
// descriptor, or inherits it, can read one.
package memfd

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Create makes a file with a content, which ends with its last descriptor. Its name is
// what /proc shows behind "/memfd:".
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
