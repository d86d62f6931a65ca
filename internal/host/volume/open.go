package volume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/loop"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/undo/ground"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// Spec is what a volume is opened for.
type Spec struct {
	Run string // id of the run
	Arm string // name of the arm, fit for a file name
	// Scratch is the directory for data of this run; it is there.
	Scratch string
	// Need is how many bytes of data the arm has.
	Need    int64
	Journal *journal.Journal
}

// dir is the directory of a volume below one that is there. No arm has a dot in
// its name, so that it is nobody else's.
func (s Spec) dir(parent string) string {
	return filepath.Join(parent, "tare-"+s.Run+"-"+s.Arm+".volume")
}

// Opened is an opened volume of one arm.
type Opened struct {
	// Dir is where the arm's data goes, for environment.Spec.Volume; empty for
	// the arm's own file system and for Bind.
	Dir string

	v      Volume
	spec   Spec
	device *loop.Device
	wire   time.Duration // to the server of NFS and back; 0: not known
	undo   journal.UndoStack
	// closing goes on while it is closed, and ends, with errors, what waits in the kernel for a
	// cluster that is gone; nil: nothing waits so.
	closing func(closed <-chan struct{})
}

// Open makes the volume. On an error nothing is left.
func (v Volume) Open(ctx context.Context, s Spec) (_ *Opened, err error) {
	o := &Opened{v: v, spec: s}
	defer func() {
		if err != nil {
			err = fmt.Errorf("open volume %s: %w", v, errors.Join(err, o.Close()))
		}
	}()
	switch v.Kind() {
	case Dir:
		err = o.openDir()
	case Loop:
		err = o.openLoop(ctx)
	case Tmpfs:
		err = o.openTmpfs()
	case RBD:
		err = o.openRBD(ctx)
	case NFS:
		err = o.openNFS(ctx)
	case CephFS:
		err = o.openCephFS(ctx)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Close takes it back, newest first. It may be called twice.
func (o *Opened) Close() error {
	if o.closing != nil {
		closed := make(chan struct{})
		defer close(closed)
		go o.closing(closed)
	}
	return o.undo.Undo()
}

// Settings say what the volume is.
func (o *Opened) Settings() []record.Setting {
	return append([]record.Setting{{Name: "volume", Got: o.v.String()}}, o.wireSetting()...)
}

// Watch has what the volume writes to watched, where that is a file system of this host.
func (o *Opened) Watch(w *reserve.Watch) {
	switch o.v.Kind() {
	case Dir:
		w.Host(o.watched(), "make room on it, or leave the volume "+o.v.String()+" out")
	case Loop, Tmpfs:
		w.Own(o.watched(), "a shorter --budget: a volume that tare makes has room for what the load is expected to write")
	}
}

// Unwatch ends that, before the file system is unmounted.
func (o *Opened) Unwatch(w *reserve.Watch) { w.Forget(o.watched()) }

// watched is the directory whose file system is watched: the one that the user knows, where
// there is one.
func (o *Opened) watched() string { return cmp.Or(o.v.path, o.Dir) }

// record writes a step to the journal before its change is made.
func (o *Opened) record(s journal.Step, back func() error) error {
	return o.undo.Record(o.spec.Journal, s, back)
}

// makeDir makes the volume's own directory, which other users cannot enter.
func (o *Opened) makeDir(parent string) (string, error) {
	return ground.Make(o.record, o.spec.dir(parent), 0o700)
}

func (o *Opened) openDir() (err error) {
	if err := usable(o.v.path); err != nil {
		return err
	}
	o.Dir, err = o.makeDir(o.v.path)
	return err
}

// There says why a directory that the volume names is none for data. One that does not answer
// is there.
func (v Volume) There() error {
	if v.Kind() != Dir {
		return nil
	}
	_, err := storage.Answered(v.path, func() (os.FileInfo, error) { return os.Stat(v.path) })
	if hint.Of(err) != "" {
		return nil
	}
	return usable(v.path)
}

// usable refuses what is no directory for data.
func usable(path string) error {
	st, err := storage.Answered(path, func() (os.FileInfo, error) { return os.Stat(path) })
	switch {
	case hint.Of(err) != "":
		return err
	case err != nil:
		return hint.New(err, "mount it first, and name a directory that is there")
	case st.Mode()&os.ModeDevice != 0:
		return hint.New(fmt.Errorf("%s is a device: tare writes to no device that it did not make", path),
			"make a file system on it, mount it and name a directory on it")
	case !st.IsDir():
		return hint.New(fmt.Errorf("%s is not a directory", path), "name a directory: dir:/PATH")
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return hint.New(&os.PathError{Op: "write to", Path: path, Err: err}, "name a directory that this user can write to")
	}
	return nil
}

func (o *Opened) openTmpfs() error {
	if err := enoughMemory(int64(float64(o.spec.Need) * slack)); err != nil {
		return err
	}
	dir, err := o.makeDir(o.spec.Scratch)
	if err != nil {
		return err
	}
	return o.mount("tmpfs", dir, "tmpfs", fmt.Sprintf("size=%d,mode=755", o.v.size(o.spec.Need)))
}

// mount mounts something in the volume's directory.
func (o *Opened) mount(source, dir, kind, options string) error {
	point := filepath.Join(dir, "mnt")
	if err := os.Mkdir(point, 0o755); err != nil {
		return err
	}
	if err := o.record(steps.Mount{Path: point}, func() error { return unmount(point) }); err != nil {
		return err
	}
	if err := unix.Mount(source, point, kind, unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return explained(fmt.Errorf("mount %s on %s (%s): %w", kind, point, options, err), kind)
	}
	// What other namespaces do with it is not to be seen here, and the other way
	// round.
	if err := unix.Mount("", point, "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mount private: %w", err)
	}
	o.Dir = point
	return nil
}

// explained adds what to do about a mount that failed.
func explained(err error, kind string) error {
	switch {
	case errors.Is(err, unix.ENODEV):
		return hint.New(fmt.Errorf("%w: this kernel has no %s", err, kind), "modprobe "+kind+", or choose another volume")
	case errors.Is(err, unix.EINVAL):
		return hint.New(err, "dmesg says which mount option is wrong")
	}
	return err
}

// busy bounds how long a mount may be in use by what is just ending.
const busy = 5 * time.Second

// unmount takes a mount away for good: lazily only when something keeps it.
func unmount(point string) error {
	for end := time.Now().Add(busy); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		switch {
		case err == nil, errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // not mounted
			return nil
		case !errors.Is(err, unix.EBUSY):
			return &os.PathError{Op: "unmount", Path: point, Err: err}
		case time.Now().After(end):
			err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
			return errors.Join(fmt.Errorf("%s was still in use %v after its arm had ended", point, busy), err)
		}
	}
}

// Changes lists what Open would change on the host.
func (v Volume) Changes(s Spec) []facts.Change {
	switch v.Kind() {
	case Dir:
		return []facts.Change{{What: "directory " + s.dir(v.path), Detail: "the volume of arm " + s.Arm}}
	case Tmpfs:
		return []facts.Change{{What: "tmpfs on " + s.dir(s.Scratch) + "/mnt", Detail: "the volume of arm " + s.Arm}}
	case Loop:
		return []facts.Change{
			{What: "file " + s.dir(s.Scratch) + "/image", Detail: "behind a loop device"},
			{What: "a loop device with " + v.system, Detail: strings.TrimSpace("mounted on " + s.dir(s.Scratch) + "/mnt " + v.options)},
		}
	case RBD:
		return []facts.Change{
			{What: "Ceph image " + v.image(s).String(), Detail: "mapped by the kernel (" + v.mapOptions() + ")"},
			{What: v.system + " on " + v.image(s).Name, Detail: "mounted on " + s.dir(s.Scratch) + "/mnt"},
		}
	case CephFS:
		return []facts.Change{
			{What: "CephFS of " + v.path + " on " + s.dir(s.Scratch) + "/mnt", Detail: v.cephOptions()},
			{What: "directory " + filepath.Base(s.dir("")) + " on " + v.path, Detail: "the volume of arm " + s.Arm},
		}
	case NFS:
		return []facts.Change{
			{What: "NFS of " + v.path + " on " + s.dir(s.Scratch) + "/mnt", Detail: v.mountOptions()},
			{What: "directory " + filepath.Base(s.dir("")) + " on " + v.path, Detail: "the volume of arm " + s.Arm},
		}
	}
	return nil
}
