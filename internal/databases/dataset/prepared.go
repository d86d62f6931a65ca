package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// preparedFile is where Prepared is in the directory.
const preparedFile = "tare-prepared.json"

// Prepared is what a task that prepares a data set leaves in the directory
// that it was given, when the data set is in a store and not in there.
type Prepared struct {
	Dir     string  `json:"dir"`
	Key     string  `json:"key"`
	Cached  bool    `json:"cached"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"` // that building it took
	// Versions of what was used, by name.
	Versions map[string]string `json:"versions"`
	// Program is the server's, as it was found when the data set was asked for; empty:
	// there is none. Instead is that of Set.
	Program string `json:"program,omitempty"`
	Instead string `json:"instead,omitempty"`
}

// Write leaves it in a directory.
func (p Prepared) Write(dir string) error {
	b, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, preparedFile), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("say where the data set is: %w", err)
	}
	return nil
}

// Resolve finds the data set that a task prepared for a directory: in a store,
// or in the directory itself, whose Prepared then only has Dir.
func Resolve(dir string) (Prepared, error) {
	b, err := os.ReadFile(filepath.Join(dir, preparedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Prepared{Dir: dir}, nil
	}
	var p Prepared
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && !filepath.IsAbs(p.Dir) {
		err = fmt.Errorf("directory %q", p.Dir)
	}
	if err != nil {
		return Prepared{}, fmt.Errorf("find out where the data set is: %w", err)
	}
	return p, nil
}
