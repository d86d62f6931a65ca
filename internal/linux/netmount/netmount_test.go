package netmount

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An internal error number of the kernel is ErrSilent.
func TestGaveUp(t *testing.T) {
	for err, silent := range map[error]bool{
		unix.Errno(512): true, unix.Errno(530): true, &os.PathError{Op: "statfs", Path: "/x", Err: unix.Errno(512)}: true,
		unix.EIO: false, unix.Errno(511): false, nil: false,
	} {
		got := Within("/x", time.Minute, func() error { return err })
		if errors.Is(got, ErrSilent) != silent || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
