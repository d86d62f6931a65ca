// Package durability finds out what survives a commit of the load: it counts writes and flushes
// of syncs on the load's volume, and compares the settings that the server reported. An arm
// that does not wait for the disk does less and is not faster, so arms with different
// durability must not be compared unnoticed. The package knows files and block devices, and no
// loads.
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

// syncs is the number of blocks that a trial writes, each followed by a sync; block is their
// size in bytes.
const (
	syncs = 64
	block = 4096
)

// limit is the longest time of a trial, for a volume that hangs.
const limit = 30 * time.Second

// Try writes and syncs a file in dir, which is on a volume with the facts f, and removes it.
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

// counts reads the devices' counters.
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
