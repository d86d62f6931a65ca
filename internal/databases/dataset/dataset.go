// Package dataset keeps prepared data sets: directories under a key of what
// they were made from, in the user's cache. A data set is built in a directory
// with another name, taken back from whoever was given parts of it meanwhile,
// sealed by a marker that lists every file, and renamed; so an interrupted one is
// never used, and one that was touched afterwards, or in which another user could
// put something, is found out. The package knows directories and nothing of what is
// in them.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarelab/tare/internal/undo/trust"
)

// MarkerFile is the seal of a data set. It is copied along with the data, so a
// directory that has it was made by tare.
const MarkerFile = "tare-data.json"

const markerSchema = "tare/data/v1"

// About is what a data set was made from. Two with the same About are the
// same data set.
type About struct {
	// Kind of server or load, Version of it.
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Layout grows when the same parameters would give another data set.
	Layout int               `json:"layout"`
	Params map[string]string `json:"params"`
}

// Key is the name of the data set in the cache: readable at the front, unique
// at the end.
func (a About) Key() string {
	b, err := json.Marshal(a) // maps are written in the order of their keys
	if err != nil {
		panic(err) // strings and numbers
	}
	sum := sha256.Sum256(b)
	return plain(a.Kind) + "-" + plain(a.Version) + "-" + hex.EncodeToString(sum[:6])
}

// plain is the part of a text that is fit for a file name.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '_'
	}, strings.ToLower(s))
	return strings.Trim(s[:min(len(s), 24)], "._")
}

// Marker seals a data set.
type Marker struct {
	Schema string `json:"schema"`
	Key    string `json:"key"`
	About  About  `json:"about"`
	// Notes are what the builder wants to know again: paths of programs.
	Notes   map[string]string `json:"notes,omitempty"`
	Created time.Time         `json:"created"`
	Seconds float64           `json:"seconds"` // that building took
	Bytes   int64             `json:"bytes"`   // of all files
	Files   []File            `json:"files"`
	// Finished is written last.
	Finished bool `json:"finished"`
}

// File is one file of a data set.
type File struct {
	Path     string    `json:"path"` // relative
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// Set is a data set in a store.
type Set struct {
	Dir string
	Marker
	// Instead says why the one that was there is not used; empty: there was none, or
	// this is it.
	Instead string
}

// Errors that callers tell apart.
var (
	ErrNone = errors.New("not a data set of tare")
	// ErrDamaged is wrapped with what is wrong.
	ErrDamaged = errors.New("damaged data set")
)

// mostMarker is how large a marker may be, in bytes: enough for millions of files.
const mostMarker = 1 << 30

// Read reads the marker of a data set or of a copy of one. Others may have written in a
// copy: nothing is executed for what stands there.
func Read(dir string) (Marker, error) {
	b, err := trust.Read(filepath.Join(dir, MarkerFile), mostMarker)
	if errors.Is(err, os.ErrNotExist) {
		return Marker{}, fmt.Errorf("%s: %w (no %s)", dir, ErrNone, MarkerFile)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("read a data set: %w", err)
	}
	var m Marker
	if err := json.Unmarshal(b, &m); err != nil {
		return Marker{}, fmt.Errorf("%s: %w: %s: %w", dir, ErrDamaged, MarkerFile, err)
	}
	if m.Schema != markerSchema || !m.Finished {
		return Marker{}, fmt.Errorf("%s: %w: schema %q, finished: %v", dir, ErrDamaged, m.Schema, m.Finished)
	}
	return m, nil
}

// Store is a directory of data sets.
type Store struct{ Dir string }

// Default is the store of this user: tare/data in $XDG_CACHE_HOME, else in /var/cache
// for root, whose HOME may be another user's (sudo -E), and in ~/.cache for others.
func Default() (Store, error) { return storeOf(os.Geteuid()) }

func storeOf(user int) (Store, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return Store{filepath.Join(dir, "tare", "data")}, nil
	}
	if user == 0 {
		return Store{"/var/cache/tare/data"}, nil
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) && home != "/" {
		return Store{filepath.Join(home, ".cache", "tare", "data")}, nil
	}
	return Store{}, errors.New("no place for data sets: set HOME or XDG_CACHE_HOME")
}
