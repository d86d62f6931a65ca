package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/clonetree"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Build builds a data set in an empty directory and returns its notes.
type Build func(ctx context.Context, dir string) (notes map[string]string, err error)

// Use returns the data set from the store, and builds it if the store has no intact one; cached is
// false then. need is the disk space for building, in bytes. Processes that use the same data set wait
// until one has built it.
func (s Store) Use(ctx context.Context, a About, need int64, build Build) (set Set, cached bool, err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Set{}, false, fmt.Errorf("make the cache for data sets: %w", err)
	}
	// Nobody else may write here: the markers name programs that root may execute.
	if err := trust.Dir(s.Dir); err != nil {
		return Set{}, false, fmt.Errorf("use the cache for data sets: %w", err)
	}
	// Several processes may use a data set under shared locks. Building takes the exclusive lock.
	if set, err := s.intact(ctx, a.Key()); err == nil || ctx.Err() != nil {
		return set, err == nil, err
	}
	unlock, err := s.lock(ctx, a.Key(), unix.LOCK_EX)
	if err != nil {
		return Set{}, false, err
	}
	defer unlock()
	dir := filepath.Join(s.Dir, a.Key())
	m, err := Verify(dir)
	if err == nil { // another process has built it
		return Set{Dir: dir, Marker: m}, true, nil
	}
	if !errors.Is(err, errNone) {
		set.Instead = err.Error()
	}
	if err := s.discard(a.Key()); err != nil {
		return Set{}, false, err
	}
	if err := enoughSpace(s.Dir, need); err != nil {
		return Set{}, false, err
	}
	set.Dir = dir
	if set.Marker, err = s.build(ctx, a, build); err != nil {
		return Set{}, false, withHint(err)
	}
	return set, false, nil
}

// intact returns a data set if it is in the store and intact.
func (s Store) intact(ctx context.Context, key string) (Set, error) {
	unlock, err := s.lock(ctx, key, unix.LOCK_SH)
	if err != nil {
		return Set{}, err
	}
	defer unlock()
	dir := filepath.Join(s.Dir, key)
	m, err := Verify(dir)
	if err != nil {
		return Set{}, err
	}
	now := time.Now()
	// The marker's time is that of the last use, for Prune. Setting it fails on a read-only cache, which
	// can still be used.
	_ = os.Chtimes(filepath.Join(dir, MarkerFile), now, now)
	return Set{Dir: dir, Marker: m}, nil
}

// build builds the data set under a temporary name, takes it back from the server's account, seals it
// and renames it.
func (s Store) build(ctx context.Context, a About, build Build) (_ Marker, err error) {
	began := time.Now()
	part, err := os.MkdirTemp(s.Dir, partName(a.Key())+"*")
	if err != nil {
		return Marker{}, fmt.Errorf("make a directory for a data set: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, steps.RemoveDirectory(part))
		}
	}()
	notes, err := build(ctx, part)
	if err != nil {
		return Marker{}, err
	}
	if err := ctx.Err(); err != nil {
		return Marker{}, err
	}
	if err := errors.Join(clonetree.Take(part), os.Chmod(part, 0o700)); err != nil {
		return Marker{}, err
	}
	m := Marker{Schema: markerSchema, Key: a.Key(), About: a, Notes: notes, Created: began.UTC(), Finished: true}
	if m.Files, err = list(part, syncPath); err != nil {
		return Marker{}, err
	}
	for _, f := range m.Files {
		m.Bytes += f.Size
	}
	m.Seconds = time.Since(began).Seconds()
	if err := seal(part, m); err != nil {
		return Marker{}, err
	}
	if err := os.Rename(part, filepath.Join(s.Dir, a.Key())); err != nil {
		return Marker{}, fmt.Errorf("keep a data set: %w", err)
	}
	return m, syncPath(s.Dir)
}

// seal writes the marker to disk. Every file of the data set must be on disk before.
func seal(dir string, m Marker) error {
	b, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, MarkerFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("seal a data set: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("seal a data set: %w", err)
	}
	return syncPath(dir)
}

// partName is the prefix of the temporary names under which a data set is built.
func partName(key string) string { return "." + key + ".part-" }

// discard removes a damaged data set and unfinished builds of the same key. The caller must hold the
// exclusive lock.
func (s Store) discard(key string) error {
	parts, err := filepath.Glob(filepath.Join(s.Dir, partName(key)+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range append(parts, filepath.Join(s.Dir, key)) {
		if err := steps.RemoveDirectory(dir); err != nil {
			errs = append(errs, fmt.Errorf("remove a damaged data set: %w", err))
		}
	}
	return errors.Join(errs...)
}

// lock locks a data set exclusively (LOCK_EX) or shared (LOCK_SH). No process may remove a lock file,
// because two processes could then hold exclusive locks on two files of the same name.
func (s Store) lock(ctx context.Context, key string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(s.lockFile(key), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock a data set: %w", err)
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock a data set: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("another tare is preparing the same data set: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s Store) lockFile(key string) string { return filepath.Join(s.Dir, "."+key+".lock") }

// Hold prevents that any process prunes the data set until release is called.
func (s Set) Hold() (release func(), err error) {
	f, err := os.Open(Store{filepath.Dir(s.Dir)}.lockFile(s.Key))
	if err != nil {
		return nil, fmt.Errorf("hold a data set: %w", err)
	}
	if err := again.Do(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_SH) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("hold a data set: %w", err)
	}
	return func() { f.Close() }, nil
}

// enoughSpace returns an error if the file system has too little free space for building.
func enoughSpace(dir string, need int64) error {
	free, err := reserve.Beyond(dir)
	if err != nil {
		return err
	}
	if free < need {
		return withHint(fmt.Errorf("%w: the data set needs %d MiB, %s has %d MiB free beyond what a run leaves free: %w",
			reserve.ErrShort, need>>20, dir, free>>20, unix.ENOSPC))
	}
	return nil
}

func withHint(err error) error {
	if errors.Is(err, unix.ENOSPC) {
		return hint.New(err, "make room (tare cache prune removes data sets), or set XDG_CACHE_HOME to a directory on another file system")
	}
	return err
}
