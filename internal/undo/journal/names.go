package journal

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/linux/cgroup"
)

// Prefix is the beginning of the name of everything that tare may remove.
const Prefix = cgroup.Prefix

// OfRun says whether a name belongs to a run: it is tare-RUN or begins with tare-RUN-. The id
// of a run has no dash.
func OfRun(name, run string) bool {
	return name == Prefix+run || strings.HasPrefix(name, Prefix+run+"-")
}

// InRun says whether an element of a path belongs to a run.
func InRun(path, run string) bool {
	return Plain(path) && slices.ContainsFunc(strings.Split(path, "/"), func(e string) bool { return OfRun(e, run) })
}

// Plain says whether a path is absolute and clean: it has no element . or .., no double slash and no slash
// at its end.
func Plain(path string) bool { return filepath.IsAbs(path) && path == filepath.Clean(path) }

// PartOf says whether an id belongs to an arm of a run and can be a file name.
func PartOf(id, run string) bool {
	return strings.HasPrefix(id, Prefix+run+"-") && !strings.Contains(id, "/")
}

// Own is the result of a Check: nil if the step is the run's own, else an error that names what
// the step would change.
func Own(own bool, what string) error {
	if own {
		return nil
	}
	return errors.New(what)
}
