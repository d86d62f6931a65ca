package durability

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarelab/tare/internal/linux/storage"
)

// Class says where written data is when its sync returns.
type Class string

// The classes.
const (
	Medium  Class = "on the device"         // survives any failure of the host
	Cached  Class = "in the device's cache" // lost when the device loses power
	Page    Class = "in the page cache"     // lost when the kernel crashes
	Memory  Class = "in memory"             // lost at the unmount
	Network Class = "on another machine"    // what that machine does with it is not observed
	Unknown Class = "where, could not be told"
)

// few is the divisor for the least number of flushes: a device must have seen a quarter of the
// syncs, because the kernel merges concurrent flushes.
const few = 4

// classOf is the weakest class of what the mount says and what each device did in the trial.
// The reason is one line for people.
func classOf(t storage.Trial, f storage.Facts) (Class, string) {
	switch {
	case f.Memory():
		return Memory, "the file system is in memory (" + f.Lowest.Type + ")"
	case f.Network():
		return Network, "the file system is another machine's (" + f.Lowest.Type + ")"
	case f.NoBarrier():
		return Cached, "mounted without write barriers (" + strings.Join(f.Options, ",") + ")"
	case len(f.Devices) == 0:
		return Unknown, f.Mount.Type + " has no block device whose flushes can be counted"
	}
	class, why := Unknown, "no device below counts its flushes"
	for i, d := range f.Devices {
		c := t.Devices[i]
		switch {
		case stacked(f.Devices, i):
			continue // device mapper and md pass flushes on and do not count them
		case math.IsNaN(c.Writes):
			continue
		case c.Writes < float64(t.Syncs)/few:
			return Page, fmt.Sprintf("%d syncs made %.0f writes to %s", t.Syncs, c.Writes, d.Name)
		case d.Cache == "write through":
		case math.IsNaN(c.Flushes):
			continue // Linux counts flushes since 5.5
		case c.Flushes < float64(t.Syncs)/few:
			return Cached, fmt.Sprintf("%d syncs made %.0f flushes of %s, which caches writes", t.Syncs, c.Flushes, d.Name)
		}
		class, why = Medium, fmt.Sprintf("%d syncs reached %s", t.Syncs, d.Name)
	}
	return class, why
}

// stacked says that device i consists of the devices after it and has no queue of its own.
func stacked(all []storage.Device, i int) bool {
	return i+1 < len(all) && all[i].File == ""
}
