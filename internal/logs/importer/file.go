package importer

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/logs/csv"
	"github.com/tarelab/tare/internal/logs/format"
	"github.com/tarelab/tare/internal/logs/observed"
	"github.com/tarelab/tare/record"
)

// file reads one file of an arm.
func (r *Result) file(arm ArmFiles, path string, o Options) ([]*observed.Run, error) {
	in, size, err := open(path, o.In)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, head, err := known.Open(in)
	if err != nil {
		return nil, err
	}
	found := format.Found{Kind: o.Kind}
	if o.Kind == format.Unknown {
		found = known.Detect(path, head)
	}
	kind := kindOf(found.Kind)
	if kind == nil {
		if t := known.Unread(head); t != nil && found.Tool == nil {
			found.Tool = t
		}
		return nil, unknown(head, found)
	}
	read := kind.Read
	if kind.Name == csv.Kind && o.Columns != nil {
		read = o.Columns.Import
	}
	all, warnings, broken := read(path, text)
	runs, err := withFigures(all, warnings, broken)
	if o.Kind == format.Unknown && noTable(found, err) {
		found.Why = perhapsTable(err)
		return nil, unknown(head, found)
	}
	if err != nil {
		if t := known.Unread(head); t != nil && o.Kind == format.Unknown && len(all) == 0 {
			return nil, unknown(head, format.Found{Tool: t, Why: found.Why})
		}
		return nil, err
	}
	for _, w := range append(warnings, brokenOff(broken)...) {
		r.warn(arm.Name, path, w)
	}
	r.Imported.Files = append(r.Imported.Files, record.ImportedFile{
		Arm: arm.Name, Path: path, Kind: string(found.Kind), Era: found.Era, Bytes: size})
	for _, x := range runs {
		if x.Arm = strings.TrimSpace(x.Arm); x.Arm == "" {
			x.Arm = arm.Name
		}
		if x.File = path; kind.Whole != nil {
			x.Whole = kind.Whole(path, arm.Files)
		}
	}
	r.tellApart(arm.Name, path, runs, text.Asides)
	return runs, nil
}

// noTable reports that a first line only looked like the heading of a table: no row fits it.
func noTable(f format.Found, err error) bool {
	var e *format.Error
	return f.Kind == csv.Kind && f.Confidence == format.Guess && errors.As(err, &e) && e.Line > 1 && e.Line < 10
}

// unknown is the error about a file without a reader.
func unknown(head []byte, f format.Found) error {
	if len(bytes.TrimSpace(head)) == 0 {
		return &usageError{&format.Error{Text: emptyFile, Remedy: checkWritten}}
	}
	if f.Tool != nil && f.Tool.Kind == format.Unknown {
		return &format.Error{Text: notRead(f.Tool.Name, f.Why), Remedy: writeTable}
	}
	return &format.Error{Line: 1, Text: unknownFormat(f.Why), Remedy: areRead(known.Names())}
}

// withFigures returns the runs that have figures. If there are none it returns err, or an error with the
// first warning.
func withFigures(runs []*observed.Run, warnings []format.Warning, err error) ([]*observed.Run, error) {
	var out []*observed.Run
	for _, r := range runs {
		if r.Known() {
			out = append(out, r)
		}
	}
	var damaged *format.Error
	if err != nil && !(errors.As(err, &damaged) && damaged.Cut && len(out) > 0) {
		return nil, err
	}
	if len(out) == 0 {
		e := &format.Error{Text: noFigure, Remedy: checkEnded}
		if len(warnings) > 0 {
			e.Text = noFigureAs(warnings[0].String())
		}
		return nil, e
	}
	return out, nil
}

// brokenOff is the warning about input that ended too early.
func brokenOff(err error) []format.Warning {
	var damaged *format.Error
	if !errors.As(err, &damaged) {
		return nil
	}
	return []format.Warning{{Line: damaged.Line, Text: record.InProse(damaged.Text), Remedy: record.InProse(damaged.Remedy)}}
}

func (r *Result) warn(arm, path string, w format.Warning) {
	if r.warned == nil {
		r.warned = map[format.Warning]*warned{}
	}
	key := format.Warning{Text: w.Text, Remedy: w.Remedy}
	said := r.warned[key]
	if said == nil { // once says it for all files
		said = &warned{at: len(r.Warnings)}
		r.warned[key], r.Warnings = said, append(r.Warnings, record.Warning{Arm: arm, Remedy: w.Remedy})
	}
	if slices.Contains(said.files, path) {
		return
	}
	said.files = append(said.files, path)
	switch text := &r.Warnings[said.at].Text; {
	case len(said.files) > 1:
		*text, r.Warnings[said.at].Arm = inFiles(said.files[0], len(said.files)-1, w.Text), ""
	case w.Line > 0:
		*text = inLine(path, w.Line, w.Text)
	default:
		*text = inFile(path, w.Text)
	}
}

// warned is a warning and the files that it is about.
type warned struct {
	at    int // in Result.Warnings
	files []string
}

// open opens a file, or standard input for "-", and returns its size. It refuses a directory, and a FIFO
// that no process writes into.
func open(path string, in io.Reader) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(in), 0, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, &usageError{remedied(err)}
	}
	if info.IsDir() {
		return nil, 0, &usageError{&format.Error{Text: isDirectory, Remedy: nameFiles}}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // else opening a FIFO blocks until it has a writer
	if err != nil {
		return nil, 0, &usageError{remedied(err)}
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return f, info.Size(), nil
	}
	first, err := waitForWriter(f)
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first), f), f}, 0, nil
}

// writerTimeout is how long a FIFO may be without a writer.
const writerTimeout = 3 * time.Second

// waitForWriter waits until a FIFO has data or had a writer. It returns the byte that it may have to
// read to find out.
func waitForWriter(f *os.File) (first []byte, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(writerTimeout)
	ready := 0
	control := raw.Control(func(fd uintptr) {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			ready, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(0, time.Until(until)).Milliseconds()))
		}
		if ready == 0 && err == nil { // reading returns 0 bytes if there never was a writer
			b := make([]byte, 1)
			n, readErr := unix.Read(int(fd), b)
			if first = b[:max(n, 0)]; n == 0 && readErr == nil {
				err = &usageError{&format.Error{Text: idleFIFO, Remedy: startWriter}}
			}
		}
	})
	return first, errors.Join(control, err)
}

// remedied adds a remedy to an error about a file, and removes the name of the file.
func remedied(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hint.New(err, "check the name and the directory")
	case errors.Is(err, fs.ErrPermission):
		return hint.New(err, "make it readable (chmod +r), or ask whom it belongs to")
	case errors.Is(err, syscall.ELOOP):
		return hint.New(err, "the links lead round in a circle: name the file itself")
	}
	return hint.New(err, "check the file: can cat read it?")
}
