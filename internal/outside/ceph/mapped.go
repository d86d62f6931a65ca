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
	return device, kernel.taken(device, options)
}

// taken reads back whether the kernel has a device with all options that have a value.
func (b bus) taken(device, options string) error {
	id := strings.TrimPrefix(filepath.Base(device), "rbd")
	text, err := os.ReadFile(filepath.Join(b.dir, id, "config_info"))
	if err != nil {
		return fmt.Errorf("read back how the kernel mapped %s: %w", device, err)
	}
	_, words, _ := strings.Cut(string(text), " ") // the first are the monitors
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

// How long the kernel may take to give a device up, what it has not written yet being written, and
// how long the device may be in use. By force, what waits for the cluster ends with errors.
const (
	unmaps = 20 * time.Second
	forced = 10 * time.Second
)

// Unmap takes the devices of an image away, of which there are none or, after a
// cleanup that was killed, several. It needs no answer from the cluster.
func (i Image) Unmap() error { return kernel.unmap(i) }

// AbortStalled takes the devices of an image away although they are in use, when none of their
// requests has ended for so long: those under way wait for a cluster that is silent, and those
// that come then fail at once. A cluster that is slow is left to end them. It returns when
// closed is.
func (i Image) AbortStalled(closed <-chan struct{}, bound time.Duration) {
	kernel.abortStalled(i, closed, bound)
}

// bus is how the kernel lists what its client has mapped, and is told to take it away. The
// kernel is told numbers alone and gives one that is free to whoever maps next, so each
// is looked at once more right before.
type bus struct {
	dir    string // of all devices of the host, by number
	blocks string // of the same as block devices, by name
	// write tells the kernel a number. The error is os.ErrDeadlineExceeded where it says
	// nothing within the bound: it then goes on.
	write func(text string, bound time.Duration) error
}

var kernel = bus{"/sys/bus/rbd/devices", "/sys/block", remove}

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
	ended, since := b.ended(i), time.Now()
	for time.Since(since) < bound {
		select {
		case <-closed:
			return
		case <-time.After(time.Second):
		}
		if now := b.ended(i); now != ended {
			ended, since = now, time.Now()
		}
	}
	ids, _ := b.mapped(i)
	for _, id := range ids {
		if b.shows(i, id) {
			_ = b.write(id+" force", forced) // whoever unmaps it later says what is left
		}
	}
}

// ended is how many requests of the devices of an image have ended.
func (b bus) ended(i Image) (n float64) {
	ids, _ := b.mapped(i)
	for _, id := range ids {
		text, _ := os.ReadFile(filepath.Join(b.blocks, "rbd"+id, "stat"))
		if d, err := proc.DiskStat(text); err == nil { // it may go just now
			n += d.Reads + d.Writes
		}
	}
	return n
}

// mapped are the numbers of the devices of an image.
func (b bus) mapped(i Image) (ids []string, err error) {
	all, err := os.ReadDir(b.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // the module is not loaded
	}
	if err != nil {
		return nil, fmt.Errorf("list the mapped images: %w", err)
	}
	for _, d := range all {
		if b.shows(i, d.Name()) {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// shows says whether a number is a device of the image now. A snapshot of it is somebody else's.
func (b bus) shows(i Image, id string) bool {
	word := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(b.dir, id, name))
		return strings.TrimSpace(string(text))
	}
	return word("pool") == i.Pool.Name && word("name") == i.Name && word("current_snap") == "-"
}

// remove takes a device away, and by force when something does not let go of it: a file system
// that was unmounted lazily and waits for a cluster that is silent.
func (b bus) remove(i Image, id string) error {
	err := error(unix.EBUSY)
	for end := time.Now().Add(unmaps); time.Now().Before(end) && (errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EINPROGRESS)); time.Sleep(100 * time.Millisecond) {
		if !b.shows(i, id) {
			return nil // it was on its way, and the number may be another's
		}
		err = b.write(id, unmaps) // udev may look at it
	}
	if errors.Is(err, unix.EBUSY) {
		if !b.shows(i, id) {
			return nil
		}
		err = b.write(id+" force", forced)
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// remove tells this kernel.
func remove(text string, bound time.Duration) error {
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
