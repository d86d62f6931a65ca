package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// resultGiven is the named result directory; without a name the newest one here.
func (c *console) resultGiven(name string) (string, error) {
	if name != "" {
		dir := resultOf(name)
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return "", &usageError{hint.New(noResult(name), "name a directory that tare run made (-o DIR)"), ""}
		}
		return dir, nil
	}
	newest := newestResult()
	if newest == "" {
		err := hint.New(errors.New("there is no result in this directory"), "tare run makes one; tare report DIR prints one that is elsewhere")
		return "", &usageError{err, ""}
	}
	c.note("result.newest", "dir", newest)
	return newest, nil
}

// newestResult is the newest result in this directory or below; "": there is none.
func newestResult() string {
	newest, at := "", time.Time{}
	for _, dir := range resultsIn(".") {
		if t := startOf(dir); newest == "" || t.After(at) {
			newest, at = dir, t
		}
	}
	return newest
}

// depth is how far below the directory results are looked for.
const depth = 2

// resultsIn finds result directories at or below a directory. The results of several nodes count as one.
func resultsIn(root string) []string {
	var out []string
	var look func(dir string, left int)
	look = func(dir string, left int) {
		if isRun(dir) || isNodes(dir) {
			out = append(out, dir)
			return
		}
		if left == 0 {
			return
		}
		below, _ := os.ReadDir(dir) // results in an unreadable directory cannot be shown
		for _, d := range below {
			if d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
				look(filepath.Join(dir, d.Name()), left-1)
			}
		}
	}
	look(root, depth)
	return out
}

// isRun says whether a directory has what every run writes first: its plan and its record.
func isRun(dir string) bool {
	for _, name := range []string{record.PlanFile, record.RecordFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// noResult is the error about a name that is not a result.
func noResult(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s", name)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is a file, and no result of tare", name)
	}
	return fmt.Errorf("%s is no result of tare", name)
}

// startOf is the start of a result's measurement, or if that cannot be read the directory's
// time of modification.
func startOf(dir string) time.Time {
	if m, ok := manifestOf(dir); ok && !m.Started.IsZero() {
		return m.Started
	}
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// manifestOf reads the manifest of a result directory.
func manifestOf(dir string) (m record.Manifest, ok bool) {
	m, err := record.ReadManifest(dir)
	return m, err == nil
}

// resultOf is the directory of a named file of a result, and any other name unchanged.
func resultOf(name string) string {
	files := []string{record.PageFile, record.RecordFile, record.PlanFile, record.ManifestFile, record.EffectsFile, record.TableFile, record.NodesFile, record.AdviceFile}
	if info, err := os.Stat(name); err == nil && !info.IsDir() && slices.Contains(files, filepath.Base(name)) {
		return filepath.Dir(name)
	}
	return name
}
