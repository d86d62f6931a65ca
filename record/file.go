package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// Writer appends lines to a record. A line is on the disk when Append returns.
type Writer struct {
	f    *os.File
	size int64 // up to the end of the last whole line
}

// Create makes the result directory with its raw/ directory and an empty
// record. A directory that already holds a record is refused.
func Create(dir string) (*Writer, error) {
	above := holding(dir)
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
	for _, up := range above { // one of them may be one that is only searched
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

// holding are the directories that name a new one or one above it that is new too: they
// are synced for the new one to be there after a power cut.
func holding(dir string) (all []string) {
	for up, there := filepath.Clean(dir), false; !there; {
		up = filepath.Dir(up)
		_, err := os.Lstat(up)
		all, there = append(all, up), err == nil || up == filepath.Dir(up)
	}
	return all
}

// makeDir makes a directory. One that is there is no link and no other user's: its name
// can be foreseen, and it may be in a directory in which others write.
func makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	return own(dir)
}

// own says whether a directory is there in which nobody else but root can put a link in
// the place of what is written.
func own(dir string) error {
	info, err := os.Lstat(filepath.Clean(dir))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is there already, and is no directory", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return foreign(fmt.Sprintf("%s is there already, and is of user %d, who could put anything there: name another", dir, st.Uid))
	}
	if info.Mode()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return foreign(fmt.Sprintf("%s is there already, and all users can write there: name another, or chmod o-w it", dir))
	}
	return nil
}

// foreign is why nothing is written into a directory: another user could put a link in the
// place of what is written. To errors.Is it is fs.ErrPermission.
type foreign string

func (f foreign) Error() string        { return string(f) }
func (f foreign) Is(target error) bool { return target == fs.ErrPermission }

// Open opens a record to append to it: what is behind the first whole bytes, as a
// kill leaves it, is cut off.
func Open(dir string, whole int64) (*Writer, error) {
	if err := errors.Join(own(dir), own(filepath.Join(dir, RawDir))); err != nil {
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

// Append writes the lines with one write and syncs them. What a failed write left of
// them, on a disk that is full for example, is cut off: a later line starts on its own.
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

// WriteJSON replaces a file of the result directory whole: a reader sees the
// old one or the new one.
func WriteJSON(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return WriteFile(dir, name, append(b, '\n'))
}

// WriteFile replaces a file of the result directory whole, like WriteJSON. The directory is the
// caller's own; of another user's nothing is written (fs.ErrPermission), not by root either.
func WriteFile(dir, name string, b []byte) error {
	if err := own(dir); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
	}
	return writeWhole(filepath.Join(dir, name), b)
}

func writeWhole(path string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
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
	return m, readJSON(filepath.Join(dir, ManifestFile), &m)
}

// ReadNodes reads what a run over several nodes left in its directory; ErrNoRecord where it is
// none. Each node's directory is one below that, and no link.
func ReadNodes(dir string) (n Nodes, err error) {
	path := filepath.Join(dir, NodesFile)
	if err := readSchema(path, NodesSchema, &n); err != nil {
		return Nodes{}, err
	}
	if len(n.Nodes) == 0 || len(n.Nodes) > mostNodes {
		return Nodes{}, fmt.Errorf("%s: %d nodes, 1 to %d are allowed: %w", path, len(n.Nodes), mostNodes, ErrBounds)
	}
	names, dirs := map[string]bool{}, map[string]bool{}
	for _, node := range n.Nodes {
		if err := named("node", node.Name); err != nil {
			return Nodes{}, fmt.Errorf("%s: %w", path, err)
		}
		if names[node.Name] || dirs[node.Dir] {
			return Nodes{}, fmt.Errorf("%s: the node %q or its directory %q is there twice", path, node.Name, node.Dir)
		}
		names[node.Name], dirs[node.Dir] = true, true
		if !filepath.IsLocal(node.Dir) || filepath.Base(node.Dir) != node.Dir || node.Dir == "." {
			return Nodes{}, fmt.Errorf("%s: the node %q has the directory %q, which is not one below it", path, node.Name, node.Dir)
		}
		if info, err := os.Lstat(filepath.Join(dir, node.Dir)); err == nil && !info.IsDir() {
			return Nodes{}, fmt.Errorf("%s is no directory", filepath.Join(dir, node.Dir))
		}
	}
	return n, nil
}

// readSchema reads a file of that schema, or of none. What a newer one holds need not fit into v.
func readSchema(path, own string, v any) error {
	b, err := readFile(path)
	if err != nil {
		return err
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

func readJSON(path string, v any) error {
	b, err := readFile(path)
	if err != nil {
		return err
	}
	if err := sized(b); err != nil {
		return fmt.Errorf("%s: %w", path, err)
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
