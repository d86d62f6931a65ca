package volume

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Held means that a loop device stays for as long as a process that is not of
// this arm lives: its mount namespace was copied while the volume was mounted,
// and what happens here does not reach it. The device then goes by itself.
type Held struct {
	By  []string // processes
	err error
}

func (h *Held) Error() string {
	return fmt.Sprintf("%v: it is mounted in the mount namespace of %s", h.err, strings.Join(h.By, ", "))
}

func (h *Held) Unwrap() error { return h.err }

// waits is how often the kernel gets its time to let a device go. An unmount ends after
// the file system is written, and a mount namespace after its last process; on a busy host
// both have taken more than three seconds.
const waits = 10

// deviceGone waits for the device to go, and finds out who keeps it.
func (o *Opened) deviceGone() (err error) {
	for range waits {
		if err = o.device.Gone(); err == nil {
			return nil
		}
		if by := holders(o.device.Path); len(by) > 0 {
			return &Held{By: by, err: err}
		}
	}
	return err
}

// holders are processes that have a device mounted, one for each namespace.
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
