package ceph

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
)

// devices is where the kernel's client lists what it has mapped, for the whole host.
const devices = "/sys/bus/rbd/devices"

// Map has the kernel's client show the image as a block device, and returns its
// path. options are those of the mapping, as rbd map -o takes them.
func (i Image) Map(ctx context.Context, options string) (string, error) {
	// It waits for udev for ever where none runs; the kernel itself makes the device's file.
	out, err := i.rbd(ctx, "device", "map", "--options", strings.Trim("noudev,"+options, ","), i.String())
	if err != nil {
		return "", hint.New(err, "dmesg says what the kernel's client did not like; it may lack features of the cluster")
	}
	device := strings.TrimSpace(string(out))
	if !filepath.IsAbs(device) {
		return "", fmt.Errorf("rbd device map printed %q, and no device", device)
	}
	return device, nil
}

// How long the kernel may take to give a device up that nothing uses: what it has not
// written yet is written. By force, what waits for the cluster ends with errors.
const (
	unmaps = 20 * time.Second
	forced = 10 * time.Second
)

// Unmap takes the devices of an image away, of which there are none or, after a
// cleanup that was killed, several. It needs no answer from the cluster.
func (i Image) Unmap() error {
	ids, err := i.mapped()
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, remove(id))
	}
	if err := errors.Join(errs...); err != nil {
		return hint.New(fmt.Errorf("unmap %s: %w", i, err), "rbd device unmap --options force "+i.String())
	}
	return nil
}

// Abort takes the devices of an image away although they are in use: their requests fail at once,
// when those under way have ended.
func (i Image) Abort() {
	ids, _ := i.mapped()
	for _, id := range ids {
		_ = written(id+" force", forced) // whoever unmaps it later says what is left
	}
}

// mapped are the numbers of the devices of an image.
func (i Image) mapped() (ids []string, err error) {
	all, err := os.ReadDir(devices)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the module is not loaded
	}
	if err != nil {
		return nil, fmt.Errorf("list the mapped images: %w", err)
	}
	for _, d := range all {
		word := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(devices, d.Name(), name))
			return strings.TrimSpace(string(b))
		}
		// A snapshot of it is somebody else's.
		if word("pool") == i.Pool.Name && word("name") == i.Name && word("current_snap") == "-" {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// remove writes a number to the kernel, and with force when that does not end.
func remove(id string) error {
	err := written(id, unmaps)
	for end := time.Now().Add(unmaps); (errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EINPROGRESS)) && time.Now().Before(end); { // udev looks at it, or it is on its way
		time.Sleep(100 * time.Millisecond)
		err = written(id, unmaps)
	}
	if errors.Is(err, unix.ENOENT) { // it was on its way
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.Join(err, written(id+" force", forced))
	}
	return err
}

func written(text string, bound time.Duration) error {
	file := "/sys/bus/rbd/remove_single_major"
	if _, err := os.Stat(file); err != nil {
		file = "/sys/bus/rbd/remove"
	}
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(file, []byte(text), 0) }() // the kernel may wait for the cluster
	select {
	case err := <-done:
		return err
	case <-time.After(bound):
		return fmt.Errorf("write %q to %s: nothing for %v: %w", text, file, bound, os.ErrDeadlineExceeded)
	}
}
