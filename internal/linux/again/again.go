// Package again repeats system calls that a signal has interrupted. Package os does that
// for its own; some file systems (NFS, those of FUSE) let a signal interrupt what others
// do not.
package again

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Do calls until it is not interrupted.
func Do(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
