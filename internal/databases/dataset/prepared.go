package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// preparedFile is the name of the file with Prepared.
const preparedFile = "tare-prepared.json"

// Prepared is where a data set is. A task that prepares one in a store writes it into the directory
// that the data set was asked for.
type Prepared struct {
	Dir     string  `json:"dir"`
	Key     string  `json:"key"`
	Cached  bool    `json:"cached"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"` // duration of building
	// Versions are the versions of server and tool, by name.
	Versions map[string]string `json:"versions"`
	// Program is the path of the server program that was found; empty if there is none. Instead is
	// Set.Instead.
	Program string `json:"program,omitempty"`
	Instead string `json:"instead,omitempty"`
}

// Write writes p into a directory.
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

// Resolve finds the data set that a task prepared for a directory: in a store, or in the directory
// itself; then the result has Dir alone.
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
