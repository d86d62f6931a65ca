package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/sched"
	"github.com/tarelab/tare/record"
)

// source is one file and the numbers that are read from it.
type source struct {
	// paths are tried in order: other versions have other names. Empty: there is no such
	// file here.
	paths []string
	// why is the reason where there is no file, or where a file that was read has no number.
	why record.Said
	// names are the names of the numbers in reasons.
	names []string
	// parse fills in one number per name; NaN: the text has no such number.
	parse func(text []byte, dst []float64) error
}

// absent is a source without a file.
func absent(why record.Said, names ...string) source { return source{why: why, names: names} }

// inGroup is a source in a group's directory in a controller's hierarchy.
func inGroup(g cgroup.Group, controller string, files []string, parse func([]byte, []float64) error, names ...string) source {
	dir, why := groupDir(g, controller)
	s := source{why: why, names: names, parse: parse}
	for _, f := range files {
		if dir != "" {
			s.paths = append(s.paths, filepath.Join(dir, f))
		}
	}
	return s
}

// groupDir is the directory of the arm's group in a controller's hierarchy, or the reason why
// there is none.
func groupDir(g cgroup.Group, controller string) (dir string, why record.Said) {
	dir, err := g.Dir(controller)
	switch {
	case err == nil:
		return dir, record.Said{}
	case len(g.Dirs) == 0:
		return "", noGroup
	case controller == cgroup.Unified:
		return "", noGroupOfV2
	}
	return "", record.Say("no_group_of", "controller", controller)
}

// keyed parses a file of keys and numbers; scale converts to base units.
func keyed(scale float64, keys ...string) func([]byte, []float64) error {
	return func(text []byte, dst []float64) error {
		proc.Keyed(text, keys, dst)
		for i := range dst {
			dst[i] *= scale
		}
		return nil
	}
}

// single parses a file of one number; scale converts to base units.
func single(scale float64) func([]byte, []float64) error {
	return func(text []byte, dst []float64) error {
		proc.Numbers(text, dst)
		dst[0] *= scale
		return nil
	}
}

// files are open sources: the Reader of most probes.
type files []*part

type part struct {
	source
	file *proc.File // nil: it cannot be read, or no longer
	bad  error      // why file is nil, or what was wrong with the last text
}

// openFiles opens sources. It fails when it cannot open any of them.
func openFiles(sources ...source) (files, error) {
	var fs files
	var whys []record.Said
	for _, s := range sources {
		p := &part{source: s}
		p.open()
		if p.file == nil && p.parse != nil && !slices.Contains(whys, p.reason()) {
			whys = append(whys, p.reason())
		}
		fs = append(fs, p)
	}
	for _, p := range fs {
		if p.file != nil {
			return fs, nil
		}
	}
	if len(whys) == 1 {
		return nil, unread{whys[0]}
	}
	return nil, unread{record.Say("reasons", "reasons", whys)}
}

func (p *part) open() {
	for _, path := range p.paths {
		f, err := proc.Open(path)
		if err == nil {
			p.file, p.bad = f, nil
			return
		}
		if p.bad == nil || !errors.Is(err, fs.ErrNotExist) {
			p.bad = err
		}
	}
}

// reason is why the numbers are missing; nothing: the file was read.
func (p *part) reason() record.Said {
	var pe *fs.PathError
	switch {
	case p.bad == nil:
		return p.why
	case p.file != nil && !errors.As(p.bad, &pe):
		return fileError(filepath.Base(p.file.Path()), p.bad)
	}
	return explain(p.bad)
}

// explain puts an error about a file of /proc, /sys or a control group into words.
func explain(err error) record.Said {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return whyOf(err)
	}
	dir, name := filepath.Base(filepath.Dir(pe.Path)), filepath.Base(pe.Path)
	_, ofProcess := proc.Uint([]byte(dir))
	switch {
	case errors.Is(err, unix.EOPNOTSUPP) && strings.HasSuffix(name, ".pressure"):
		return record.Say("pressure_off")
	case errors.Is(err, fs.ErrNotExist) && ofProcess:
		return record.Say("no_file_of_process", "pid", dir, "file", name)
	case errors.Is(err, fs.ErrNotExist) && slices.Contains([]string{"proc", "self", "net"}, dir):
		return record.Say("no_kernel_file", "file", dir+"/"+name)
	case errors.Is(err, fs.ErrNotExist):
		return record.Say("no_kernel_file", "file", name)
	case errors.Is(err, unix.ENODEV):
		return record.Say("group_gone", "file", name)
	case errors.Is(err, unix.ESRCH):
		return record.Say("process_ended", "file", name)
	}
	return record.InProse(fmt.Sprintf("%s %s: %v", pe.Op, name, pe.Err))
}

// Read reads every file once.
func (f files) Read(dst []float64) []float64 {
	for _, p := range f {
		from := len(dst)
		dst = appendMissing(dst, len(p.names))
		p.read(dst[from:])
	}
	return dst
}

// read fills dst in. After a failed read the file is closed for good: its group or process
// is gone.
func (p *part) read(dst []float64) {
	if p.file == nil {
		return
	}
	text, err := p.file.Read()
	if err != nil {
		p.bad = errors.Join(err, p.file.Close())
		p.file = nil
		return
	}
	if err := p.parse(text, dst); err != nil {
		for i := range dst {
			dst[i] = math.NaN()
		}
		p.bad = err
	}
}

// edgeBuffer is the size in bytes of the buffer for a file that is read at an edge; such a
// file is shorter.
const edgeBuffer = 1024

func (f files) atEdge(to []sched.Reading) []sched.Reading {
	to = slices.Grow(to, len(f))[:len(f)]
	for i, p := range f {
		if to[i].Text == nil {
			to[i].Text = make([]byte, edgeBuffer)
		}
		to[i].FD = -1
		if p.file != nil {
			to[i].FD = p.file.FD()
		}
	}
	return to
}

func (f files) moveTo(_ sched.Edge, numbers []float64, got []sched.Reading) {
	for i, p := range f {
		own := numbers[:len(p.names)]
		numbers = numbers[len(p.names):]
		n := got[i].Got
		switch {
		case p.file == nil: // closed: it has a reason
		case n < 0:
			p.bad = &fs.PathError{Op: "read", Path: p.file.Path(), Err: unix.Errno(-n)}
		case n == edgeBuffer:
			p.bad = errors.New("longer than it can be")
		default:
			if p.bad = p.parse(got[i].Text[:n], own); p.bad == nil {
				continue
			}
		}
		appendMissing(own[:0], len(own))
	}
}

// Reason is why number i is missing.
func (f files) Reason(i int) record.Said {
	for _, p := range f {
		if i >= len(p.names) {
			i -= len(p.names)
			continue
		}
		if why := p.reason(); !why.IsZero() {
			return why
		}
		return record.Say("lacks_number", "file", filepath.Base(p.file.Path()), "number", p.names[i])
	}
	return record.Said{}
}

// Close closes the files.
func (f files) Close() error {
	var errs []error
	for _, p := range f {
		if p.file != nil {
			errs = append(errs, p.file.Close())
			p.file = nil
		}
	}
	return errors.Join(errs...)
}
