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

// Ask is what an arm wants: a volume with need bytes of data.
type Ask struct {
	Volume Volume
	Need   int64
}

// Enough says of each whether there is room for it beside the others, before
// anything is written; nil: there is. scratch is the directory for data. Those
// that share a file system, or memory, are short together.
func Enough(scratch string, asks []Ask) []error {
	out := make([]error, len(asks))
	places := map[uint64]*place{}
	for i, a := range asks {
		where, bytes := a.Volume.takes(scratch, a.Need)
		if bytes == 0 {
			continue
		}
		id, err := fileSystem(where)
		if err != nil {
			out[i] = err
			continue
		}
		p := places[id]
		if p == nil {
			p = &place{dir: where}
			places[id] = p
		}
		p.bytes += bytes
		p.asks = append(p.asks, i)
	}
	for _, p := range places {
		if err := p.enough(); err != nil {
			for _, i := range p.asks {
				out[i] = err
			}
		}
	}
	return out
}

// place is a file system with what is wanted of it; dir is empty for memory.
type place struct {
	dir   string
	bytes int64
	asks  []int
}

// takes is where a volume takes how many bytes from: a directory, or memory
// when it is empty.
func (v Volume) takes(scratch string, need int64) (dir string, bytes int64) {
	switch v.Kind() {
	case Dir:
		scratch = v.path
	case Loop:
		return scratch, v.size(need)
	case Tmpfs:
		scratch = ""
	case RBD:
		return "", 0
	}
	return scratch, int64(float64(need) * slack)
}

func (p *place) enough() error {
	if p.dir == "" {
		return enoughMemory(p.bytes)
	}
	free, err := Free(p.dir)
	if err != nil {
		return err
	}
	if p.bytes > free {
		return hint.New(fmt.Errorf("%d arms need %d MiB on %s, with a fifth to spare, and %d MiB are free: %w",
			len(p.asks), p.bytes>>20, p.dir, free>>20, unix.ENOSPC),
			"make room, make the data smaller, leave arms out with --arms, or name another directory with --scratch")
	}
	return nil
}

// existing is the nearest directory above that there is.
func existing(dir string) string {
	for errors.Is(unix.Access(dir, unix.F_OK), unix.ENOENT) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// fileSystem tells file systems apart; 0 is memory.
func fileSystem(dir string) (uint64, error) {
	if dir == "" {
		return 0, nil
	}
	var st unix.Stat_t
	if err := unix.Stat(existing(dir), &st); err != nil {
		return 0, fmt.Errorf("find the file system of %s: %w", dir, err)
	}
	return st.Dev, nil
}

// Free is how many bytes this user may write on the file system of dir, or of
// the nearest directory above that there is.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(existing(dir), &st); err != nil {
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
