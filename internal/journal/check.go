package journal

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarelab/tare/internal/engine"
	"github.com/tarelab/tare/internal/linux/cgroup"
	"github.com/tarelab/tare/internal/trust"
)

// Prefix is what the names of everything begin with that may be removed.
const Prefix = cgroup.Prefix

// ofRun says whether a name is one of a run: tare-<run>, or begins with tare-<run>-. No id of a
// run has a dash.
func ofRun(name, run string) bool {
	return name == Prefix+run || strings.HasPrefix(name, Prefix+run+"-")
}

// inRun says whether a path leads through something that has a name of a run.
func inRun(path, run string) bool {
	return plain(path) && slices.ContainsFunc(strings.Split(path, "/"), func(e string) bool { return ofRun(e, run) })
}

// plain says whether a path is absolute and says what it means: no dots, no slash at its end.
func plain(path string) bool { return filepath.IsAbs(path) && path == filepath.Clean(path) }

// partOf says whether an id is that of something of an arm of a run, and a file name.
func partOf(id, run string) bool {
	return strings.HasPrefix(id, Prefix+run+"-") && !strings.Contains(id, "/")
}

// runtimes are the programs whose containers are deleted.
var runtimes = []string{"runc", "crun"}

// runnable says why a program that a step names is not run: it is not the one that is found
// now, and others could have put it there.
func runnable(path string) error {
	if found, err := exec.LookPath(filepath.Base(path)); err == nil && found == path {
		return nil
	}
	return trust.Dir(path)
}

const byHand = "by hand, with a program that nobody else can have put there: "

// check refuses what could not be undone, or is not tare's to undo. It holds
// when a step is written and again when it is read.
func (s Step) check(run string) error {
	if s.Path != "" && !filepath.IsAbs(s.Path) {
		return fmt.Errorf("%s step: path %q is not absolute", s.Kind, s.Path)
	}
	ok, why := true, error(nil)
	switch base := filepath.Base(s.Path); s.Kind {
	case kindGroup:
		if ok = s.Plan != nil && len(s.Plan.Dirs) > 0; ok {
			why = s.Plan.Check(Prefix + run)
		}
	case kindMount:
		ok = inRun(s.Path, run)
	case kindDirectory, kindRuntime, kindClass:
		ok = plain(s.Path) && ofRun(base, run)
	case kindProcess:
		ok = s.Pid > 1 && s.Start > 0
	case kindContainer:
		ok = plain(s.Path) && slices.Contains(runtimes, base) && inRun(s.Root, run) && partOf(s.ID, run)
	case kindEngine:
		ok, why = partOf(s.ID, run), engine.Check(s.Value, s.Root)
	case kindImage, kindMapping:
		_, name, _ := strings.Cut(s.ID, "/")
		ok = s.Path != "" && !strings.Contains(name, "/") && strings.Contains(name, "-"+Prefix+run+"-")
	case kindShare, kindCeph:
		ok = inRun(s.Path, run) && partOf(s.ID, run) && s.Root != ""
	case kindNamespace:
		ok = s.checkNamespace(run)
	case kindPodImage:
		ok = s.checkImage(run)
	case kindPods:
		ok = strings.HasSuffix(s.ID, "/"+Prefix+run) && s.Root != ""
	default:
		return fmt.Errorf("step of unknown kind %q: written by a newer tare? clean up with that one", s.Kind)
	}
	switch {
	case why != nil:
		return fmt.Errorf("%s step of %s: not tare's own: %w", s.Kind, run, why)
	case !ok:
		return fmt.Errorf("%s step of %s: not tare's own: %s%s", s.Kind, run, s.Path, s.ID)
	}
	return nil
}
