package volume

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tarelab/tare/internal/base/hint"
	"github.com/tarelab/tare/internal/linux/proc"
	"github.com/tarelab/tare/internal/linux/reserve"
	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/internal/outside/ceph"
)

// slack is the factor on the need for logs that grow and for metadata.
const slack = 1.2

// size is the size in bytes of a volume that tare makes for need bytes of data.
func (v Volume) size(need int64) int64 {
	const page = 1 << 20
	n := int64(float64(need) * slack)
	if f, ok := systemOf(v.system); ok {
		// The file system's own metadata (inode tables, checksums, two copies) takes least and
		// a part of the rest.
		n += f.least + n/10
	} else {
		n += 64 << 20
	}
	return (n + page - 1) / page * page
}

// Ask is what an arm needs: a volume with Need bytes of data, and Memory bytes for its server.
type Ask struct {
	Volume       Volume
	Need, Memory int64
}

// Enough checks, before anything is written, whether there is room for all asks together. It
// returns one error for each ask; nil: there is room. scratch is the directory for data. All
// asks that share a file system or the memory get its error.
func Enough(scratch string, asks []Ask) []error {
	out := make([]error, len(asks))
	places := map[string]*place{}
	take := func(i int, p place, bytes int64) {
		if bytes == 0 {
			return
		}
		id, err := p.id()
		if err != nil {
			out[i] = err
			return
		}
		if places[id] == nil {
			places[id] = &p
		}
		places[id].bytes += bytes
		places[id].asks = append(places[id].asks, i)
	}
	for i, a := range asks {
		p, bytes := a.Volume.takes(scratch, a.Need)
		take(i, p, bytes)
		take(i, place{}, a.Memory)
	}
	for _, p := range places {
		if err := p.checkRoom(); err != nil {
			for _, i := range p.asks {
				out[i] = err
			}
		}
	}
	return out
}

// place is a file system, a pool or the memory, with the bytes that the asks need of it.
type place struct {
	dir   string    // a directory on a file system
	pool  ceph.Pool // zero: no pool
	bytes int64
	asks  []int
}

// takes says which place a volume needs how many bytes of.
func (v Volume) takes(scratch string, need int64) (p place, bytes int64) {
	bytes = int64(float64(need) * slack)
	switch v.Kind() {
	case Dir:
		return place{dir: v.path}, bytes
	case Loop:
		return place{dir: scratch}, v.size(need)
	case Tmpfs:
		return place{}, bytes
	case RBD:
		return place{pool: v.pool()}, v.size(need)
	case NFS, CephFS:
		return place{}, 0 // the server is asked after the mount
	}
	return place{dir: scratch}, bytes
}

// id is the same for two places that share their room.
func (p place) id() (string, error) {
	switch {
	case p.pool.Name != "":
		return "pool " + p.pool.Name, nil
	case p.dir == "":
		return "memory", nil
	}
	st, err := storage.Answered(p.dir, func() (st unix.Stat_t, err error) {
		err = unix.Stat(storage.Existing(p.dir), &st)
		return st, err
	})
	if err != nil {
		return "", fmt.Errorf("find the file system of %s: %w", p.dir, err)
	}
	return fmt.Sprint("file system ", st.Dev), nil
}

// checkRoom returns an error if the place has too little room.
func (p *place) checkRoom() error {
	name, other, free := p.dir, "", int64(0)
	var err error
	switch {
	case p.pool.Name != "":
		name, other = "the Ceph pool "+p.pool.Name, "another pool"
		free, err = p.pool.Free(context.Background())
	case p.dir == "":
		return enoughMemory(p.bytes)
	default:
		other = "another directory with --scratch"
		free, err = reserve.Beyond(p.dir)
	}
	if err != nil {
		return err
	}
	if p.bytes > free {
		return hint.New(fmt.Errorf("%w: %d arms need %d MiB on %s, with a fifth to spare, and %d MiB are free%s: %w",
			reserve.ErrShort, len(p.asks), p.bytes>>20, name, free>>20, p.beyond(), unix.ENOSPC),
			"make room, make the data smaller, leave arms out with --arms, or name "+other)
	}
	return nil
}

// beyond says which part of the free space of a host's file system does not count.
func (p *place) beyond() string {
	if p.pool.Name != "" {
		return ""
	}
	return " beyond what a run leaves free"
}

// enoughMemory returns an error unless want bytes are available and a tenth of the memory stays
// free.
func enoughMemory(want int64) error {
	m, err := proc.FS("/").Amounts("proc/meminfo", "MemAvailable", "MemTotal")
	if err != nil {
		return fmt.Errorf("find the free memory: %w", err)
	}
	if have := m[0] - m[1]/10; !(float64(want) <= have) {
		return hint.New(fmt.Errorf("the caches of the servers and the volumes in memory need %d MiB together, %.0f MiB can be had: %w", want>>20, have/(1<<20), unix.ENOMEM),
			"make the caches (buffer_pool, shared_buffers) or the data smaller, or leave arms out with --arms")
	}
	return nil
}
