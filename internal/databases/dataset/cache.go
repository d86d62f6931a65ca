package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/undo/journal/steps"
	"github.com/tarelab/tare/internal/undo/trust"
)

// Entry is one data set in a store, whole or broken.
type Entry struct {
	Key   string
	Dir   string
	About About
	Bytes int64     // on the disk
	Used  time.Time // zero when broken
	// Broken is why the data set cannot be used; empty if it can.
	Broken string
	// Unfinished is true for a directory in which a data set is or was being built.
	Unfinished bool
}

// List returns the data sets in the store, by name. A missing store is empty.
func (s Store) List() ([]Entry, error) {
	dirs, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the data sets: %w", err)
	}
	var out []Entry
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		e := Entry{Key: d.Name(), Dir: filepath.Join(s.Dir, d.Name())}
		key, _, interrupted := strings.Cut(strings.TrimPrefix(e.Key, "."), ".part-")
		if strings.HasPrefix(e.Key, ".") && interrupted {
			e.Key, e.Unfinished, e.Broken = key, true, "preparing it was interrupted, or goes on"
		} else if err := e.read(); err != nil {
			e.Broken = err.Error()
		}
		e.Bytes = bytesOf(e.Dir)
		out = append(out, e)
	}
	return out, nil
}

func (e *Entry) read() error {
	m, err := Verify(e.Dir)
	if err != nil {
		return err
	}
	e.About = m.About
	st, err := os.Stat(filepath.Join(e.Dir, MarkerFile))
	if err != nil {
		return err
	}
	e.Used = st.ModTime()
	return nil
}

// bytesOf is the disk space of a directory in bytes, without what cannot be read.
func bytesOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				n += st.Blocks * 512
			}
		}
		return nil
	})
	return n
}

// Abandoned are unfinished data sets that no process is building now.
func (s Store) Abandoned() (left []Entry, err error) {
	all, err := s.List()
	for _, e := range all {
		if !e.Unfinished {
			continue
		}
		f, err := os.Open(s.lockFile(e.Key))
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
			f.Close()
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			left = append(left, e)
		}
	}
	return left, err
}

// Prune removes the entries for which drop is true and returns them. Entries that a process builds or
// holds stay.
func (s Store) Prune(drop func(Entry) bool) (removed []Entry, err error) {
	all, err := s.List()
	if err == nil {
		err = trust.Dir(s.Dir)
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range all {
		if !drop(e) {
			continue
		}
		gone, err := s.remove(e)
		if gone {
			removed = append(removed, e)
		}
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}

func (s Store) remove(e Entry) (gone bool, err error) {
	f, err := os.OpenFile(s.lockFile(e.Key), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, fmt.Errorf("remove the data set %s: %w", e.Key, err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return false, nil // in use
	}
	// The marker first, so that a data set that is half removed does not look whole.
	if err := os.Remove(filepath.Join(e.Dir, MarkerFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove the data set %s: %w", e.Key, err)
	}
	if err := steps.RemoveDirectory(e.Dir); err != nil {
		return false, fmt.Errorf("remove the data set %s: %w", e.Key, err)
	}
	return true, nil
}
