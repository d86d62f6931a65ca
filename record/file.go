package record

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Writer appends lines to a record. Append syncs: its lines are on the disk when it returns.
type Writer struct {
	f    *os.File
	size int64 // bytes up to the end of the last complete line
}

// Create makes the result directory with its raw/ directory and an empty record. A directory that
// already has a record is an error.
func Create(dir string) (*Writer, error) {
	toSync := parents(dir)
	err := makeDir(dir)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, RawDir), 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("make the result directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, RecordFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make the record: %w", err)
	}
	err = syncDir(dir)
	for _, up := range toSync { // this user may have no read permission on some
		if serr := syncDir(up); err == nil && !errors.Is(serr, os.ErrPermission) {
			err = serr
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Writer{f: f}, nil
}

// parents lists the directories above dir up to the first that exists. After dir is made each must be
// synced, or a power cut may lose the entry of a new directory.
func parents(dir string) (all []string) {
	for up, there := filepath.Clean(dir), false; !there; {
		up = filepath.Dir(up)
		_, err := os.Lstat(up)
		all, there = append(all, up), err == nil || up == filepath.Dir(up)
	}
	return all
}

// makeDir makes a directory. If it exists it must be this user's and not a link: other users can guess
// the name, and may be able to write in the directory above.
func makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	return checkOwn(dir)
}

// checkOwn returns an error unless dir is a directory in which only this user and root can replace
// files by links.
func checkOwn(dir string) error {
	_, err := lstatOwn(dir)
	return err
}

// lstatOwn does checkOwn and returns the result of Lstat.
func lstatOwn(dir string) (os.FileInfo, error) {
	info, err := os.Lstat(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is there already, and is no directory", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return nil, notOwn(fmt.Sprintf("%s is there already, and is of user %d, who could put anything there: name another", dir, st.Uid))
	}
	if info.Mode()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return nil, notOwn(fmt.Sprintf("%s is there already, and all users can write there: name another, or chmod o-w it", dir))
	}
	return info, nil
}

// openSame opens a directory that lstatOwn has checked. It returns an error if another directory is at
// the path now: the owner of the directory above could have put a link there.
func openSame(dir string, checked os.FileInfo) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(checked, info) {
		err = notOwn(fmt.Sprintf("%s was replaced by another directory a moment ago: name one in a directory of your own", dir))
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// notOwn is the error about a directory in which another user could replace files by links.
// errors.Is finds fs.ErrPermission in it.
type notOwn string

func (e notOwn) Error() string        { return string(e) }
func (e notOwn) Is(target error) bool { return target == fs.ErrPermission }

// Open opens a record to append to it. whole is the length of its complete lines in bytes
// (Result.Whole). Open cuts off the rest, the part of a line that a kill may have left.
func Open(dir string, whole int64) (*Writer, error) {
	if err := errors.Join(checkOwn(dir), checkOwn(filepath.Join(dir, RawDir))); err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, RecordFile), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	if err := errors.Join(f.Truncate(whole), f.Sync()); err != nil {
		return nil, errors.Join(fmt.Errorf("cut the record: %w", err), f.Close())
	}
	return &Writer{f, whole}, nil
}

// Append writes lines with one write and syncs them. After a failed write, such as on a full disk, it
// truncates the file again, so that the next line starts at the beginning of a line.
func (w *Writer) Append(lines ...Line) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("encode a line of the record: %w", err)
		}
	}
	n, err := w.f.Write(buf.Bytes())
	if err != nil {
		return errors.Join(fmt.Errorf("write the record: %w", err), w.f.Truncate(w.size))
	}
	w.size += int64(n)
	if err := w.f.Sync(); err != nil {
		return fmt.Errorf("sync the record: %w", err)
	}
	return nil
}

// Close closes the record.
func (w *Writer) Close() error { return w.f.Close() }

// WriteJSON replaces a file of the result directory atomically.
func WriteJSON(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return WriteFile(dir, name, append(b, '\n'))
}

// WriteFile replaces a file of the result directory atomically. The directory must be the caller's
// own, also for root; otherwise the error is fs.ErrPermission.
func WriteFile(dir, name string, b []byte) error {
	if err := writeWhole(dir, name, b); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// writeWhole writes a file under a temporary name and renames it. It writes into the directory that it
// has checked, even if the path leads elsewhere meanwhile.
func writeWhole(dir, name string, b []byte) error {
	checked, err := lstatOwn(dir)
	if err != nil {
		return err
	}
	root, err := openSame(dir, checked)
	if err != nil {
		return err
	}
	defer root.Close()
	made := fmt.Sprintf(".%s-%d-%s", name, os.Getpid(), rand.Text()[:8])
	tmp, err := root.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer root.Remove(made)
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := root.Rename(made, name); err != nil {
		return err
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
