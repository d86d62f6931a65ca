package volume

import (
	"os"
	"testing"
	"time"

	"github.com/tarelab/tare/internal/testing/testneed"
)

// Close waits for a device that somebody has open for some seconds after the unmount, as the
// kernel has on a busy host, and does not fail.
func TestDeviceGoesLate(t *testing.T) {
	testneed.Root(t)
	v, err := Parse("loop:ext4")
	if err != nil {
		t.Fatal(err)
	}
	s, left := spec(t, v.Name())
	o, err := v.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	node, err := os.Open(o.device.Path)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(4*time.Second, func() { node.Close() })
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if l := left(); len(l) > 0 {
		t.Errorf("left in the journal: %+v", l)
	}
	noDevices(t)
}
