// Package again repeats system calls that a signal interrupted. Package os does that for its
// own calls. On some file systems (NFS, FUSE) a signal interrupts calls that are not
// interrupted elsewhere.
package again

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Do repeats call until it returns something other than EINTR.
func Do(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
