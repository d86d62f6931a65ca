package durability

import (
	"math"
	"strings"

	"github.com/tarelab/tare/internal/linux/storage"
	"github.com/tarelab/tare/record"
)

// Class says where written data is when its sync returns.
type Class string

// few is the divisor for the least number of flushes: a device must have seen a quarter of the
// syncs, because the kernel merges concurrent flushes.
const few = 4

// classOf is the weakest class of what the mount says and what each device did in the trial.
// The reason is one line for people.
func classOf(t storage.Trial, f storage.Facts) (Class, record.Said) {
	switch {
	case f.Memory():
		return memory, record.Say("file_system_in_memory", "type", f.Lowest.Type)
	case f.Network():
		return network, record.Say("file_system_elsewhere", "type", f.Lowest.Type)
	case f.NoBarrier():
		return cached, record.Say("mount_without_barriers", "options", strings.Join(f.Options, ","))
	case len(f.Devices) == 0:
		return unknown, record.Say("no_device_counts", "type", f.Mount.Type)
	}
	class, why := unknown, record.Say("no_flush_counter")
	for i, d := range f.Devices {
		c := t.Devices[i]
		switch {
		case stacked(f.Devices, i):
			continue // device mapper and md pass flushes on and do not count them
		case math.IsNaN(c.Writes):
			continue
		case c.Writes < float64(t.Syncs)/few:
			return page, fewWrites(t, c, d.Name)
		case d.Cache == "write through":
		case math.IsNaN(c.Flushes):
			continue // Linux counts flushes since 5.5
		case c.Flushes < float64(t.Syncs)/few:
			return cached, fewFlushes(t, c, d.Name)
		}
		class, why = medium, record.Say("syncs_reached", "syncs", t.Syncs, "device", d.Name)
	}
	return class, why
}

// stacked says that device i consists of the devices after it and has no queue of its own.
func stacked(all []storage.Device, i int) bool {
	return i+1 < len(all) && all[i].File == ""
}
