package volume

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/hint"
	"github.com/tarelab/tare/internal/linux/proc"
)

// slack is what is asked for beyond the need: logs that grow, metadata.
const slack = 1.2

// size is how large a volume of its own is made for need bytes of data.
func (v Volume) size(need int64) int64 {
	const page = 1 << 20
	n := int64(float64(need) * slack)
	if f, ok := systemOf(v.system); ok && v.Kind() == Loop {
		// What the file system takes for itself: least, and a part of the rest
		// (inode tables, checksums, two copies of metadata).
		n += f.least + n/10
	} else {
		n += 64 << 20
	}
	return (n + page - 1) / page * page
}

// Enough says whether there is room for arms volumes of need bytes of data
// each, before anything is written. scratch is the directory for data.
func (v Volume) Enough(scratch string, need int64, arms int) error {
	each := int64(float64(need) * slack)
	dir := scratch
	switch v.Kind() {
	case Dir:
		dir = v.path
	case Loop:
		each = v.size(need)
	case Tmpfs:
		return enoughMemory(each * int64(arms))
	case RBD:
		return nil
	}
	free, err := Free(dir)
	if err != nil {
		return err
	}
	if want := each * int64(arms); want > free {
		return hint.New(fmt.Errorf("%d arms need %d MiB on %s (%d MiB of data each, and a fifth more), %d MiB are free: %w",
			arms, want>>20, dir, need>>20, free>>20, unix.ENOSPC),
			"make room, make the data smaller, leave arms out with --arms, or name another directory with --scratch")
	}
	return nil
}

// Free is how many bytes this user may write on the file system of dir, or of
// the nearest directory above that there is.
func Free(dir string) (int64, error) {
	for errors.Is(unix.Access(dir, unix.F_OK), unix.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("find the free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil // root's reserve is for other emergencies
}

// enoughMemory keeps a tenth of the memory out of reach.
func enoughMemory(want int64) error {
	m, err := proc.FS("/").Amounts("proc/meminfo", "MemAvailable", "MemTotal")
	if err != nil {
		return fmt.Errorf("find the free memory: %w", err)
	}
	if have := m[0] - m[1]/10; !(float64(want) <= have) {
		return hint.New(fmt.Errorf("the volumes in memory need %d MiB, %.0f MiB can be had: %w", want>>20, have/(1<<20), unix.ENOMEM),
			"make the data smaller, or leave arms out with --arms")
	}
	return nil
}
