package volume

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/ceph"
	"github.com/tarelab/tare/internal/environment"
	"github.com/tarelab/tare/internal/journal"
)

// poolDir is where rbd-fuse mounts, in the volume's directory.
const poolDir = "pool"

// What waits for rbd-fuse in the kernel can only be ended with it: it is killed,
// and what waits has errors instead, when the cluster has gone away and opening
// does not end after it was interrupted, or closing does not end.
const (
	stuck = 10 * time.Second
	hangs = 2 * time.Minute
)

// pool is the one of the cluster that Ceph's own tools would find.
func (v Volume) pool() ceph.Pool {
	name, _, _ := strings.Cut(v.path, "/")
	return ceph.Pool{Config: ceph.Config(), Name: name}
}

// image is an arm's own: its name begins with what was asked for and has the run
// in it, so that it is nobody else's.
func (v Volume) image(s Spec) ceph.Image {
	_, name, _ := strings.Cut(v.path, "/")
	return ceph.Image{Pool: v.pool(), Name: name + "-tare-" + s.Run + "-" + s.Arm}
}

// openRBDFuse makes an image, has rbd-fuse show it as a file, and makes a file system
// on that.
func (o *Opened) openRBDFuse(ctx context.Context) error {
	dir, err := o.makeDir(o.spec.Scratch)
	if err != nil {
		return err
	}
	point := filepath.Join(dir, poolDir)
	if err := os.Mkdir(point, 0o700); err != nil {
		return err
	}
	image := o.v.image(o.spec)
	if err := o.show(image, point, filepath.Join(dir, "rbd-fuse.log")); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stuck, o.shown.Kill) })()
	if err := o.makeRBD(ctx, image, point); err != nil {
		return err
	}
	if err := o.shown.Ready(ctx); err != nil {
		return err
	}
	return o.mountFile(ctx, dir, o.shown.File)
}

// show starts rbd-fuse.
func (o *Opened) show(image ceph.Image, point, log string) (err error) {
	if err := o.record(journal.Mount(point), func() error { return unmount(point) }); err != nil {
		return err
	}
	if o.shown, err = image.Show(point, log); err != nil {
		return err
	}
	o.closing = func(closed <-chan struct{}) {
		select {
		case <-closed:
		case <-time.After(hangs):
			o.shown.Kill()
		}
	}
	step, err := journal.Process(o.shown.Pid)
	if err == nil {
		err = o.record(step, o.hide)
	}
	if err != nil {
		return errors.Join(err, o.hide())
	}
	return nil
}

// hide ends rbd-fuse.
func (o *Opened) hide() error {
	o.shown.End()
	return nil
}

// makeRBD makes the image that rbd-fuse shows.
func (o *Opened) makeRBD(ctx context.Context, image ceph.Image, point string) error {
	// The mount once more: rbd-fuse has the image open and ends, with all written,
	// when it is unmounted, so that has to be before the image is removed.
	return o.makeImage(ctx, image, func() error { return o.record(journal.Mount(point), o.hide) })
}

func (v Volume) supportRBDFuse(h environment.Host) environment.Support {
	if s := v.supportCeph("rbd-fuse", "rbd", "ceph"); s.Answer != environment.Yes {
		return s
	}
	if s := v.supportLoop(h); s.Answer != environment.Yes {
		return s
	}
	if err := unix.Access("/dev/fuse", unix.R_OK|unix.W_OK); err != nil {
		return environment.Unsupported("this kernel has no FUSE (/dev/fuse: "+err.Error()+")", "modprobe fuse")
	}
	return v.supportPool()
}
