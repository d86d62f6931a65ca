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
	"github.com/tarelab/tare/internal/base/messages"
	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/loop"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/undo/ground"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/record"
)

// Spec is the input of Open.
type Spec struct {
	Run string // id of the run
	Arm string // name of the arm, as it is in file names
	// Scratch is the run's scratch directory, which exists.
	Scratch string
	// Need is the expected size of the arm's data in bytes.
	Need    int64
	Journal *journal.Journal
}

// dir is the path of the volume's own directory below parent. The ".volume" makes it unique: no
// name of an arm has a dot.
func (s Spec) dir(parent string) string {
	return filepath.Join(parent, "tare-"+s.Run+"-"+s.Arm+".volume")
}

// Opened is an opened volume of one arm.
type Opened struct {
	// Dir is the directory for the arm's data, for environment.Spec.Volume; empty for Layer and
	// Bind.
	Dir string

	v         Volume
	spec      Spec
	device    *loop.Device
	roundTrip time.Duration // to the NFS server; 0: unknown
	undo      journal.UndoStack
	// abortStalled runs in a goroutine during Close and returns when closed is closed. It makes
	// the kernel end, with errors, requests that wait for a lost Ceph cluster; nil: none can wait.
	abortStalled func(closed <-chan struct{})
}

// Open makes the volume. After an error it has removed everything that it made.
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
	if o.abortStalled != nil {
		closed := make(chan struct{})
		defer close(closed)
		go o.abortStalled(closed)
	}
	return o.undo.Undo()
}

// Settings describe the volume for the manifest.
func (o *Opened) Settings() []record.Setting {
	all := append([]record.Setting{{Name: "volume", Got: o.v.String()}}, o.roundTripSetting()...)
	for _, option := range o.v.NotShown() {
		all = append(all, record.Setting{Name: "volume.unseen", Got: "not shown by the kernel: " + option})
	}
	return all
}

// Watch adds the file system of a dir, loop or tmpfs volume to the watch for free space.
func (o *Opened) Watch(w *reserve.Watch) {
	switch o.v.Kind() {
	case Dir:
		w.Host(o.watchedDir(), "make room on it, or leave the volume "+o.v.String()+" out")
	case Loop, Tmpfs:
		w.Own(o.watchedDir(), "a shorter --budget: a volume that tare makes has room for what the load is expected to write")
	}
}

// Unwatch removes the file system from the watch. Call it before Close, which unmounts it.
func (o *Opened) Unwatch(w *reserve.Watch) { w.Forget(o.watchedDir()) }

// watchedDir is a directory on the watched file system: the user's own path if there is one.
func (o *Opened) watchedDir() string { return cmp.Or(o.v.path, o.Dir) }

// recordStep writes a step to the journal. Call it before the change; Close calls revert.
func (o *Opened) recordStep(s journal.Step, revert func() error) error {
	return o.undo.Record(o.spec.Journal, s, revert)
}

// makeDir makes the volume's own directory, which other users cannot enter.
func (o *Opened) makeDir(parent string) (string, error) {
	return ground.Make(o.recordStep, o.spec.dir(parent), 0o700)
}

func (o *Opened) openDir() (err error) {
	if err := usable(o.v.path); err != nil {
		return err
	}
	o.Dir, err = o.makeDir(o.v.path)
	return err
}

// There returns why the directory of a dir volume cannot hold data; nil: it can. A directory whose
// server does not answer passes.
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

// usable returns an error unless path is a writable directory.
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
	return storage.LiveData("/", path)
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

// mount mounts a file system on dir/mnt, reads its options back, and sets o.Dir to it.
func (o *Opened) mount(source, dir, kind, options string) error {
	point := filepath.Join(dir, "mnt")
	if err := os.Mkdir(point, 0o755); err != nil {
		return err
	}
	if err := o.recordStep(steps.Mount{Path: point}, func() error { return unmount(point) }); err != nil {
		return err
	}
	flags, words := splitFlags(options)
	if err := unix.Mount(source, point, kind, unix.MS_NOSUID|unix.MS_NODEV|flags, words); err != nil {
		return withRemedy(fmt.Errorf("mount %s on %s (%s): %w", kind, point, options, err), kind)
	}
	// A shared mount would pass mounts and unmounts below it to other namespaces and back.
	if err := unix.Mount("", point, "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mount private: %w", err)
	}
	if err := grantedDisk("/", point, kind, options); err != nil {
		return err
	}
	o.Dir = point
	return nil
}

// withRemedy adds a remedy to an error of mount(2).
func withRemedy(err error, kind string) error {
	switch {
	case errors.Is(err, unix.ENODEV):
		return hint.New(fmt.Errorf("%w: this kernel has no %s", err, kind), "modprobe "+kind+", or choose another volume")
	case errors.Is(err, unix.EINVAL):
		return hint.New(err, "dmesg says which mount option is wrong")
	}
	return err
}

// busyTimeout is how long unmount waits for processes that still use the mount.
const busyTimeout = 5 * time.Second

// unmount retries while the mount is busy. After busyTimeout it unmounts lazily (MNT_DETACH) and
// returns an error.
func unmount(point string) error {
	for end := time.Now().Add(busyTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		switch {
		case err == nil, errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // not mounted
			return nil
		case !errors.Is(err, unix.EBUSY):
			return &os.PathError{Op: "unmount", Path: point, Err: err}
		case time.Now().After(end):
			err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
			return errors.Join(fmt.Errorf("%s was still in use %v after its arm had ended", point, busyTimeout), err)
		}
	}
}

// Changes lists the changes that Open would make on the host. The last names the options that the
// kernel does not show.
func (v Volume) Changes(s Spec) []facts.Change {
	all := v.changes(s)
	if unseen := v.NotShown(); len(unseen) > 0 && len(all) > 0 {
		last := &all[len(all)-1]
		last.Detail = append(last.Detail, messages.Say("change.volume.unseen", "list", strings.Join(unseen, "; ")))
	}
	return all
}

func (v Volume) changes(s Spec) []facts.Change {
	ofArm, mount := messages.Say("change.volume.arm", "arm", s.Arm), s.dir(s.Scratch)+"/mnt"
	below := facts.Changed(messages.Say("change.directory.on", "name", filepath.Base(s.dir("")), "path", v.path), ofArm)
	switch v.Kind() {
	case Dir:
		return []facts.Change{facts.Changed(messages.Say("change.directory", "path", s.dir(v.path)), ofArm)}
	case Tmpfs:
		return []facts.Change{facts.Changed(messages.Say("change.mounted", "system", "tmpfs", "path", mount), ofArm)}
	case Loop:
		return []facts.Change{
			facts.Changed(messages.Say("change.file", "path", s.dir(s.Scratch)+"/image"), messages.Say("change.file.loop")),
			facts.Changed(messages.Say("change.loop", "system", v.system), messages.Say("change.mount", "path", strings.TrimSpace(mount+" "+v.options))),
		}
	case RBD:
		return []facts.Change{
			facts.Changed(messages.Say("change.ceph", "name", v.image(s)), messages.Say("change.ceph.mapped", "options", v.mapOptions())),
			facts.Changed(messages.Say("change.mounted", "system", v.system, "path", v.image(s).Name), messages.Say("change.mount", "path", mount)),
		}
	case CephFS:
		return []facts.Change{facts.Changed(messages.Say("change.network", "system", "CephFS", "from", v.path, "path", mount), messages.Say("change.plain", "text", v.cephOptions())), below}
	case NFS:
		return []facts.Change{facts.Changed(messages.Say("change.network", "system", "NFS", "from", v.path, "path", mount), messages.Say("change.plain", "text", v.mountOptions())), below}
	}
	return nil
}
