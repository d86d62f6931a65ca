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

// Result is the content of a result directory.
type Result struct {
	Dir      string
	Plan     Plan
	Manifest Manifest
	// Lines is the record, without blocks after Scan.
	Lines []Line
	// Torn says that the last line is incomplete, as after a kill, or that the last write has holes,
	// as after a power cut.
	Torn bool
	// Running says that a run held the lock of the record while it was read: more lines follow.
	Running bool
	// Whole is the length of all complete lines in bytes.
	Whole int64

	path string // of the record, after Scan
}

// Each calls f with every line of the record in order. The line is valid until f returns. After Scan,
// Each reads the file again, and returns an error for a damaged block.
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
	// ErrDamaged means that a file of a result is damaged.
	ErrDamaged = errors.New("damaged")
	// ErrNewer means that a newer tare wrote a result.
	ErrNewer = errors.New("made by a newer tare")
)

// damaged is ErrDamaged with the file, or file and line, and the cause.
func damaged(where string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err != nil && err.Error() == "unexpected end of JSON input" {
		return fmt.Errorf("%s: %w: its end is missing", where, ErrDamaged)
	}
	return fmt.Errorf("%s: %w: %w", where, ErrDamaged, err)
}

// readBy returns an error unless schema is own, the one that this tare reads: ErrNewer for a higher
// version, ErrNoRecord otherwise. Schemas are tare/KIND/vNUMBER.
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

// Read reads a result directory. It leaves out a torn last line, or everything behind a hole in the
// last write, and sets Torn. Damage elsewhere is an error that names the line.
func Read(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	path, err := r.readPlan()
	if err != nil {
		return nil, err
	}
	return r.read(path, func([]byte) bool { return true })
}

// Scan is like Read but does not keep the blocks, which can be a hundred times larger than the rest.
// Result.Each then reads them from the file.
func Scan(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	path, err := r.readPlan()
	if err != nil {
		return nil, err
	}
	if r, err = r.read(path, func(start []byte) bool { return !isBlock(start) }); err != nil {
		return nil, err
	}
	r.path = path
	r.Lines = slices.DeleteFunc(r.Lines, func(l Line) bool { return l.Block != nil })
	return r, nil
}

// read reads the wanted lines of the record.
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

// locked reports whether a run holds the lock of its record. It takes the lock for a moment; a run
// that starts meanwhile tries again.
func locked(path string) bool {
	f, err := open(path, false)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// readPlan reads the plan and the manifest, and returns the path of the record.
func (r *Result) readPlan() (path string, err error) {
	if r.Plan, err = ReadPlan(r.Dir); err != nil {
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
	if err := checkTexts(reflect.ValueOf(r.Manifest)); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(r.Dir, ManifestFile), err)
	}
	return filepath.Join(r.Dir, RecordFile), nil
}

// largestFile bounds files that are read into memory at once.
const largestFile = 64 << 20 // bytes

// open opens a file of a result, which another user may have made. It refuses pipes and devices,
// which could block, links, which could lead to files that user may not read, and, if whole is set,
// files larger than largestFile.
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

// ReadPlan reads the plan of a result directory alone; ErrNoRecord: it has none of tare's.
func ReadPlan(dir string) (p Plan, err error) {
	path := filepath.Join(dir, PlanFile)
	if err := readSchema(path, PlanSchema, &p); err != nil {
		return Plan{}, err
	}
	return p, readBy(path, p.Schema, PlanSchema)
}

// ReadEffects reads the effects that a run wrote into its result directory; ErrNoRecord: there are none.
func ReadEffects(dir string) (e Effects, err error) {
	path := filepath.Join(dir, EffectsFile)
	if err := readSchema(path, EffectsSchema, &e); err != nil {
		return Effects{}, err
	}
	return e, readBy(path, e.Schema, EffectsSchema)
}

// readSchema decodes a file of the schema own, or of no schema, into v, within the bounds of
// bounds.go. It checks the schema first: a newer file need not fit into v.
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
