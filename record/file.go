package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Writer appends lines to a record. A line is on the disk when Append returns.
type Writer struct {
	f *os.File
}

// Create makes the result directory with its raw/ directory and an empty
// record. A directory that already holds a record is refused.
func Create(dir string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Join(dir, RawDir), 0o755); err != nil {
		return nil, fmt.Errorf("make the result directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, RecordFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make the record: %w", err)
	}
	if err := syncDir(dir); err != nil {
		f.Close()
		return nil, err
	}
	return &Writer{f: f}, nil
}

// Append writes the lines with one write and syncs them.
func (w *Writer) Append(lines ...Line) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("encode a line of the record: %w", err)
		}
	}
	if _, err := w.f.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
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

// WriteFile replaces a file of the result directory whole, like WriteJSON.
func WriteFile(dir, name string, b []byte) error { return writeWhole(filepath.Join(dir, name), b) }

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
	Lines    []Line
	// Torn says that the last line was cut off, as a kill leaves it.
	Torn bool
}

// ErrNoRecord means that a directory holds no result of tare.
var ErrNoRecord = errors.New("not a result directory of tare")

// Read reads a result directory. A torn last line is left out and reported in
// Torn; damage anywhere else is an error that names the line.
func Read(dir string) (*Result, error) {
	r := &Result{Dir: dir}
	if err := readJSON(filepath.Join(dir, PlanFile), &r.Plan); err != nil {
		return nil, err
	}
	if r.Plan.Schema != PlanSchema {
		return nil, fmt.Errorf("%s: schema %q, want %q", filepath.Join(dir, PlanFile), r.Plan.Schema, PlanSchema)
	}
	if err := readJSON(filepath.Join(dir, ManifestFile), &r.Manifest); err != nil && !errors.Is(err, ErrNoRecord) {
		return nil, err
	}
	path := filepath.Join(dir, RecordFile)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w (no %s)", dir, ErrNoRecord, RecordFile)
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := r.lines(f, path); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Result) lines(in io.Reader, path string) error {
	br := bufio.NewReaderSize(in, 1<<20)
	for n := 1; ; n++ {
		b, err := br.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			r.Torn = len(bytes.TrimSpace(b)) > 0
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		var l Line
		if err := json.Unmarshal(b, &l); err != nil {
			if _, more := br.Peek(1); errors.Is(more, io.EOF) {
				r.Torn = true
				return nil
			}
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if l.Run != nil && l.Run.Schema != RecordSchema {
			return fmt.Errorf("%s:%d: schema %q, want %q", path, n, l.Run.Schema, RecordSchema)
		}
		r.Lines = append(r.Lines, l)
	}
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w (no %s)", filepath.Dir(path), ErrNoRecord, filepath.Base(path))
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
