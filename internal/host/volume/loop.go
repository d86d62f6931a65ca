package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/child"
	"github.com/tarelab/tare/internal/linux/loop"
	"github.com/tarelab/tare/record"
)

// openLoop makes a file, a loop device on it and a file system on that, and mounts it. The
// kernel frees the device with its last user, so only the mount needs an undo.
func (o *Opened) openLoop(ctx context.Context) error {
	dir, err := o.makeDir(o.spec.Scratch)
	if err != nil {
		return err
	}
	image := filepath.Join(dir, "image")
	if err := makeImage(image, o.v.size(o.spec.Need)); err != nil {
		return err
	}
	if o.device, err = loop.Attach(image); err != nil {
		return err
	}
	o.undo.Push(o.deviceGone)
	if err := format(ctx, o.v.system, o.device.Path); err != nil {
		return errors.Join(err, o.device.Release())
	}
	f, _ := systemOf(o.v.system)
	options := o.v.options
	if !strings.Contains(options, "discard") {
		options = strings.Trim(f.mount+","+options, ",")
	}
	err = o.mount(o.device.Path, dir, o.v.system, options)
	return errors.Join(err, o.device.Release())
}

// makeImage reserves all blocks of the file, so that the volume cannot fill the disk within a
// window. It does not write them: that would wear the disk and use up a cloud's I/O credits.
// The first write to a reserved block costs the file system below a little more than later
// writes.
func makeImage(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = again.Do(func() error { return unix.Fallocate(int(f.Fd()), 0, 0, size) })
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = f.Truncate(size)
	}
	if err != nil {
		err = fmt.Errorf("reserve %d MiB for %s: %w", size>>20, path, err)
		if errors.Is(err, unix.ENOSPC) {
			err = hint.New(err, "make room, or name another directory with --scratch")
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// format makes the file system on a device.
func format(ctx context.Context, name, device string) error {
	f, ok := systemOf(name)
	if !ok {
		return fmt.Errorf("no file system %q", name)
	}
	path, err := tool(f)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, path, append(f.mkfs[1:], device)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(f.mkfs, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// tool finds the mkfs program of a file system.
func tool(f system) (string, error) {
	path, err := child.Find(f.mkfs[0])
	if err != nil {
		return "", hint.New(err, "apt-get install "+f.pkg)
	}
	return path, nil
}

// Supports are the answers about volumes, by their words. Volumes on servers ask the server.
// Unknown words are left out.
func Supports(h facts.Host, words ...string) map[string]facts.Support {
	all := map[string]facts.Support{}
	for _, word := range words {
		v, err := Parse(word)
		if _, asked := all[word]; err == nil && !asked {
			all[word] = v.Support(h)
		}
	}
	return all
}

// Support says whether this host and user can have the volume.
func (v Volume) Support(h facts.Host) facts.Support {
	switch v.Kind() {
	case Dir:
		if err := usable(v.path); err != nil {
			return facts.Refused(err)
		}
	case Tmpfs:
		if !h.Root {
			return facts.Unsupported(record.Say("user_cannot_mount"), record.Say("root_or_tmpfs"))
		}
	case Loop:
		return v.supportLoop(h)
	case RBD:
		return v.supportRBD(h)
	case CephFS:
		return v.supportCephFS(h)
	case NFS:
		return v.supportNFS(h)
	}
	return facts.Supported()
}

func (v Volume) supportLoop(h facts.Host) facts.Support {
	if !h.Root {
		return facts.Unsupported(record.Say("user_cannot_loop"), facts.AsRoot())
	}
	f, _ := systemOf(v.system)
	if _, err := tool(f); err != nil {
		return facts.Refused(err)
	}
	if err := unix.Access("/dev/loop-control", unix.W_OK); err != nil {
		return facts.Unsupported(record.Say("no_loop_devices", "why", err.Error()), facts.Command("modprobe loop"))
	}
	b, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		return facts.Unclear(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == v.system {
			return facts.Supported()
		}
	}
	// The kernel may have a module for it that mount(8) loads.
	return facts.Support{Answer: facts.Yes, Reason: record.Say("file_system_unlisted", "name", v.system), Remedy: facts.Command("modprobe " + v.system)}
}
