// Package durability finds out what becomes of what a load commits: by counted
// writes and syncs on its volume, and by the settings that its server said it
// has. Arms that promise different things are not compared by accident: one that
// does not wait for the disk is not faster, it does less. The package knows files
// and block devices and nothing of loads.
package durability

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/storage"
)

// syncs is how many blocks are written, each followed by a sync, and block their
// size in bytes.
const (
	syncs = 64
	block = 4096
)

// limit bounds a trial on a volume that hangs.
const limit = 30 * time.Second

// Try writes to a file in dir, which is on a volume with these facts, and
// removes it.
func Try(ctx context.Context, dir string, f storage.Facts) (storage.Trial, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	type result struct {
		storage.Trial
		error
	}
	done := make(chan result, 1)
	go func() { // a sync cannot be interrupted
		t, err := try(dir, f.Devices)
		done <- result{t, err}
	}()
	select {
	case r := <-done:
		return r.Trial, r.error
	case <-ctx.Done():
		return storage.Trial{}, fmt.Errorf("%d syncs in %s were not over after %v", syncs, dir, limit)
	}
}

func try(dir string, devices []storage.Device) (t storage.Trial, err error) {
	file, err := os.CreateTemp(dir, ".tare-sync-*")
	if err != nil {
		return t, fmt.Errorf("try a sync: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	before := counts(devices)
	took := make([]float64, syncs)
	data := make([]byte, block)
	for i := range took {
		data[0] = byte(i)
		began := time.Now()
		if _, err := file.WriteAt(data, int64(i)*block); err != nil {
			return t, fmt.Errorf("try a sync: %w", err)
		}
		if err := again.Do(func() error { return unix.Fdatasync(int(file.Fd())) }); err != nil {
			return t, fmt.Errorf("try a sync of %s: %w", file.Name(), err)
		}
		took[i] = time.Since(began).Seconds()
	}
	after := counts(devices)
	for i := range after {
		after[i].Writes -= before[i].Writes
		after[i].Flushes -= before[i].Flushes
	}
	slices.Sort(took)
	return storage.Trial{Syncs: syncs, Median: took[len(took)/2], Devices: after}, nil
}

// counts reads what the devices have done so far.
func counts(devices []storage.Device) []storage.Count {
	out := make([]storage.Count, len(devices))
	for i, d := range devices {
		out[i] = storage.Count{Device: d.Name, Writes: math.NaN(), Flushes: math.NaN()}
		text, err := os.ReadFile(filepath.Join(d.Dir, "stat"))
		if err != nil {
			continue
		}
		if s, err := proc.DiskStat(text); err == nil {
			out[i].Writes, out[i].Flushes = s.Writes, s.Flushes
		}
	}
	return out
}
