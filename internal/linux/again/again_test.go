package again

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestDo(t *testing.T) {
	for _, end := range []error{nil, unix.EIO} {
		calls := 0
		err := Do(func() error {
			if calls++; calls < 3 {
				return unix.EINTR
			}
			return end
		})
		if err != end || calls != 3 {
			t.Errorf("%v after %d calls, want %v after 3", err, calls, end)
		}
	}
}
