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
)

// Bounds of trying out fdatasync.
const (
	syncs    = 64
	syncTime = 150 * time.Millisecond
	// tooFast: no device answers a write and a flush in less. What does is
	// memory, or a hypervisor or controller that answers from its cache.
	tooFast = 8 * time.Microsecond
)

// durable writes and syncs in the scratch directory: a load whose commits cost
// nothing would not show what its volume costs.
func durable(f proc.FS, scratch string) facts.Support {
	const elsewhere = "name a scratch directory on the disk in question"
	took, err := syncLatency(scratch)
	if err != nil {
		return unknown(elsewhere, "%v", err)
	}
	where, bad := volume(f, scratch)
	found := fmt.Sprintf("%s, %s for a 4 KiB write and fdatasync", where, round(took))
	switch {
	case bad != "":
		return no(elsewhere, "%s: %s", found, bad)
	case took < tooFast:
		return unknown("whether the device keeps what it has acknowledged cannot be seen from here", "%s: a cache answers", found)
	}
	return yes("%s", found)
}

// syncLatency is the median of writing 4 KiB over themselves and syncing them.
func syncLatency(dir string) (median time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".tare-doctor-*")
	if err != nil {
		return 0, fmt.Errorf("write to the scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.Remove(file.Name()); err != nil { // a kill leaves none
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
	all = all[1:] // the first one made room for the file
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

// volume names the file system and the device below a directory, and says what
// is bad about it; "" when nothing is known to be.
func volume(f proc.FS, dir string) (where, bad string) {
	path, err := filepath.EvalSymlinks(dir)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	mounts, err2 := f.Mounts()
	if err != nil || err2 != nil {
		return dir, ""
	}
	m := proc.MountOf(mounts, path)
	if m == nil {
		return dir, ""
	}
	where = m.Type + " on " + m.Source
	device := fmt.Sprintf("sys/dev/block/%d:%d/", m.Major, m.Minor)
	for _, at := range []string{"queue", "../queue"} { // of a disk, of a partition's disk
		link, err := filepath.EvalSymlinks(f.Path(device))
		if err != nil {
			break
		}
		if b, err := os.ReadFile(filepath.Join(link, at, "write_cache")); err == nil {
			where += " (device cache: " + strings.TrimSpace(string(b)) + ")"
			break
		}
	}
	return where, forgets(m)
}

// forgets is why a file system does not keep what was synced.
func forgets(m *proc.Mount) string {
	options := strings.Split(m.Options+","+m.Super, ",")
	switch {
	case m.Type == "tmpfs" || m.Type == "ramfs":
		return "this is memory, a sync does nothing"
	case m.Type == "overlay" && slices.Contains(options, "volatile"):
		return "a volatile overlay does not sync"
	case slices.Contains(options, "nobarrier") || slices.Contains(options, "barrier=0"):
		return "mounted without barriers, a sync does not flush the device"
	}
	return ""
}
