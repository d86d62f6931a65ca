package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
)

// scratchAt is the directory under test with an absolute path, as the journal wants
// it. One that is not there is not made: a misspelt name, or a disk that is not
// mounted, would have another file system measured than the one that was named.
func scratchAt(given string) (string, error) {
	path, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("scratch directory %s: %w", given, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = hint.New(fmt.Errorf("there is no scratch directory %s", path), "mount it or make it first: what is measured is the file system below it")
	case err == nil && !info.IsDir():
		err = hint.New(fmt.Errorf("scratch directory %s is a file", path), "name a directory with --scratch")
	case err != nil:
		err = fmt.Errorf("scratch directory: %w", err)
	case unix.Access(path, unix.W_OK|unix.X_OK) != nil:
		err = hint.New(fmt.Errorf("this user cannot write into the scratch directory %s", path), "name another with --scratch, or run as root")
	}
	if err != nil {
		return "", &usageError{err, ""}
	}
	return path, nil
}
