package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/netmount"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/undo/ground"
	"github.com/tarelab/tare/internal/undo/journal"
	"github.com/tarelab/tare/internal/undo/journal/steps"
)

// shared is a file system of a server that is mounted for one arm.
type shared struct {
	kind            netmount.Kind
	source, options string
	// step makes the journal's step for the mount and the directory.
	step func(shareStep) journal.Step
	// granted returns an error if the kernel mounted with other options than asked for.
	granted func(context.Context, proc.Mount) error
	// rights is the remedy when tare may not write there.
	rights string
}

// openShared mounts the file system and makes the arm's directory on it.
func (o *Opened) openShared(ctx context.Context, s shared) error {
	dir, err := o.makeDir(o.spec.Scratch)
	if err != nil {
		return err
	}
	point := filepath.Join(dir, "mnt")
	if err := os.Mkdir(point, 0o700); err != nil {
		return err
	}
	back := shareStep{Point: point, Options: s.options, Source: s.source, Name: filepath.Base(dir)}
	err = o.recordStep(s.step(back), func() error {
		if m, err := netmount.On(point); err != nil || m == nil {
			return err // not mounted, or not known
		}
		return back.remove(s.kind)
	})
	if err != nil {
		return err
	}
	if err := s.kind.Mount(ctx, s.source, point, s.options); err != nil {
		return err
	}
	if err := unix.Mount("", point, "", unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make the mount private: %w", err)
	}
	// An interrupted run must not wait for a server that is gone.
	o.undo.Push(o.abortOn(ctx, point))
	m, err := netmount.On(point)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("%s is not mounted on %s although the program that mounts said so", o.v.path, point)
	}
	if err := s.granted(ctx, *m); err != nil {
		return err
	}
	return o.makeShared(point, filepath.Base(dir), s.rights)
}

// stuck is how long the close of an interrupted volume may take before requests that wait for
// the server are aborted.
const stuck = 10 * time.Second

// abortOn aborts, with errors, the requests that wait for the server if ctx ended and the
// volume is still not closed after stuck; stop ends that.
func (o *Opened) abortOn(ctx context.Context, point string) (stop func() error) {
	closed := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		for {
			select {
			case <-closed:
				return
			case <-time.After(stuck):
				netmount.Abort(point)
			}
		}
	})
	return func() error { cancel(); close(closed); return nil }
}

// errAbandoned is the answer to work on the volume that goes on after makeShared has given it up.
var errAbandoned = errors.New("the volume is closed")

// makeShared makes the arm's directory on the mount, after it has checked that there is room. The step
// of the mount covers the directory on the server; changes on this host have their own steps.
// After netmount.Asking makeShared gives up a server that hangs. The goroutine may go on then, but
// must not touch the volume, which is being closed.
func (o *Opened) makeShared(point, name, rights string) error {
	var mu sync.Mutex
	var dir string
	abandoned := false
	record := func(s journal.Step, back func() error) error {
		mu.Lock()
		defer mu.Unlock()
		if abandoned {
			return errAbandoned
		}
		if d, ok := s.(steps.Directory); ok && strings.HasPrefix(d.Path, point+"/") {
			return nil
		}
		return o.recordStep(s, back)
	}
	err := netmount.Within(point, netmount.Asking, func() error {
		space, err := storage.Room(point)
		if err != nil {
			return err
		}
		free := space.Free
		if need := int64(float64(o.spec.Need) * slack); need > free {
			return hint.New(fmt.Errorf("an arm needs %d MiB on %s, with a fifth to spare, and %d MiB are free: %w", need>>20, o.v.path, free>>20, unix.ENOSPC),
				"make room on the server, or make the data smaller")
		}
		made, err := ground.Make(record, filepath.Join(point, name), 0o700)
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EROFS) {
			err = hint.New(err, rights)
		}
		mu.Lock()
		defer mu.Unlock()
		dir = made
		return err
	})
	mu.Lock()
	defer mu.Unlock()
	abandoned = true
	if err == nil {
		o.Dir = dir
	}
	return err
}

// clientOf says whether a host's kernel knows a file system or has a module of that name.
func clientOf(root proc.FS, system, name string) bool {
	b, _ := os.ReadFile(root.Path("proc/filesystems"))
	return slices.Contains(strings.Fields(string(b)), system) || module(root, name)
}
