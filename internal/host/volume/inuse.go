package volume

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// DeviceInUse is the error about a loop device that stays until a process that is not the arm's ends:
// its mount namespace was copied while the volume was mounted, and an unmount here does not
// reach it. Afterwards the kernel frees the device.
type DeviceInUse struct {
	By  []string // the processes
	err error
}

func (h *DeviceInUse) Error() string {
	return fmt.Sprintf("%v: it is mounted in the mount namespace of %s", h.err, strings.Join(h.By, ", "))
}

func (h *DeviceInUse) Unwrap() error { return h.err }

// waits is how often deviceGone waits for the kernel to free a device. An unmount returns only
// when the file system is written, and a mount namespace goes only after its last process; on a
// busy host both have taken more than three seconds.
const waits = 10

// deviceGone waits until the kernel has freed the device, and finds out which processes keep
// it.
func (o *Opened) deviceGone() (err error) {
	for range waits {
		if err = o.device.Gone(); err == nil {
			return nil
		}
		if by := holders(o.device.Path); len(by) > 0 {
			return &DeviceInUse{By: by, err: err}
		}
	}
	return err
}

// holders are processes that have a device mounted, one for each mount namespace.
func holders(device string) (all []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	seen := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f)
		ns, err := os.Readlink(filepath.Join(dir, "ns/mnt"))
		if err != nil || seen[ns] {
			continue
		}
		seen[ns] = true
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(b, []byte(" "+device+" ")) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		all = append(all, strconv.Quote(strings.TrimSpace(string(name)))+" ("+filepath.Base(dir)+")")
	}
	return all
}
