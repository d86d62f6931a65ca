package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/record"
)

// file is the last calibration of this host, in the state directory.
const file = "calibration.json"

// Keep writes the calibration into the state directory, readable by this user alone, and
// replaces the one before.
func Keep(stateDir string, c *record.Calibration) error {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return fmt.Errorf("keep the calibration: %w", err)
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the calibration: %w", err)
	}
	f, err := os.CreateTemp(stateDir, file+".*") // of mode 0600
	if err != nil {
		return fmt.Errorf("keep the calibration: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(stateDir, file))
	}
	if err != nil {
		return fmt.Errorf("keep the calibration: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Last reads the last calibration of a host by this user; nil without one. A file that another
// user could have written is an error.
func Last(stateDir string, host record.Host) (*record.Calibration, error) {
	path := filepath.Join(stateDir, file)
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last calibration: %w", err)
	}
	defer f.Close()
	if err := own(f); err != nil {
		return nil, hint.New(fmt.Errorf("the last calibration, %s, does not count: %w", path, err), "remove it, and calibrate anew: tare calibrate")
	}
	var c record.Calibration
	if err := json.NewDecoder(f).Decode(&c); err != nil || c.Schema != record.CalibrationSchema {
		return nil, hint.New(fmt.Errorf("the last calibration, %s, cannot be read", path), "tare calibrate makes another")
	}
	if c.Host.Name != host.Name || c.Host.CPUModel != host.CPUModel || c.Host.CPUs != host.CPUs {
		return nil, nil // the directory came from another host
	}
	return &c, nil
}

// own checks that the file belongs to this user and that nobody else can write it.
func own(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case !ok || int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others can write it (mode %#o)", info.Mode().Perm())
	}
	return nil
}
