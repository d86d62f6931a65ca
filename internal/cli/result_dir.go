package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// newDir is the value of -o. kong takes -o=DIR as the value =DIR; newDir removes the equals sign.
type newDir string

func (d *newDir) UnmarshalText(b []byte) error {
	*d = newDir(strings.TrimPrefix(string(b), "="))
	if *d == "" {
		return errors.New("the name of the directory is empty")
	}
	return nil
}

// resultDir returns the result directory, or an error unless it is missing or empty. Without a name it
// returns an unused name with the time in it.
func resultDir(name newDir, at time.Time) (string, error) {
	given := string(name)
	if given == "" {
		name := at.Format("tare-result-2006-01-02-150405")
		if err := cmp.Or(writable("result directory", ".", "-o"), outsideData("result directory", ".")); err != nil {
			return "", err
		}
		for n := 2; ; n++ { // another run began in the same second
			if _, err := os.Lstat(name); err != nil {
				return name, nil
			}
			name = fmt.Sprintf("%s-%d", at.Format("tare-result-2006-01-02-150405"), n)
		}
	}
	entries, err := os.ReadDir(given)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return given, cmp.Or(writable("result directory "+given, filepath.Dir(filepath.Clean(given)), "-o"), outsideData("result directory", given))
	case err == nil && len(entries) == 0:
		return given, cmp.Or(writable("result directory "+given, given, "-o"), outsideData("result directory", given))
	case errors.Is(err, syscall.ENOTDIR):
		return "", &usageError{fmt.Errorf("result directory %s: a file is in its place", given), "name another one with -o"}
	case err != nil:
		return "", &usageError{fmt.Errorf("result directory: %w", err), "name another one with -o"}
	}
	err = fmt.Errorf("result directory %s is not empty", given)
	remedy := "name another one with -o"
	if m, ok := manifestOf(given); ok {
		remedy += "; tare report " + given + " prints the result in it"
		if m.Imported == nil {
			remedy += ", tare run --continue " + given + " goes on with it"
		}
	}
	return "", &usageError{err, remedy}
}

// newID is the id of a run, which is part of the name of everything that the run makes.
func newID() string { return strings.ToLower(rand.Text()[:8]) }
