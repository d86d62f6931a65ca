package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/undo/trust"
)

// Given is a setting as the user's own server has it.
type Given struct {
	// Name is the name of the option or variable.
	Name string
	// Value is the value, without quotes; Valued is false for an option without one.
	Value  string
	Valued bool
	// From is the place: FILE:LINE, or the address of a server.
	From string
	// Own is true for a value that nobody has set: the server has it by itself.
	Own bool
}

// Conf is how a server's own option files are read, and what becomes of their settings.
type Conf struct {
	// Names are patterns of the files' base names.
	Names []string
	// Read reads a file with the files that it includes. A later setting of a name replaces an earlier
	// one. The files may have sections that only some flavours and versions read; the zero Version is
	// unknown.
	Read func(path string, v Version) ([]Given, error)
	// Value returns the value of one of tare's settings from a setting of the server; all are all settings
	// by name. "" is no value, Leave that of the server that will run.
	Value func(setting string, g Given, all map[string]Given) (string, error)
	// Omit has options that would disturb a measurement, with the reason.
	Omit map[string]string
	// Sizing are switches by which a server chooses other settings itself, unless these are set: tare sets them.
	// The value is what it chooses.
	Sizing map[string]string
	// Memory are the settings and options that hold memory of the whole server.
	Memory []string
	// Variables returns the settings of a running server that are not at their defaults, and those of Own.Names
	// wherever their values come from.
	Variables func(ask func(question string) ([][]string, error)) ([]Given, error)
}

// LineError is an error at a line of a file of the user's.
type LineError struct {
	Path string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Place is the place of a line for Given.From.
func Place(path string, line int) string { return fmt.Sprintf("%s:%d", path, line) }

// mostIncludes bounds the depth of files that include each other.
const mostIncludes = 10

// EachLine calls f with each line of a file of the user's and its number, from 1. depth is how many files include
// each other down to this one. An error of f gets the place of the line, unless it has that of an included file.
func EachLine(path string, depth int, f func(n int, line string) error) error {
	if depth > mostIncludes {
		return fmt.Errorf("more than %d files include each other", mostIncludes)
	}
	text, err := trust.ReadGiven(path)
	switch {
	case err != nil && depth > 0:
		return withoutPath(err)
	case err != nil:
		return err
	}
	for i, line := range strings.Split(string(text), "\n") {
		err := f(i+1, line)
		var at *LineError
		switch {
		case errors.As(err, &at):
			return err
		case err != nil:
			return &LineError{Path: path, Line: i + 1, Err: err}
		}
	}
	return nil
}

// withoutPath is the error about a file that a line of another one names: the line's place says which, and the line may have
// something else than a path.
func withoutPath(err error) error {
	for _, known := range []error{fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, known) {
			return fmt.Errorf("the file to include: %w", known)
		}
	}
	return errors.New("the file to include cannot be read")
}

// ErrQuote is the error of a line whose quote is not closed.
var ErrQuote = errors.New("the quote is not closed")

// IsName says whether a word can be the name of an option.
func IsName(s string) bool {
	return s != "" && len(s) <= 100 && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	}) < 0
}

// Included returns the files of a directory whose names match any of the patterns, in the order of their
// names.
func Included(dir string, patterns ...string) (paths []string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, withoutPath(err)
	}
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Beside returns the path of a file that another one names: relative to the directory of that one.
func Beside(path, named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(filepath.Dir(path), named)
}

// Reasons for Conf.Omit.
const (
	Pauses       = "the clock runs on while an arm is paused"
	LoadConnects = "the load decides how many connections there are"
	Copies       = "each arm starts with a copy of the data that was shut down cleanly"
	Unlike       = "not every arm could have it"
)
