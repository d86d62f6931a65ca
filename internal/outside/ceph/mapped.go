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

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
)

// Map maps the image as a block device of the kernel's RBD client, and returns the device's path.
// options are options of the mapping, as in rbd map -o.
func (i Image) Map(ctx context.Context, options string) (string, error) {
	// Without noudev rbd waits forever on a host without udev. udev is not needed: the kernel makes
	// the device file.
	out, err := i.rbd(ctx, "device", "map", "--options", strings.Trim("noudev,"+options, ","), i.String())
	if err != nil {
		return "", hint.New(err, "dmesg says what the kernel's client did not like; it may lack features of the cluster")
	}
	device := strings.TrimSpace(string(out))
	if !filepath.IsAbs(device) {
		return "", fmt.Errorf("rbd device map printed %q, and no device", device)
	}
	return device, kernel.check(device, options)
}

// check reads back from sysfs how the kernel mapped a device. It returns an error unless every
// option with a value has that value.
func (b bus) check(device, options string) error {
	id := strings.TrimPrefix(filepath.Base(device), "rbd")
	text, err := os.ReadFile(filepath.Join(b.dir, id, "config_info"))
	if err != nil {
		return fmt.Errorf("read back how the kernel mapped %s: %w", device, err)
	}
	_, words, _ := strings.Cut(string(text), " ") // after the addresses of the monitors
	words, _, _ = strings.Cut(words, " ")
	has := map[string]string{}
	for _, o := range strings.Split(words, ",") {
		name, value, _ := strings.Cut(o, "=")
		has[name] = value
	}
	for _, o := range strings.Split(options, ",") {
		if name, value, valued := strings.Cut(o, "="); valued && has[name] != value {
			return hint.New(fmt.Errorf("asked for %s, and the kernel mapped %s with %s=%s", o, device, name, has[name]), "ask for what it gave")
		}
	}
	return nil
}

// unmapBound is how long the kernel may take to unmap a device, which includes writing dirty
// pages, and how long the device may be in use. forceBound is for unmapping by force, which
// ends requests that wait for the cluster with errors.
const (
	unmapBound = 20 * time.Second
	forceBound = 10 * time.Second
)

// Unmap unmaps the devices of an image: none, one, or several after a cleanup that was
// killed. It needs no answer from the cluster.
func (i Image) Unmap() error { return kernel.unmap(i) }

// AbortStalled unmaps the devices of an image by force, although they are in use, when none of
// their requests has ended for bound: the requests wait for a cluster that does not answer. While
// requests still end, however slowly, AbortStalled waits. It returns when closed is closed.
func (i Image) AbortStalled(closed <-chan struct{}, bound time.Duration) {
	kernel.abortStalled(i, closed, bound)
}

// bus is the kernel's interface to the devices of its RBD client (/sys/bus/rbd). A device is
// unmapped by its number, which the kernel reuses. So before each write bus reads again which
// image the number belongs to.
type bus struct {
	dir    string // devices of the host, by number
	blocks string // the same as block devices, by name
	// write sends the kernel a number, or "NUMBER force". It returns os.ErrDeadlineExceeded
	// if the kernel is not done within bound; the kernel then goes on.
	write func(text string, bound time.Duration) error
}

var kernel = bus{"/sys/bus/rbd/devices", "/sys/block", writeRemove}

func (b bus) unmap(i Image) error {
	ids, err := b.mapped(i)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		errs = append(errs, b.remove(i, id))
	}
	if err := errors.Join(errs...); err != nil {
		return hint.New(fmt.Errorf("unmap %s: %w", i, err), "rbd device unmap --options force "+i.String())
	}
	return nil
}

func (b bus) abortStalled(i Image, closed <-chan struct{}, bound time.Duration) {
	ended, since := b.requestsEnded(i), time.Now()
	for time.Since(since) < bound {
		select {
		case <-closed:
			return
		case <-time.After(time.Second):
		}
		if now := b.requestsEnded(i); now != ended {
			ended, since = now, time.Now()
		}
	}
	ids, _ := b.mapped(i)
	for _, id := range ids {
		if b.isDeviceOf(i, id) {
			_ = b.write(id+" force", forceBound) // Unmap says later what is left
		}
	}
}

// requestsEnded is how many requests of an image's devices have ended, since each was mapped.
func (b bus) requestsEnded(i Image) (n float64) {
	ids, _ := b.mapped(i)
	for _, id := range ids {
		text, _ := os.ReadFile(filepath.Join(b.blocks, "rbd"+id, "stat"))
		if d, err := proc.DiskStat(text); err == nil { // the device may disappear
			n += d.Reads + d.Writes
		}
	}
	return n
}

// mapped returns the numbers of the devices of an image.
func (b bus) mapped(i Image) (ids []string, err error) {
	all, err := os.ReadDir(b.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the module is not loaded
	}
	if err != nil {
		return nil, fmt.Errorf("list the mapped images: %w", err)
	}
	for _, d := range all {
		if b.isDeviceOf(i, d.Name()) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// isDeviceOf says whether a number is now a device of the image itself, not of a snapshot of it.
func (b bus) isDeviceOf(i Image, id string) bool {
	word := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(b.dir, id, name))
		return strings.TrimSpace(string(text))
	}
	return word("pool") == i.Pool.Name && word("name") == i.Name && word("current_snap") == "-"
}

// remove unmaps a device. If the device is still in use after unmapBound, it unmaps it by force: a
// lazily unmounted file system may wait for a cluster that does not answer.
func (b bus) remove(i Image, id string) error {
	err := error(unix.EBUSY)
	for end := time.Now().Add(unmapBound); time.Now().Before(end) && (errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EINPROGRESS)); time.Sleep(100 * time.Millisecond) {
		if !b.isDeviceOf(i, id) {
			return nil // the number may be another image's now
		}
		err = b.write(id, unmapBound) // EBUSY also while udev has it open
	}
	if errors.Is(err, unix.EBUSY) {
		if !b.isDeviceOf(i, id) {
			return nil
		}
		err = b.write(id+" force", forceBound)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// writeRemove is bus.write of this kernel.
func writeRemove(text string, bound time.Duration) error {
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
		return fmt.Errorf("write %q to %s: the kernel is not done after %v: %w", text, file, bound, os.ErrDeadlineExceeded)
	}
}
