package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarelab/tare/internal/undo/trust"
	"github.com/tarelab/tare/record"
)

// mostKept bounds the size in bytes of what is kept of a load.
const mostKept = 1 << 20

// keptName is the name of the file, beside the data sets, with what runs on data sets of these took and showed. It stays
// when a data set is removed.
func keptName(a About) string { return "." + a.Key() + ".seen.json" }

// Kept reads into v what Keep wrote. Where nothing is kept v stays as it is.
func (s Store) Kept(a About, v any) error {
	path := filepath.Join(s.Dir, keptName(a))
	b, err := trust.Read(path, mostKept)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = trust.Entry(path)
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("read what earlier runs took: %w", err)
	}
	return nil
}

// Keep keeps v for the plans of later runs.
func (s Store) Keep(a About, v any) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("keep what this run took: %w", err)
	}
	return record.WriteJSON(s.Dir, keptName(a), v)
}

// Has says whether a data set is in the store. It does not look whether its files are unchanged.
func (s Store) Has(key string) bool {
	_, err := os.Stat(filepath.Join(s.Dir, key, MarkerFile))
	return err == nil
}
