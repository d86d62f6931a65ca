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

// Spec is what a volume is opened with.
type Spec struct {
	Run string // id of the run
	Arm string // name of the arm, as it is in file names
	// Scratch is the existing directory for the data of the run.
	Scratch string
	// Need is the size of the arm's data in bytes.
	Need    int64
	Journal *journal.Journal
}

// dir is the path of the volume's own directory below parent. No arm has a dot in its name, so
// nothing else has this name.
func (s Spec) dir(parent string) string {
	return filepath.Join(parent, "tare-"+s.Run+"-"+s.Arm+".volume")
}

// Opened is an opened volume of one arm.
type Opened struct {
	// Dir is the directory for the arm's data, for environment.Spec.Volume; empty for Layer and
	// Bind.
	Dir string

	v      Volume
	spec   Spec
	device *loop.Device
	wire   time.Duration // round trip to the NFS server; 0: not known
	undo   journal.UndoStack
	// closing runs beside Close until closed is closed. It ends, with errors, the requests that
	// wait in the kernel for a cluster that is gone. nil: no request can wait so.
	closing func(closed <-chan struct{})
}

// Open makes the volume. After an error nothing of it is left.
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

// Close removes the volume. It may be called twice.
func (o *Opened) Close() error {
	if o.closing != nil {
		closed := make(chan struct{})
		defer close(closed)
		go o.closing(closed)
	}
	return o.undo.Undo()
}

// Settings are the volume for the manifest.
func (o *Opened) Settings() []record.Setting {
	return append([]record.Setting{{Name: "volume", Got: o.v.String()}}, o.wireSetting()...)
}

// Watch adds the file system of the volume to a watch, if it is one of this host.
func (o *Opened) Watch(w *reserve.Watch) {
	switch o.v.Kind() {
	case Dir:
		w.Host(o.watched(), "make room on it, or leave the volume "+o.v.String()+" out")
	case Loop, Tmpfs:
		w.Own(o.watched(), "a shorter --budget: a volume that tare makes has room for what the load is expected to write")
	}
}

// Unwatch removes it from the watch. Call it before Close, which unmounts the file system.
func (o *Opened) Unwatch(w *reserve.Watch) { w.Forget(o.watched()) }

// watched is a directory on the watched file system: the user's own path if there is one.
func (o *Opened) watched() string { return cmp.Or(o.v.path, o.Dir) }

// record writes a step to the journal before the change is made; Close calls back.
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

// There says why the directory that the volume names cannot hold data. A directory whose server
// does not answer counts as good.
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

// usable returns an error for a path that is no writable directory.
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

// mount mounts a file system in the volume's directory.
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
	// Mounts and unmounts in other namespaces must not reach this mount, nor the reverse.
	if err := unix.Mount("", point, "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mount private: %w", err)
	}
	o.Dir = point
	return nil
}

// explained adds the remedy to the error of a mount.
func explained(err error, kind string) error {
	switch {
	case errors.Is(err, unix.ENODEV):
		return hint.New(fmt.Errorf("%w: this kernel has no %s", err, kind), "modprobe "+kind+", or choose another volume")
	case errors.Is(err, unix.EINVAL):
		return hint.New(err, "dmesg says which mount option is wrong")
	}
	return err
}

// busy is how long a mount may stay busy with processes that are ending.
const busy = 5 * time.Second

// unmount unmounts for good. It unmounts lazily only when the mount stays busy.
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

// Changes are the changes that Open would make on the host.
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
