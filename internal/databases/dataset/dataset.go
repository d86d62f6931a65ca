// Package dataset is the cache of prepared data sets: directories in the user's cache, named by a key
// of their parameters. A data set is built under another name, given back to tare's account, sealed
// by a marker that lists every file, and renamed. So an interrupted one is never used, and Verify
// notices files that changed afterwards or that another user could have written. The package knows
// directories and nothing of their content.
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

// MarkerFile is the name of the marker. Copies of a data set have it too, so tare made every directory
// that has it.
const MarkerFile = "tare-data.json"

const markerSchema = "tare/data/v1"

// About is everything on which a data set depends. Equal Abouts mean equal data sets.
type About struct {
	// Kind is the server or load, Version its version.
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Layout grows when the same parameters give another data set.
	Layout int               `json:"layout"`
	Params map[string]string `json:"params"`
}

// Key is the name of the data set in the cache: kind, version and a hash.
func (a About) Key() string {
	b, err := json.Marshal(a) // maps are sorted by key
	if err != nil {
		panic(err) // strings and numbers
	}
	sum := sha256.Sum256(b)
	return plain(a.Kind) + "-" + plain(a.Version) + "-" + hex.EncodeToString(sum[:6])
}

// plain makes a part of a file name of a text.
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
	// Notes are the builder's: paths of programs, the server's banner.
	Notes   map[string]string `json:"notes,omitempty"`
	Created time.Time         `json:"created"`
	Seconds float64           `json:"seconds"` // duration of building
	Bytes   int64             `json:"bytes"`   // sum of the files' sizes
	Files   []File            `json:"files"`
	// Finished is always true in a written marker.
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
	// Instead is why the data set that was in the store was not used; empty if it was used or there
	// was none.
	Instead string
}

// Errors of Read and Verify.
var (
	errNone = errors.New("not a data set of tare")
	// errDamaged is wrapped with the damage.
	errDamaged = errors.New("damaged data set")
)

// mostMarker bounds the size of a marker in bytes: enough for millions of files.
const mostMarker = 1 << 30

// Read reads the marker of a data set or of a copy. Other users may have written to a copy, so the
// caller must not execute a program that it names.
func Read(dir string) (Marker, error) {
	b, err := trust.Read(filepath.Join(dir, MarkerFile), mostMarker)
	if errors.Is(err, os.ErrNotExist) {
		return Marker{}, fmt.Errorf("%s: %w (no %s)", dir, errNone, MarkerFile)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("read a data set: %w", err)
	}
	var m Marker
	if err := json.Unmarshal(b, &m); err != nil {
		return Marker{}, fmt.Errorf("%s: %w: %s: %w", dir, errDamaged, MarkerFile, err)
	}
	if m.Schema != markerSchema || !m.Finished {
		return Marker{}, fmt.Errorf("%s: %w: schema %q, finished: %v", dir, errDamaged, m.Schema, m.Finished)
	}
	return m, nil
}

// Store is a directory of data sets.
type Store struct{ Dir string }

// Default is the store of this user: tare/data in $XDG_CACHE_HOME; without that in /var/cache for root,
// because HOME may be another user's (sudo -E), and in ~/.cache for others.
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
