package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// Result is a result directory read back.
type Result struct {
	Dir      string
	Plan     Plan
	Manifest Manifest
	// Lines is the record; after Scan without its blocks.
	Lines []Line
	// Torn says that the last line was cut off, as a kill leaves it, or that what was written
	// last has holes, as a power cut leaves it.
	Torn bool
	// Running says that a run held the record locked when it was read: what it has not
	// written yet is not missing.
	Running bool
	// Whole is the length of the record up to there, in bytes.
	Whole int64

	path string // of the record, where Lines is not all of it
}

// Each calls f with every line of the record in order. The line is valid until f
// returns. After Scan it reads the file, and damage in a block is an error here.
func (r *Result) Each(f func(*Line)) error {
	if r.path != "" {
		return r.stream(r.path, func([]byte) bool { return true }, func(l *Line, _ int) { f(l) })
	}
	for i := range r.Lines {
		f(&r.Lines[i])
	}
	return nil
}

var (
	// ErrNoRecord means that a directory holds no result of tare.
	ErrNoRecord = errors.New("not a result directory of tare")
	// ErrDamaged means that a file of a result is not as tare wrote it.
	ErrDamaged = errors.New("damaged")
	// ErrNewer means that a newer tare wrote a result.
	ErrNewer = errors.New("made by a newer tare")
)

// damaged is a file, or a line of it, that is not as tare wrote it.
func damaged(where string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && err.Error() == "unexpected end of JSON input" {
		return fmt.Errorf("%s: %w: its end is missing", where, ErrDamaged)
	}
	return fmt.Errorf("%s: %w: %w", where, ErrDamaged, err)
}

// readBy says whether this tare reads a file of that schema, which is written as own is:
// tare/KIND/vNUMBER.
func readBy(where, schema, own string) error {
	kind, version, _ := strings.Cut(own, "/v")
	if schema == own {
		return nil
	}
	other, ours := 0, 0
	fmt.Sscanf(version, "%d", &ours)
	if n, err := fmt.Sscanf(strings.TrimPrefix(schema, kind), "/v%d", &other); err == nil && n == 1 && other > ours {
		return fmt.Errorf("%s: %w: its format is %s, and this tare reads %s", where, ErrNewer, schema, own)
	}
	return fmt.Errorf("%s: %w: schema %q, want %q", where, ErrNoRecord, schema, own)
}

// Read reads a result directory. A torn last line, or what follows a hole in the last
// write, is left out and reported in Torn; damage anywhere else is an error that names the line.
func Read(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	path, err := r.described()
	if err != nil {
		return nil, err
	}
	return r.read(path, func([]byte) bool { return true })
}

// Scan is Read without the blocks, which may be a hundred times the rest: Each
// reads them from the file when it is called.
func Scan(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	path, err := r.described()
	if err != nil {
		return nil, err
	}
	if r, err = r.read(path, func(start []byte) bool { return !aBlock(start) }); err != nil {
		return nil, err
	}
	r.path = path
	r.Lines = slices.DeleteFunc(r.Lines, func(l Line) bool { return l.Block != nil })
	return r, nil
}

// read keeps the lines that are wanted.
func (r *Result) read(path string, wanted func(start []byte) bool) (*Result, error) {
	r.Running = locked(path)
	err := r.stream(path, wanted, func(l *Line, n int) {
		if *l != (Line{}) {
			r.Lines = append(r.Lines, *l)
		}
		r.Whole += int64(n)
	})
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: %w (no %s)", r.Dir, ErrNoRecord, RecordFile)
	case err != nil:
		return nil, err
	}
	return r, nil
}

// locked reports whether another process, or another file of this one, holds the lock that a
// run has on its record. It is asked for a moment; a run that begins just then asks again.
func locked(path string) bool {
	f, err := open(path, false)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// described reads what goes with the record, and says where that is.
func (r *Result) described() (path string, err error) {
	if err := readSchema(filepath.Join(r.Dir, PlanFile), PlanSchema, &r.Plan); err != nil {
		return "", err
	}
	if err := readBy(filepath.Join(r.Dir, PlanFile), r.Plan.Schema, PlanSchema); err != nil {
		return "", err
	}
	if err := r.Plan.Check(); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(r.Dir, PlanFile), err)
	}
	manifest := filepath.Join(r.Dir, ManifestFile)
	if _, err := os.Lstat(manifest); err == nil { // a run that ended early has none
		if err := readSchema(manifest, ManifestSchema, &r.Manifest); err != nil {
			return "", err
		}
	}
	if err := texts(reflect.ValueOf(r.Manifest)); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(r.Dir, ManifestFile), err)
	}
	return filepath.Join(r.Dir, RecordFile), nil
}

// largestFile bounds the files that are read as a whole.
const largestFile = 64 << 20 // bytes

// open opens a file of a result, which may be somebody else's: no pipe or device, which would be
// waited for, no link, which may lead to what is not theirs, and none that is too large where it
// is read as a whole.
func open(path string, whole bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link, and none is followed in a result", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a file, but %v", path, info.Mode().Type())
	case err == nil && whole && info.Size() > largestFile:
		err = fmt.Errorf("%s has more than %d bytes", path, largestFile)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadManifest reads the manifest of a result directory alone.
func ReadManifest(dir string) (m Manifest, err error) {
	return m, readSchema(filepath.Join(dir, ManifestFile), ManifestSchema, &m)
}

// readSchema reads a file of that schema, or of none, and with the bounds of bounds.go. What a newer one holds need not fit into v.
func readSchema(path, own string, v any) error {
	b, err := readFile(path)
	if err != nil {
		return err
	}
	if err := sized(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var is struct{ Schema string }
	if err := json.Unmarshal(b, &is); err != nil {
		return damaged(path, err)
	}
	if is.Schema != "" {
		if err := readBy(path, is.Schema, own); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(b, v); err != nil {
		return damaged(path, err)
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	f, err := open(path, true)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (no %s)", filepath.Dir(path), ErrNoRecord, filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
