package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/host/facts"
	"github.com/tarelab/tare/internal/linux/again"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/record"
)

// Bounds of measuring fdatasync.
const (
	syncs    = 64
	syncTime = 150 * time.Millisecond
	// tooFast is less than any device needs for a write and a flush: memory answers, or the
	// cache of a hypervisor or controller.
	tooFast = 8 * time.Microsecond
)

// durable measures a write and a sync in the scratch directory. Where syncs take no time, a load
// does not show the cost of a volume.
func durable(f proc.FS, scratch string) facts.Support {
	took, err := syncLatency(scratch)
	if err != nil {
		return facts.Support{Answer: facts.Unknown, Reason: record.InProse(err.Error()), Remedy: record.Say("scratch_in_question")}
	}
	where, bad := volume(f, scratch)
	found := record.Say("sync_took", "where", where, "time", round(took).Seconds())
	switch {
	case !bad.IsZero():
		return facts.Unsupported(record.Say("sync_not_kept", "found", found, "why", bad), record.Say("scratch_in_question"))
	case took < tooFast:
		return facts.Support{Answer: facts.Unknown, Reason: record.Say("cache_answers", "found", found), Remedy: record.Say("device_unknown")}
	}
	return yes(found)
}

// syncLatency is the median time of overwriting 4 KiB and syncing them.
func syncLatency(dir string) (median time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".tare-doctor-*")
	if err != nil {
		return 0, fmt.Errorf("write to the scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil { // at once, so that a kill leaves no file
		return 0, err
	}
	page := make([]byte, 4096)
	var all []time.Duration
	for begin := time.Now(); len(all) <= syncs && (time.Since(begin) < syncTime || len(all) < 2); {
		start := time.Now()
		_, err := file.WriteAt(page, 0)
		if err = errors.Join(err, again.Do(func() error { return unix.Fdatasync(int(file.Fd())) })); err != nil {
			return 0, fmt.Errorf("sync a file of the scratch directory %s: %w", dir, err)
		}
		all = append(all, time.Since(start))
	}
	all = all[1:] // the first one allocates the file
	slices.Sort(all)
	return all[len(all)/2], nil
}

func round(d time.Duration) time.Duration {
	for unit := time.Nanosecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// volume names the file system and the device below a directory. bad is the reason why it does
// not keep synced data; nothing without one.
func volume(f proc.FS, dir string) (where, bad record.Said) {
	path, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	mounts, err2 := f.Mounts()
	if err != nil || err2 != nil {
		return record.InProse(dir), record.Said{}
	}
	m := proc.MountOf(mounts, path)
	if m == nil {
		return record.InProse(dir), record.Said{}
	}
	where = record.Say("file_system_on", "type", m.Type, "source", m.Source)
	device := fmt.Sprintf("sys/dev/block/%d:%d/", m.Major, m.Minor)
	for _, at := range []string{"queue", "../queue"} { // of a disk, of a partition's disk
		link, err := filepath.EvalSymlinks(f.Path(device))
		if err != nil {
			break
		}
		if b, err := os.ReadFile(filepath.Join(link, at, "write_cache")); err == nil {
			where = record.Say("file_system_cached", "type", m.Type, "source", m.Source, "cache", strings.TrimSpace(string(b)))
			break
		}
	}
	return where, forgets(m)
}

// forgets is the reason why a file system does not keep synced data; nothing without one.
func forgets(m *proc.Mount) record.Said {
	options := strings.Split(m.Options+","+m.Super, ",")
	switch {
	case m.Type == "tmpfs" || m.Type == "ramfs":
		return record.Say("sync_in_memory")
	case m.Type == "overlay" && slices.Contains(options, "volatile"):
		return record.Say("overlay_volatile")
	case slices.Contains(options, "nobarrier") || slices.Contains(options, "barrier=0"):
		return record.Say("no_barriers")
	}
	return record.Said{}
}
